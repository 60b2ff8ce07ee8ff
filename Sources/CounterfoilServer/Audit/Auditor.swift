package import CounterfoilProtocol
package import Foundation
import Logging

/// The writer of the audit log.
///
/// An event that describes a change is passed to the commit of the change, which appends it in its transaction. The
/// auditor only counts it (``countRecorded(_:)``). Such an event is never left out: a change has limits of its own.
///
/// An event that describes no change, such as a failed sign-in, is recorded by the auditor itself, within the rate
/// limit. If it cannot be recorded, the auditor logs an error and the request continues.
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

    /// Creates the event of a change that a request makes, for the commit of the change.
    package func event(
        _ kind: AuditEvent.Kind,
        _ outcome: AuditEvent.Outcome = .done,
        by request: IncomingRequest,
        person: PersonIdentifier? = nil,
        client: ClientIdentifier? = nil,
        grant: GrantIdentifier? = nil,
        detail: String? = nil,
        now: Date
    ) -> AuditEvent {
        AuditEvent(
            at: now, kind, outcome, personID: person, clientID: client, grantID: grant, source: request.source,
            requestID: request.id, detail: detail)
    }

    /// Counts the events that a commit has appended.
    package func countRecorded(_ events: AuditEvent...) { countRecorded(events) }

    /// Counts the events that a commit has appended.
    package func countRecorded(_ events: [AuditEvent]) {
        for event in events { metrics.countAudited(event.kind, event.outcome) }
    }

    /// Records an event that a request caused, and that describes no change.
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
            event(kind, outcome, by: request, person: person, client: client, grant: grant, detail: detail, now: now))
    }

    /// Records an event that describes no change, unless the rate limit suppresses it.
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
