@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The limit of approvals of each user, in the memory of this process.
///
/// Each approval writes a grant and a code, including the approvals for which no page is shown. The first approval of
/// a client with a document also writes the client. Without limits, any account could fill the disk.
final class ApprovalThrottle: Sendable {
    /// The limit when the throttle was created, which a reload of the settings can replace.
    private let limit: Mutex<Int>
    private let approvals: Mutex<RateLimiter<UserIdentifier>>

    /// The error for a user who has reached the limit of the window.
    struct TooMany: Refusing {
        let retryAfter: Int

        var refusal: Refusal {
            Refusal(.tooManyRequests, .temporarilyUnavailable, .tooManyApprovals, retryAfter: retryAfter)
        }

        /// The error response for a request with `prompt=none`.
        var error: OAuthError {
            OAuthError(
                .temporarilyUnavailable, "too many authorizations for this user; try again in \(retryAfter) seconds")
        }
    }

    /// Creates a limit of approvals within a window in seconds.
    init(limit: Int, window: TimeInterval = 60) {
        self.limit = Mutex(limit)
        approvals = Mutex(RateLimiter(window: window))
    }

    /// Replaces the limit; what was counted stays.
    func change(limit: Int) { self.limit.withLock { $0 = limit } }

    /// Counts an approval.
    ///
    /// - Throws: ``TooMany`` if the user has reached the limit.
    func note(_ user: UserIdentifier, now: Date) throws(TooMany) {
        let limit = limit.withLock(\.self)
        let wait = approvals.withLock { $0.admit([.init(user, limit)], at: now) }
        if let wait { throw TooMany(retryAfter: wait) }
    }
}
