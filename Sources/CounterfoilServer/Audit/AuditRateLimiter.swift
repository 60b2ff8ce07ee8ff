import CounterfoilProtocol
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
    static let limitPerPerson = 5

    /// The events of a kind up to ``limitPerKind``, and up to ``limitPerSource`` from one source.
    private struct Share {
        var spent = 0
        var sources: [String: Int] = [:]

        mutating func spend(from source: CountedSource) -> Bool {
            let (perSource, total) = (AuditRateLimiter.limitPerSource, AuditRateLimiter.limitPerKind)
            guard spent < total,
                source.networks.allSatisfy({ sources[$0.name, default: 0] < $0.limit(perSource, of: total) })
            else { return false }
            spent += 1
            for network in source.networks { sources[network.name, default: 0] += 1 }
            return true
        }
    }

    private struct Budget {
        var ofAll = Share()
        var ofKnownUsers = Share()
        var people: [PersonIdentifier: Int] = [:]
        var grants: [GrantIdentifier: Int] = [:]
        var leftOut = 0

        /// Spends the budget on an event; false if the budget is exhausted.
        ///
        /// An event with a grant concerns a code that this server issued. Such events have a separate budget
        /// for each grant, so that unauthenticated requests cannot suppress them. Events with a known user have one for
        /// each user, so that events without a user cannot suppress them.
        mutating func spend(on event: AuditEvent) -> Bool {
            if let grant = event.grantID {
                guard grants[grant, default: 0] < AuditRateLimiter.limitPerGrant else { return false }
                grants[grant, default: 0] += 1
                return true
            }
            let source = CountedSource(event.source ?? "")
            if let person = event.personID, people[person, default: 0] < AuditRateLimiter.limitPerPerson,
                ofKnownUsers.spend(from: source)
            {
                people[person, default: 0] += 1
                return true
            }
            return ofAll.spend(from: source)
        }
    }

    /// The number of minutes by which an event can be before the current minute, unless the clock was set back.
    ///
    /// The time of an event is at most ``RequestDeadline/limit`` ago, and more only on a machine that stalls.
    private static let minutesBack = 2

    private struct State {
        var minute = 0
        var budgets: [AuditEvent.Kind: Budget] = [:]
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
            for (kind, budget) in budgets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where budget.leftOut > 0 {
                // An event must not be appended after events at later positions have settled.
                let time = max(end, now.addingTimeInterval(-AuditPosition.settlingTime / 2))
                summaries.append(
                    AuditEvent(
                        at: time, kind, .refused,
                        detail: "\(budget.leftOut) more events of this kind in one minute were not recorded"))
            }
            self.minute = minute
            budgets = [:]
        }
    }

    private let state = Mutex(State())

    /// Returns whether the caller may record an event; if not, the event is counted for the summary of its minute.
    func admits(_ event: AuditEvent) -> Bool {
        guard event.outcome == .refused, Self.isByStrangers(event.kind) else { return true }
        return state.withLock { state in
            state.turn(to: event.at)
            var budget = state.budgets[event.kind] ?? Budget()
            let isAdmitted = budget.spend(on: event)
            if !isAdmitted { budget.leftOut += 1 }
            state.budgets[event.kind] = budget
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

    private static func isByStrangers(_ kind: AuditEvent.Kind) -> Bool {
        switch kind {
        case .signIn, .browserRequest, .clientRequest, .clientAuthentication, .throttled, .codeRedemption, .userCode:
            true
        default: false
        }
    }
}
