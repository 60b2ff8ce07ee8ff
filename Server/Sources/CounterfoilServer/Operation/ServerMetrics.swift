@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore

/// The counters of this process since its start; they contain no users, clients or secrets.
package final class ServerMetrics: Sendable {
    /// An event with a counter, other than requests, token responses and audit events.
    package enum Event: String, Sendable, Hashable, CaseIterable {
        /// An event could not be recorded in the audit log.
        case auditWriteFailure
        /// A request failed because of the store, or an outage of the store began.
        case storeError
        /// An expired row was deleted.
        case rowRemoved
        /// Expired records could not be deleted.
        case maintenanceFailure
        /// The settings were read again, and were refused.
        case settingsFailure
        /// A client accepted a back-channel logout notification.
        case logoutDelivered
        /// An attempt to deliver a back-channel logout notification failed.
        case logoutFailed
        /// The server gave up a back-channel logout notification, because of its age or its number of attempts.
        case logoutGivenUp
        /// The mail server accepted a mail.
        case mailSent
        /// An attempt to send a mail failed.
        case mailFailed
        /// The server gave up a mail, because it was refused or because of its age.
        case mailGivenUp
        /// A receiver accepted an event of a webhook.
        case webhookDelivered
        /// An attempt to send an event to a webhook failed.
        case webhookFailed
        /// A webhook was disabled, because its receiver is gone or has failed for too long.
        case webhookDisabled
        /// Events were deleted from the audit log before a webhook got them.
        case webhookEventsMissed
    }

    /// A kind and an outcome of audit events, which together have one counter.
    package struct AuditedEvent: Sendable, Hashable {
        package let kind: AuditEvent.Kind
        package let outcome: AuditEvent.Outcome

        package init(kind: AuditEvent.Kind, outcome: AuditEvent.Outcome) {
            self.kind = kind
            self.outcome = outcome
        }
    }

    /// The numbers of responses of one endpoint.
    package struct Requests: Sendable, Hashable {
        /// The number of responses by status class: 1 for 1xx, up to 5 for 5xx.
        package internal(set) var byStatusClass = [Int: Int]()
        /// The number of responses with the status 429.
        package internal(set) var throttled = 0
        package internal(set) var durations = Histogram(bounds: durationBounds)

        /// The upper bounds of the buckets of durations, in seconds.
        package static let durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    }

    /// A copy of all counters at one time.
    package struct Snapshot: Sendable, Hashable {
        /// The requests by endpoint; the key nil stands for requests that belong to no endpoint.
        package internal(set) var requests: [Endpoint?: Requests] = [:]
        /// The number of successful token responses, by `grant_type`.
        package internal(set) var tokens: [String: Int] = [:]
        /// The number of audit events, including those that the rate limit left out.
        package internal(set) var audited: [AuditedEvent: Int] = [:]
        /// The number of refused sign-ins, without those that continued on the next page or were cancelled.
        package internal(set) var failedSignIns = 0
        /// The number of audit events that the rate limit left out, by kind.
        package internal(set) var leftOut: [AuditEvent.Kind: Int] = [:]
        package internal(set) var events: [Event: Int] = [:]
    }

    /// The `grant_type` of a refresh (RFC 6749 §6).
    private static let refreshGrantType = "refresh_token"

    private let state = Mutex(Snapshot())

    init() {}

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// The numbers of the events that the charts of the administration show, except new users.
    var activity: ActivityCounts {
        state.withLock { state in
            [
                .signIn: state.audited[AuditedEvent(kind: .signIn, outcome: .done)] ?? 0,
                .failedSignIn: state.failedSignIns,
                .refresh: state.tokens[Self.refreshGrantType] ?? 0,
            ]
        }
    }

    func count(_ event: Event) { add(1, to: event) }

    func add(_ number: Int, to event: Event) {
        state.withLock { $0.events[event, default: 0] += number }
    }

    func countTokens(of grantType: String) {
        state.withLock { $0.tokens[grantType, default: 0] += 1 }
    }

    func countAudited(_ event: AuditEvent) {
        let isFailedSignIn = event.isFailedSignIn
        state.withLock { state in
            state.audited[AuditedEvent(kind: event.kind, outcome: event.outcome), default: 0] += 1
            if isFailedSignIn { state.failedSignIns += 1 }
        }
    }

    func countLeftOut(_ kind: AuditEvent.Kind) {
        state.withLock { $0.leftOut[kind, default: 0] += 1 }
    }

    func countRequest(at endpoint: Endpoint?, status: Int, seconds: Double) {
        state.withLock { state in
            state.requests[endpoint, default: Requests()].byStatusClass[status / 100, default: 0] += 1
            if status == 429 { state.requests[endpoint, default: Requests()].throttled += 1 }
            state.requests[endpoint, default: Requests()].durations.note(seconds)
        }
    }
}

extension AuditEvent {
    /// The reasons of refused sign-ins that continue on the next page, or that the user has cancelled.
    private static let unfinished: Set<Reason> = [.secondFactorAsked, .newPasswordNeeded, .denied]

    /// Whether the event is a failed sign-in, and not a step of one or its cancellation.
    fileprivate var isFailedSignIn: Bool {
        kind == .signIn && outcome == .refused && !(reason.map(Self.unfinished.contains) ?? false)
    }
}

package enum Build {
    package static let version = "0.1.0"
}
