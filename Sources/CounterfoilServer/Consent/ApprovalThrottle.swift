import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The counter of approvals for each user in a window of time; bounded in memory.
///
/// Each approval writes a grant and a code, including the approvals for which no page is shown. The first approval of
/// a client with a document also writes the client. Without limits, any account could fill the disk.
///
/// The counts are in the memory of this process, so they need no query. They are exact only if a single process serves
/// the store.
final class ApprovalThrottle: Sendable {
    /// The maximum number of users counted.
    private static let capacity = 100_000

    private struct Window {
        let begins: Date
        var approvals: Int
    }

    /// The limit when the throttle was created, which a reload of the settings can replace.
    private let limit: Mutex<Int>
    /// The length of a window in seconds; a window begins with the first approval of a user.
    private let window: TimeInterval
    private let windows = Mutex<[PersonIdentifier: Window]>([:])

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

    init(limit: Int, window: TimeInterval = 60) {
        self.limit = Mutex(max(1, limit))
        self.window = window
    }

    /// Replaces the limit; what was counted stays.
    func change(limit: Int) { self.limit.withLock { $0 = max(1, limit) } }

    /// Counts an approval.
    ///
    /// - Throws: ``TooMany`` if the user has reached the limit.
    func note(_ person: PersonIdentifier, now: Date) throws(TooMany) {
        let limit = limit.withLock(\.self)
        let wait = windows.withLock { windows -> TimeInterval in
            guard let current = windows[person], isOpen(current, now: now) else {
                if windows.count >= Self.capacity { makeRoom(in: &windows, now: now) }
                windows[person] = Window(begins: now, approvals: 1)
                return 0
            }
            guard current.approvals < limit else {
                return current.begins.addingTimeInterval(window).timeIntervalSince(now)
            }
            windows[person]?.approvals += 1
            return 0
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    private func isOpen(_ current: Window, now: Date) -> Bool {
        (0..<window).contains(now.timeIntervalSince(current.begins))
    }

    private func makeRoom(in windows: inout [PersonIdentifier: Window], now: Date) {
        windows = windows.filter { isOpen($0.value, now: now) }
        // If the map is still full of open windows, this is an attack. All counts are dropped to limit memory.
        if windows.count >= Self.capacity { windows = [:] }
    }
}
