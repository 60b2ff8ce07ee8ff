import Foundation

/// The retry rules for back-channel logout notifications (OpenID Connect Back-Channel Logout §2.5).
enum LogoutRetries {
    /// The delays after the first attempt, the second and so on, in seconds.
    private static let delays: [TimeInterval] = [10, 60, 300, 1800, 7200]
    /// The maximum age of a notification while the host of its client does not answer, in seconds.
    private static let oldest: TimeInterval = 24 * 3600
    /// The delay after a notification that this process could not send, in seconds.
    private static let pause: TimeInterval = 2

    /// The settlement of a delivery after an attempt.
    ///
    /// A host that does not answer pauses its client, so that the other notifications of the client do not time
    /// out too. After an error response the other notifications are sent without a delay.
    static func settlement(
        of delivery: LogoutDelivery, after outcome: LogoutNoticeOutcome, now: Date
    ) -> LogoutDeliverySettlement {
        func later(_ attempts: Int) -> Date { now.addingTimeInterval(delays[min(attempts, delays.count - 1)]) }
        let isLast = delivery.attempts + 1 >= LogoutDelivery.attemptLimit
        let retryAt = isLast ? nil : later(delivery.attempts)
        switch outcome {
        case .answered where outcome.isDelivered: return .done
        case .notTried: return .untried(dueAt: now.addingTimeInterval(pause))
        // RFC 6585 §4, RFC 9110 §15.6.3 to §15.6.5: the whole host is overloaded or unavailable.
        case .failed, .answered(status: 429), .answered(status: 502...504):
            return .hostFailed(
                retryAt: retryAt, pausedUntil: later(delivery.hostFailures),
                removingBefore: now.addingTimeInterval(-oldest))
        case .answered: return .refused(retryAt: retryAt)
        }
    }
}
