import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
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
        try await options.withInstallation(creating: false) { installation in
            let store = installation.store
            let now = store.now()
            var removed = 0
            let last = min(through, .lastSettled(at: now))
            let oldest = try await store.auditLog(after: nil, limit: 1).first?.position
            // No event is appended before the last settled position, so this stays the last event to delete.
            let newest = try await store.audit(AuditQuery(before: last.next, limit: 1)).first?.position
            while let oldest, let newest {
                let event = installation.event(.auditRemoval, detail: "events from position \(oldest) to \(newest)")
                let count = try await store.removeAudit(
                    through: last, atMost: Self.batch, recording: removed == 0 ? event : nil,
                    with: installation.serverKey, at: now)
                guard count > 0 else { break }
                removed += count
                try await Task.sleep(for: .milliseconds(20))
            }
            if options.json { return try Output.json(["deleted": removed]) }
            let kept = last < through ? " Events of the last 10 minutes are kept." : ""
            Output.line(
                removed == 0
                    ? "There are no events up to position \(through).\(kept)"
                    : "Deleted \(removed) event\(removed == 1 ? "" : "s").\(kept)")
        }
    }
}

extension AuditPosition {
    /// The position directly after this one.
    fileprivate var next: AuditPosition {
        AuditPosition(microseconds: microseconds, number: number == .max ? .max : number + 1)
    }
}
