package import CounterfoilStore
package import Foundation

/// The retry rules for the events of a webhook (Standard Webhooks, "Deliverability and reliability").
package enum WebhookRetries {
    /// The delays in seconds after the first failed attempt, the second one and so on; the last one also applies to all
    /// later attempts.
    package static let delays: [TimeInterval] = [5, 30, 120, 600, 1800, 3600, 7200]
    /// The time in seconds after which a webhook that fails is disabled: five days.
    ///
    /// It is shorter than the time for which the audit log keeps events for it.
    package static let patience: TimeInterval = 5 * 86_400
    /// The longest time in seconds that a receiver can ask for.
    private static let longestWait = 86_400

    /// Decides what follows after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - webhook: The webhook as before the attempt.
    ///   - retryAfter: The seconds that the receiver asked for; nil if it did not.
    ///   - jitter: A number from 0 to 1, by which the delay gets longer by up to a fifth, so that receivers that have
    ///     failed together do not get all retries together.
    /// - Returns: The time of the next attempt; nil if there is none, and the state of the webhook then.
    package static func decision(
        after attempt: WebhookAttempt, of webhook: Webhook, askedToWait retryAfter: Int? = nil, jitter: Double
    ) -> (retryAt: Date?, state: Webhook.State) {
        if attempt.status == 410 { return (nil, .gone) }
        if let since = webhook.failingSince, attempt.at.timeIntervalSince(since) >= patience { return (nil, .failing) }
        let delay = delays[min(webhook.failures, delays.count - 1)] * (1 + 0.2 * jitter)
        let asked = TimeInterval(min(max(0, retryAfter ?? 0), longestWait))
        return (attempt.at.addingTimeInterval(max(delay, asked)), .active)
    }
}
