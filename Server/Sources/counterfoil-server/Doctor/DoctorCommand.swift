import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import Foundation

/// The command `doctor`, which checks an installation and changes nothing.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation of a server, and say how to fix its faults.",
        discussion: """
            It checks the data directory or the database, the disk, the keys, the clock, and the server as clients reach \
            it at its issuer. Run it on the machine of the server, as the user of the server, while the server runs. It \
            changes nothing.

            With a settings file, it checks the file and the files that it names, and compares it with the settings in \
            use. Without one, it checks the settings of the server that last started or reloaded.

            With --tls-authority, the certificate of the server can come from a private authority.

            Example:
              sudo -u counterfoil counterfoil-server doctor --data-dir /var/lib/counterfoil

            The exit code is 0 if there is no fault, and 1 if there is one. Notes do not count.
            """
    )

    @OptionGroup var options: AdministrationOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The certificate of a private authority, in PEM format, which clients of the server trust.",
            valueName: "file"))
    var tlsAuthority: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "An https URL of another organization; its time is compared with the clock of this machine.",
            valueName: "url"))
    var clockFrom: String?

    func validate() throws {
        guard clockFrom.map({ $0.hasPrefix("https://") }) ?? true else {
            throw ValidationError("--clock-from must be an https URL.")
        }
    }

    func run() async throws {
        let location = options.location
        let sources = try SettingSources(naming: location.settingsFile)
        let storeLocation = try location.storeLocation
        let authorities = try authorities()
        var findings = ServerFindings()
        await findings.readSettings(sources)
        findings.sound("version", "this is version \(Build.version)")
        switch storeLocation {
        case .directory(let path):
            findings.check(
                DataDirectoryFiles(path: path), recorded: findings.settings ?? DataDirectory.recordedSettings(in: path))
            await findings.check(directory: path, trusting: authorities)
        case .database(let database):
            await findings.check(database: database, trusting: authorities)
        }
        await findings.checkClock(with: clockFrom, trusting: authorities)
        try report(findings)
    }

    private func authorities() throws -> OutboundAuthorities {
        guard let tlsAuthority else { return .system }
        do {
            return try OutboundAuthorities(pem: try InputFile.text(at: tlsAuthority, limit: 1 << 20))
        } catch let refusal as OutboundAuthorities.Refusal {
            throw CommandFailure.refused("--tls-authority \(tlsAuthority): \(refusal)")
        }
    }

    private func report(_ findings: ServerFindings) throws {
        let (faults, notes) = (findings.count(.fault), findings.count(.advice))
        if options.json {
            struct Report: Encodable {
                let findings: [ServerFinding]
                let faults: Int
            }
            try Output.json(Report(findings: findings.all, faults: faults))
        } else {
            for line in findings.all.flatMap(\.lines) { Output.line(line) }
            Output.line("")
            Output.line("\(Self.count(faults, "fault")), \(Self.count(notes, "note"))")
        }
        if faults > 0 { throw ExitCode(CommandExit.found) }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
