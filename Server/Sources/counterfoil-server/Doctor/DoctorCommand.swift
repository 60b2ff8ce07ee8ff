import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import Foundation
import HTTPTypes

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

            With --remote, a running server checks itself, without the limits of its process, its clock, and changes of \
            its settings file.

            Example:
              sudo -u counterfoil counterfoil-server doctor --data-dir /var/lib/counterfoil

            The exit code is 0 if there is no fault, and 1 if there is one. Notes do not count.
            """
    )

    @OptionGroup var options: OperationOptions

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
        guard !options.remote.isGiven || (tlsAuthority == nil && clockFrom == nil) else {
            throw ValidationError(
                "With --remote, the server checks itself, so --tls-authority and --clock-from cannot be combined with it."
            )
        }
    }

    func run() async throws {
        guard !options.remote.isGiven else {
            return try await options.withServer { server in
                let found = try await server.items(of: "/server/findings")
                try report(found + (try await checks(by: server)))
            }
        }
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
        try report(try findings.all.map { try AdministrationRecord(of: $0) })
    }

    /// The number of requests in which the command waits for the checks that take long.
    private static let attempts = 6

    /// Lets the server check what takes long, of which one check runs at a time, and waits for the findings.
    private func checks(by server: any AdministrationTransport) async throws -> [AdministrationRecord] {
        for _ in 1..<Self.attempts {
            let answer = try await server.change(.post, "/server/checks")
            guard answer.status == .conflict, let seconds = answer.fields[.retryAfter].flatMap(Int.init),
                (1...60).contains(seconds)
            else { return try answer.record().records("items") }
            try await Task.sleep(for: .seconds(seconds))
        }
        return try await server.change(.post, "/server/checks").record().records("items")
    }

    private func authorities() throws -> OutboundAuthorities {
        guard let tlsAuthority else { return .system }
        do {
            return try OutboundAuthorities(pem: try InputFile.text(at: tlsAuthority, limit: 1 << 20))
        } catch let refusal as OutboundAuthorities.Refusal {
            throw CommandFailure.refused("--tls-authority \(tlsAuthority): \(refusal)")
        }
    }

    private func report(_ findings: [AdministrationRecord]) throws {
        func count(_ weight: ServerFinding.Weight) -> Int { findings.count { $0.text("weight") == weight.rawValue } }
        let (faults, notes) = (count(.fault), count(.advice))
        if options.json {
            struct Report: Encodable {
                let findings: [AdministrationRecord]
                let faults: Int
            }
            try Output.json(Report(findings: findings, faults: faults))
        } else {
            for line in findings.flatMap(FindingOutput.lines) { Output.line(line) }
            Output.line("")
            Output.line("\(Self.count(faults, "fault")), \(Self.count(notes, "note"))")
        }
        if faults > 0 { throw ExitCode(CommandExit.found) }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
