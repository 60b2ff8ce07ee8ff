import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// `audit verify`: compares the audit log with its seals.
struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Find events that were changed, removed or inserted.",
        discussion: """
            A server seals each event within seconds, with a key that is not in the database. The command finds what \
            an attacker with access to the database alone has changed since then, and changes nothing. It works while \
            the server runs.

            The command prints the head of the log. Note it at another place: with --head, a later run also finds \
            that the end of the log was cut, or that all of it was replaced with the help of the server key. The \
            server writes the head to its log once a day.

            The exit code is 0 if nothing was found, and 1 otherwise.

            Examples:
              counterfoil-server audit verify --data-dir ./data
              counterfoil-server audit verify --head 1234:5f0c… --json --data-dir ./data
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp("The head that an earlier run or the log of the server has shown.", valueName: "head"))
    var head: AuditHeadMark?

    @Option(
        name: .long,
        help: ArgumentHelp("Leave out findings up to this seal, which were examined before.", valueName: "seal"))
    var after = 0

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard after >= 0 else { throw ValidationError("--after must be the number of a seal.") }
    }

    func run() async throws {
        let isSound = try await options.withInstallation(creating: false) { installation in
            let store = installation.store
            let verification = AuditVerification(
                of: store, with: installation.serverKey, expectedHead: head, after: after)
            let verdict = try await AuditVerification.run(verification, at: store.now())
            if options.json { try Output.json(AuditVerdictDocument(verdict)) } else { print(verdict) }
            return verdict.findingCount == 0
        }
        if !isSound { throw ExitCode(CommandExit.found) }
    }

    private func print(_ verdict: AuditVerdict) {
        for finding in verdict.findings {
            let place = [
                finding.seal.map { "seal \($0)" }, finding.position.map { "event \($0.number), position \($0)" },
            ].compactMap(\.self).joined(separator: ", ")
            Output.line("FOUND  \(finding.text)\(place.isEmpty ? "" : " (\(place))")")
            Output.line("       → \(finding.remedy)")
        }
        let more = verdict.findingCount - verdict.findings.count
        if more > 0 { Output.line("FOUND  \(more) more differences") }
        let found = verdict.findingCount == 1 ? "1 difference" : "\(verdict.findingCount) differences"
        Output.line("Verified \(Self.count(verdict.sealCount, "sealed event")): \(found).")
        if verdict.unsealedCount > 0 {
            Output.line("\(Self.count(verdict.unsealedCount, "event")) not sealed yet, and so not verified.")
        }
        if verdict.formerKeyCount > 0 {
            Output.line(
                "\(Self.count(verdict.formerKeyCount, "event")) sealed with a server key that is not in the list; later "
                    + "seals confirm them.")
        }
        if let through = verdict.removedThrough { Output.line("Events were deleted up to position \(through).") }
        if let head = verdict.head, head.seal > 0 {
            Output.line("Head: \(AuditHeadMark(head)) (sealed \(Moment.text(head.sealedAt)))")
        }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}

/// The output of `audit verify --json`.
private struct AuditVerdictDocument: Encodable {
    private struct Finding: Encodable {
        let kind: String
        let seal: Int?
        let number: Int?
        let position: String?
        let text: String
        let remedy: String

        init(_ finding: AuditFinding) {
            kind = finding.kind.rawValue
            seal = finding.seal
            number = finding.position?.number
            position = finding.position.map { "\($0)" }
            text = finding.text
            remedy = finding.remedy
        }
    }

    private let findings: [Finding]
    private let count: Int
    private let sealed: Int
    private let unsealed: Int
    private let pseudonymized: Int
    private let formerKey: Int
    private let removedThrough: String?
    private let head: String?
    private let sealedAt: String?

    private enum CodingKeys: String, CodingKey {
        case findings, count, sealed, unsealed, pseudonymized, head
        case formerKey = "former_key"
        case removedThrough = "removed_through"
        case sealedAt = "sealed_at"
    }

    init(_ verdict: AuditVerdict) {
        findings = verdict.findings.map { Finding($0) }
        count = verdict.findingCount
        sealed = verdict.sealCount
        unsealed = verdict.unsealedCount
        pseudonymized = verdict.pseudonymCount
        formerKey = verdict.formerKeyCount
        removedThrough = verdict.removedThrough.map { "\($0)" }
        let last = verdict.head.flatMap { $0.seal > 0 ? $0 : nil }
        head = last.map { "\(AuditHeadMark($0))" }
        sealedAt = last.map { Moment.text($0.sealedAt) }
    }
}

extension AuditHeadMark: ExpressibleByArgument {
    /// Parses the text form of a head; returns nil for any other text.
    package init?(argument: String) { self.init(argument) }
}
