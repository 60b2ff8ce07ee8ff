package import CounterfoilProtocol
package import Foundation
import Logging

/// Notes what happened in the log that somebody may ask later, and for the operator at once.
///
/// What has happened has happened: an event that cannot be kept is said on the operator's log and holds nobody up.
package struct Auditor: Sendable {
    let store: any AuditStore
    let logger: Logger
    let metrics: ServerMetrics
    let flood: AuditFlood

    init(
        store: any AuditStore, logger: Logger, metrics: ServerMetrics = ServerMetrics(),
        flood: AuditFlood = AuditFlood()
    ) {
        self.store = store
        self.logger = logger
        self.metrics = metrics
        self.flood = flood
    }

    /// Notes an event that a request brought about.
    package func note(
        _ kind: AuditEvent.Kind,
        _ outcome: AuditEvent.Outcome = .done,
        by request: IncomingRequest,
        person: PersonIdentifier? = nil,
        client: ClientIdentifier? = nil,
        grant: GrantIdentifier? = nil,
        detail: String? = nil,
        now: Date
    ) async {
        await note(
            AuditEvent(
                at: now, kind, outcome, personID: person, clientID: client, grantID: grant, source: request.source,
                requestID: request.id, detail: detail))
    }

    /// Notes an event.
    func note(_ event: AuditEvent) async {
        metrics.countAudited(event.kind, event.outcome)
        await noteSummaries(now: event.at)
        guard flood.admits(event) else { return metrics.count(.auditLeftOut) }
        await append(event)
    }

    /// Records how many events of the minutes that have ended were left out.
    func noteSummaries(now: Date) async {
        for summary in flood.takeSummaries(at: now) { await append(summary) }
    }

    private func append(_ event: AuditEvent) async {
        do { try await store.appendAudit(event) } catch {
            metrics.count(.auditWriteFailure)
            logger.error(
                "an event could not be kept in the audit log: \(error)",
                metadata: ["event": "\(event.kind.rawValue)", "request": "\(event.requestID ?? "none")"])
        }
    }
}
