import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `audit delete`: deletes the oldest events.
struct AuditDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the oldest events, up to the position of an event.",
        discussion: """
            The deletion cannot be undone, so export the events first. "audit export" prints the position to use. \
            Events of the last 10 minutes are kept. The deletion is recorded as an event.

            Example:
              counterfoil-server audit delete --through 1801387800123456.1234 \\
                --data-dir ./data
            """
    )

    /// The maximum number of events that one transaction deletes.
    ///
    /// Small transactions let a running server write in between.
    private static let batch = 500

    @Option(name: .long, help: ArgumentHelp("The position of the last event to delete.", valueName: "position"))
    var through: AuditPosition

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let store = directory.store
            let now = store.now()
            var removed = 0
            // Nothing is recorded if there is nothing to delete.
            let oldest = try await store.auditLog(after: nil, limit: 1).first?.position
            let last = min(through, .lastSettled(at: now))
            while let oldest, oldest <= last {
                let event = directory.event(.auditRemoval, detail: "events from position \(oldest) to \(through)")
                let count = try await store.removeAudit(
                    through: last, atMost: Self.batch, recording: removed == 0 ? event : nil, at: now)
                guard count > 0 else { break }
                removed += count
                try await Task.sleep(for: .milliseconds(20))
            }
            if options.json { return try Output.json(["deleted": removed]) }
            Output.line(
                removed == 0
                    ? "There are no events up to position \(last)."
                    : "Deleted \(removed) event\(removed == 1 ? "" : "s").")
        }
    }
}
