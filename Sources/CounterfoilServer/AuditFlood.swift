import Foundation
import Synchronization

/// Bounds how many refusals strangers can write into the audit log, so that nobody fills a disk by being refused.
///
/// Only what anybody can bring about without an account or a secret is bounded; the metrics count what is left out.
final class AuditFlood: Sendable {
    /// How many refusals of one address are noted in a minute.
    static let limitPerSource = 60
    /// How many refusals are noted in a minute, wherever they come from.
    static let limit = 600

    private struct State {
        var minute = 0
        var total = 0
        var sources: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Whether an event is to be noted.
    func admits(_ event: AuditEvent) -> Bool {
        guard event.outcome == .refused, Self.isByStrangers(event.kind) else { return true }
        let minute = Int(event.at.timeIntervalSince1970 / 60)
        let source = event.source ?? ""
        return state.withLock { state in
            if state.minute != minute { state = State(minute: minute) }
            guard state.total < Self.limit, state.sources[source, default: 0] < Self.limitPerSource else {
                return false
            }
            state.total += 1
            state.sources[source, default: 0] += 1
            return true
        }
    }

    private static func isByStrangers(_ kind: AuditEvent.Kind) -> Bool {
        switch kind {
        case .signIn, .clientAuthentication, .throttled, .codeRedemption: true
        case .signOut, .passwordChange, .consent, .pkceException, .challengeReuse, .refreshRepeat, .refreshReuse,
            .revocation, .application, .machineAccess, .applicationSecret, .account, .signingKey, .setting:
            false
        }
    }
}
