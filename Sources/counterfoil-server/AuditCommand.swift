public import ArgumentParser
public import CounterfoilServer

/// `audit`: what happened, and the length of its log.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "The audit log: who did what to which application, from where, and how it ended.",
        discussion: """
            Events are never changed, and hold no secret. The server deletes an event when its retention has ended \
            (serve --audit-retention); export it before, if it must be kept for longer. Only the beginning of the log can \
            be deleted, and each deletion is an event.

            Without a subcommand, the events are listed.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data
            """,
        subcommands: [AuditList.self, AuditExport.self, AuditDelete.self],
        defaultSubcommand: AuditList.self
    )
}

extension AuditEvent.Kind: ExpressibleByArgument {}
