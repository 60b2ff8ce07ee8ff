import Foundation
import Synchronization

/// Limits how many refusals a minute strangers can write into the audit log.
///
/// Only what a stranger can cause without an account or a secret is limited. Each kind of event has a budget of its own, so that a
/// flood of one kind hides no other. What exceeds a budget is counted, and one event a minute and kind gives the number. The limits
/// bound the rate; the size of the log is bounded by ``ServerSettings/auditRetention``.
final class AuditFlood: Sendable {
    /// How many refusals of one kind from one address are recorded in a minute.
    static let limitPerSource = 60
    /// How many refusals of one kind are recorded in a minute, from all addresses together.
    static let limitPerKind = 150
    /// How many refusals that concern one grant are recorded in a minute.
    static let limitPerGrant = 10

    private struct Budget {
        var spent = 0
        var sources: [String: Int] = [:]
        var grants: [GrantIdentifier: Int] = [:]
        var leftOut = 0

        /// Spends what an event costs; false when the budget is exhausted.
        ///
        /// An event that names a grant follows from a code that was issued. It takes nothing from strangers, and nothing
        /// that strangers do can hide it.
        mutating func spend(on event: AuditEvent) -> Bool {
            if let grant = event.grantID {
                guard grants[grant, default: 0] < AuditFlood.limitPerGrant else { return false }
                grants[grant, default: 0] += 1
                return true
            }
            let source = event.source ?? ""
            guard spent < AuditFlood.limitPerKind, sources[source, default: 0] < AuditFlood.limitPerSource else {
                return false
            }
            spent += 1
            sources[source, default: 0] += 1
            return true
        }
    }

    private struct State {
        var minute = 0
        var budgets: [AuditEvent.Kind: Budget] = [:]
        /// The summaries of minutes that have ended.
        var summaries: [AuditEvent] = []

        mutating func turn(to now: Date) {
            let minute = Int(now.timeIntervalSince1970 / 60)
            guard minute != self.minute else { return }
            let end = Date(timeIntervalSince1970: TimeInterval(min(minute, self.minute + 1) * 60))
            for (kind, budget) in budgets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where budget.leftOut > 0 {
                summaries.append(
                    AuditEvent(
                        at: end, kind, .refused,
                        detail: "\(budget.leftOut) more events of this kind in one minute were not recorded"))
            }
            self.minute = minute
            budgets = [:]
        }
    }

    private let state = Mutex(State())

    /// Decides whether an event is recorded.
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

    /// Takes the summaries of the minutes that have ended.
    func takeSummaries(at now: Date) -> [AuditEvent] {
        state.withLock { state in
            state.turn(to: now)
            defer { state.summaries = [] }
            return state.summaries
        }
    }

    private static func isByStrangers(_ kind: AuditEvent.Kind) -> Bool {
        switch kind {
        case .signIn, .clientAuthentication, .throttled, .codeRedemption: true
        case .signOut, .passwordChange, .consent, .pkceException, .challengeReuse, .refreshRepeat, .refreshReuse,
            .revocation, .application, .machineAccess, .applicationSecret, .account, .signingKey, .setting,
            .auditRemoval:
            false
        }
    }
}
