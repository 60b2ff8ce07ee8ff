@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The rate limit for audit events about refusals that unauthenticated requests can cause.
///
/// Refusals that a request can cause only with an account or a secret are not limited. Each kind of event has a
/// separate budget, so that a flood of one kind does not suppress events of another kind. A known user has a budget
/// beside it, so that a flood by strangers does not suppress the events of users. Events beyond the budgets are
/// only counted. An event that a commit appends is not limited. After each minute, one summary event for each kind
/// records their number. The limits bound the rate of the log; ``ServerSettings/auditRetention`` bounds its size.
final class AuditRateLimiter: Sendable {
    /// The maximum number of refusals of one kind from one source that are recorded in a minute.
    static let limitPerSource = 60
    /// The maximum number of refusals of one kind from all IP addresses together that are recorded in a minute.
    static let limitPerKind = 150
    /// The maximum number of refusals of one kind for one grant that are recorded in a minute.
    static let limitPerGrant = 10
    /// The number of refusals of one kind for one user that are recorded in a minute beside those of unknown users.
    static let limitPerUser = 5

    private static let shared = SharedLimit(perSource: limitPerSource, total: limitPerKind)

    private enum Key: Hashable {
        case all(AuditEvent.Kind)
        case network(AuditEvent.Kind, String)
        case allOfKnownUsers(AuditEvent.Kind)
        case networkOfKnownUsers(AuditEvent.Kind, String)
        case user(AuditEvent.Kind, UserIdentifier)
        case grant(AuditEvent.Kind, GrantIdentifier)
    }

    /// The number of minutes by which an event can be before the current minute, unless the clock was set back.
    ///
    /// The time of an event is at most `RequestContext.timeLimit` ago, and more only on a machine that stalls.
    private static let minutesBack = 2

    private struct State {
        var minute = 0
        var recorded = RateLimiter<Key>(window: 60)
        /// The number of events of each kind that were left out in the current minute.
        var leftOut: [AuditEvent.Kind: Int] = [:]
        /// The summary events for minutes that have ended, not yet taken by the auditor.
        var summaries: [AuditEvent] = []

        /// Begins the minute of a time, if it is later than the current one.
        ///
        /// The time of an event is that of its request, so an event of the former minute can follow one of the current
        /// minute. It counts in the current minute. Only a clock that was set back begins an earlier minute.
        mutating func turn(to now: Date) {
            let minute = Int(now.timeIntervalSince1970 / 60)
            guard minute > self.minute || minute < self.minute - AuditRateLimiter.minutesBack else { return }
            let end = Date(timeIntervalSince1970: TimeInterval(min(minute, self.minute + 1) * 60))
            for (kind, number) in leftOut.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                // An event must not be appended after events at later positions have settled.
                let time = max(end, now.addingTimeInterval(-AuditPosition.settlingTime / 2))
                summaries.append(
                    AuditEvent(
                        at: time, kind, .refused,
                        detail: "\(number) more events of this kind in one minute were not recorded"))
            }
            self.minute = minute
            leftOut = [:]
        }

        /// Spends the budget on an event; false if the budget is exhausted.
        ///
        /// An event with a grant concerns a code that this server issued. Such events have a separate budget
        /// for each grant, so that unauthenticated requests cannot suppress them. Events with a known user have one for
        /// each user, so that events without a user cannot suppress them.
        mutating func spend(on event: AuditEvent) -> Bool {
            let kind = event.kind
            if let grant = event.grantID {
                return recorded.admit([.init(.grant(kind, grant), limitPerGrant)], at: event.at) == nil
            }
            let source = CountedSource(event.source ?? "")
            if let user = event.userID.map({ RateLimiter.Limit(Key.user(kind, $0), limitPerUser) }),
                recorded.wait([user], at: event.at) == nil,
                recorded.admit(
                    within: shared, from: source, all: .allOfKnownUsers(kind),
                    of: { .networkOfKnownUsers(kind, $0.name) }, at: event.at) == nil
            {
                recorded.note([user], at: event.at)
                return true
            }
            return recorded.admit(
                within: shared, from: source, all: .all(kind), of: { .network(kind, $0.name) }, at: event.at) == nil
        }
    }

    private let state = Mutex(State())

    /// Returns whether the caller may record an event; if not, the event is counted for the summary of its minute.
    func admits(_ event: AuditEvent) -> Bool {
        guard event.outcome == .refused, event.kind.isByStrangers else { return true }
        return state.withLock { state in
            state.turn(to: event.at)
            let isAdmitted = state.spend(on: event)
            if !isAdmitted { state.leftOut[event.kind, default: 0] += 1 }
            return isAdmitted
        }
    }

    /// Removes and returns the summary events for minutes that have ended; each records how many events were left out.
    func takeSummaries(at now: Date) -> [AuditEvent] {
        state.withLock { state in
            state.turn(to: now)
            defer { state.summaries = [] }
            return state.summaries
        }
    }
}

extension AuditEvent.Kind {
    /// Whether strangers can cause refusals of this kind, so that the rate limit applies to them.
    package var isByStrangers: Bool {
        switch self {
        case .signIn, .browserRequest, .clientRequest, .clientAuthentication, .throttled, .codeRedemption, .userCode:
            true
        default: false
        }
    }
}
