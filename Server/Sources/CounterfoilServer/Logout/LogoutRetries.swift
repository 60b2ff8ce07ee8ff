import CounterfoilStore
import Foundation

/// The retry rules for back-channel logout notifications (OpenID Connect Back-Channel Logout §2.5).
enum LogoutRetries {
    /// The delays in seconds after the first attempt, the second attempt and so on; the last one also applies
    /// to all later attempts.
    private static let delays: [TimeInterval] = [10, 60, 300, 1800, 7200]
    /// The age in seconds above which a notification is deleted if the host of its client does not answer or is
    /// overloaded.
    private static let oldest: TimeInterval = 24 * 3600
    /// The delay in seconds after an attempt that sent nothing, because too many requests were in flight or the
    /// process was stopping.
    private static let pause: TimeInterval = 2

    /// Decides what happens to a delivery after an attempt.
    ///
    /// If the host does not answer or is overloaded, all notifications of the client are paused, so that they do not
    /// fail too. After any other error response, only the refused notification is delayed.
    static func settlement(
        of delivery: LogoutDelivery, after outcome: LogoutNoticeOutcome, now: Date
    ) -> LogoutDeliverySettlement {
        func later(_ attempts: Int) -> Date { now.addingTimeInterval(delays[min(attempts, delays.count - 1)]) }
        let isLast = delivery.attempts + 1 >= LogoutDelivery.attemptLimit
        let retryAt = isLast ? nil : later(delivery.attempts)
        switch outcome {
        case .answered where outcome.isDelivered: return .done
        case .notTried: return .untried(dueAt: now.addingTimeInterval(pause))
        // RFC 6585 §4, RFC 9110 §15.6.3 to §15.6.5: these statuses mean that the host as a whole is overloaded
        // or unavailable.
        case .failed, .answered(status: 429), .answered(status: 502...504):
            return .hostFailed(
                retryAt: retryAt, pausedUntil: later(delivery.hostFailures),
                removingBefore: now.addingTimeInterval(-oldest))
        case .answered: return .refused(retryAt: retryAt)
        }
    }
}
