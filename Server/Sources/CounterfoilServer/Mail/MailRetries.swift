import CounterfoilStore
import Foundation

/// The retry rules for mails (RFC 5321 §4.5.4.1).
enum MailRetries {
    /// The delays in seconds after the first attempt, the second attempt and so on; the last one also applies to all
    /// later attempts.
    private static let delays: [TimeInterval] = [30, 120, 600, 1800, 3600, 7200]
    /// The delay in seconds after an attempt that was cut off.
    private static let pause: TimeInterval = 2

    /// Decides what happens to a mail after an attempt; nil gives it up.
    static func settlement(of mail: QueuedMail, after outcome: MailOutcome, now: Date) -> MailSettlement? {
        switch outcome {
        case .accepted: return .done
        case .cancelled: return .untried(dueAt: now.addingTimeInterval(pause))
        case .refused: return nil
        case .failed:
            let retryAt = now.addingTimeInterval(delays[min(mail.attempts, delays.count - 1)])
            return retryAt < mail.mail.expires ? .failed(retryAt: retryAt) : nil
        }
    }
}
