package import CounterfoilProtocol
package import Foundation
import Logging

/// The writer of the audit log.
///
/// If an event cannot be recorded, the auditor logs an error and the request continues.
package struct Auditor: Sendable {
    let store: any AuditStore
    let logger: Logger
    let metrics: ServerMetrics
    let flood: AuditRateLimiter

    init(
        store: any AuditStore, logger: Logger, metrics: ServerMetrics = ServerMetrics(),
        flood: AuditRateLimiter = AuditRateLimiter()
    ) {
        self.store = store
        self.logger = logger
        self.metrics = metrics
        self.flood = flood
    }

    /// Records an event that a request caused.
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

    /// Records an event, unless the rate limit suppresses it.
    func note(_ event: AuditEvent) async {
        metrics.countAudited(event.kind, event.outcome)
        await noteSummaries(now: event.at)
        guard flood.admits(event) else { return metrics.count(.auditLeftOut) }
        await append(event)
    }

    /// Records how many events were left out in the minutes that have ended.
    func noteSummaries(now: Date) async {
        for summary in flood.takeSummaries(at: now) { await append(summary) }
    }

    private func append(_ event: AuditEvent) async {
        do {
            try await store.appendAudit(event)
        } catch {
            metrics.count(.auditWriteFailure)
            logger.error(
                "failed to record an audit event",
                metadata: [
                    "event": "\(event.kind.rawValue)", "request": "\(event.requestID ?? "none")", "error": "\(error)",
                ])
        }
    }
}
