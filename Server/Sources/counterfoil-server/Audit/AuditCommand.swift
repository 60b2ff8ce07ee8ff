public import ArgumentParser
import CounterfoilServer
public import CounterfoilStore

/// The command group `audit`, which lists, exports, verifies and deletes events of the audit log.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Read, export, verify and delete the audit log.",
        discussion: """
            An event has a time, kind, outcome, user, app and client address, and that of a refusal its reason. \
            Events contain no secrets, and never change, except that a pseudonym replaces a deleted user. The server \
            deletes an event when its retention ends (serve --audit-retention); export it before if you need it for \
            longer. Only the oldest events can be deleted, and each deletion is recorded as an event. An app that \
            signs a user in, also in an existing session, is an event of the kind sign-in with its client_id.

            Without a subcommand, events are listed.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit --request 6f1f0c1f9b7d4c0e --data-dir ./data
              counterfoil-server audit export --until 2027-01-01 --data-dir ./data
            """,
        subcommands: [AuditList.self, AuditFollow.self, AuditExport.self, AuditVerify.self, AuditDelete.self],
        defaultSubcommand: AuditList.self
    )
}

extension AuditEvent.Kind: ExpressibleByArgument {
    /// Parses the name of a kind; nil if this version records no such kind.
    public init?(argument: String) { self.init(known: argument) }
}

extension AuditEvent.Outcome: ExpressibleByArgument {
    /// Parses the name of an outcome; nil if this version records no such outcome.
    public init?(argument: String) { self.init(known: argument) }
}

extension AuditPosition: ExpressibleByArgument {
    /// Parses the text form of a position; returns nil for any other text.
    public init?(argument: String) { self.init(argument) }
}
