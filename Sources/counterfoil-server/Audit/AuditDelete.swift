import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `audit delete`: deletes the oldest events.
struct AuditDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the oldest events, up to an event number.",
        discussion: """
            The deletion cannot be undone, so export the events first. "audit export" prints the number to use. The \
            deletion is recorded as an event.

            Example:
              counterfoil-server audit delete --through 1234 --data-dir ./data
            """
    )

    /// The maximum number of events that one transaction deletes.
    ///
    /// Small transactions let a running server write in between.
    private static let batch = 500

    @Option(name: .long, help: ArgumentHelp("The number of the last event to delete.", valueName: "number"))
    var through: Int

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard through > 0 else { throw ValidationError("--through must be the number of an event, 1 or more.") }
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let store = directory.store
            // The deletion is recorded as a new event. The limit `newest` keeps this event from being deleted in a
            // later batch.
            let newest = try await store.audit(AuditQuery(limit: 1)).first?.number ?? 0
            let through = min(self.through, newest)
            var removed = 0
            while let oldest = try await store.auditLog(after: 0, limit: 1).first, oldest.number <= through {
                let event = AuditEvent(
                    at: store.now(), .auditRemoval,
                    detail: "at the command line: events from number \(oldest.number) to \(through)")
                let count = try await store.removeAudit(
                    through: through, atMost: Self.batch, recording: removed == 0 ? event : nil)
                guard count > 0 else { break }
                removed += count
                try await Task.sleep(for: .milliseconds(20))
            }
            if options.json { return try Output.json(["deleted": removed]) }
            Output.line(
                removed == 0
                    ? "There are no events up to number \(self.through)."
                    : "Deleted \(removed) event\(removed == 1 ? "" : "s").")
        }
    }
}
