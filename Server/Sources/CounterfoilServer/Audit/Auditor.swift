package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
import Logging

/// The writer of the audit log.
///
/// An event that describes a change is passed to the commit of the change, which appends it in its transaction. The
/// auditor only counts it (``countRecorded(_:)``). Such an event is never left out: a change has limits of its own.
///
/// An event that describes no change, such as a failed sign-in, is recorded by the auditor itself, within the rate
/// limit. If it cannot be recorded, the auditor logs an error and the request continues. The same limit decides which
/// refusals the server logs at the level `notice`.
package struct Auditor: Sendable {
    var store: any AuditStore
    var logger: Logger
    /// The notices that events of a request carry; nil if no mail is set up, or outside of requests.
    var notices: (any AccountNotices)?
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

    /// Creates the event of a change that a request makes, or of its refusal, for the commit that belongs to it.
    ///
    /// - Parameters:
    ///   - reason: The reason of a refusal; nil for a change.
    ///   - detail: A text that explains the event; nil for none.
    package func event(
        _ kind: AuditEvent.Kind,
        because reason: AuditEvent.Reason? = nil,
        by request: IncomingRequest,
        user: UserIdentifier? = nil,
        client: ClientIdentifier? = nil,
        grant: GrantIdentifier? = nil,
        detail: String? = nil,
        now: Date
    ) -> AuditEvent {
        AuditEvent(
            at: now, kind, reason == nil ? .done : .refused, userID: user, clientID: client, grantID: grant,
            source: request.source, requestID: request.id,
            detail: reason.map { AuditEvent.detail($0, detail) } ?? detail)
    }

    /// Creates the event of a sign-in to a client in an existing session, for the commit of its grant.
    func signInToClient(_ request: IncomingRequest, under grant: Grant, now: Date) -> AuditEvent {
        event(
            .signIn, by: request, user: grant.userID, client: grant.clientID, grant: grant.id,
            detail: "existing session", now: now
        ).named(.clientSignedIn)
    }

    /// Counts the events that a commit has appended.
    package func countRecorded(_ events: AuditEvent...) { countRecorded(events) }

    /// Counts the events that a commit has appended.
    package func countRecorded(_ events: [AuditEvent]) {
        for event in events { metrics.countAudited(event) }
    }

    /// Records that a request was refused, and why.
    ///
    /// - Parameter detail: A text that explains the reason; nil for none.
    package func refuse(
        _ kind: AuditEvent.Kind,
        because reason: AuditEvent.Reason,
        _ request: IncomingRequest,
        user: UserIdentifier? = nil,
        client: ClientIdentifier? = nil,
        detail: String? = nil,
        now: Date
    ) async {
        await note(
            event(kind, because: reason, by: request, user: user, client: client, detail: detail, now: now),
            because: reason, by: request)
    }

    /// Records an event that describes no change, unless the rate limit suppresses it.
    ///
    /// - Parameter reason: The reason of a refusal; nil for the one in the detail of the event.
    func note(
        _ event: AuditEvent, because reason: AuditEvent.Reason? = nil, by request: IncomingRequest
    ) async {
        metrics.countAudited(event)
        await noteSummaries(now: event.at)
        let isRecorded = flood.admits(event)
        request.refusal.note(event, because: reason, isRecorded: isRecorded)
        guard isRecorded else { return metrics.countLeftOut(event.kind) }
        await append(event)
    }

    /// Records a refusal that the response must not show; returns false if the rate limit suppresses it.
    ///
    /// The page has no reference then, and the log has no line about the request.
    func noteConcealed(_ event: AuditEvent) async -> Bool {
        metrics.countAudited(event)
        guard flood.admits(event) else {
            metrics.countLeftOut(event.kind)
            return false
        }
        await append(event)
        return true
    }

    /// Records how many events were left out in the minutes that have ended.
    func noteSummaries(now: Date) async {
        for summary in flood.takeSummaries(at: now) {
            logger.notice(
                "left out refusals of requests",
                metadata: ["event": "\(summary.kind.rawValue)", "detail": "\(summary.detail ?? "")"])
            await append(summary)
        }
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
