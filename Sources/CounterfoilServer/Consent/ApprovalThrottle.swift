import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The counter of approvals for each user in a window of one minute; bounded in memory.
///
/// Each approval writes a grant and a code, including the approvals for which no page is shown. Without a limit, any
/// account could fill the disk.
///
/// The counts are in the memory of this process, so they need no query. They are exact only if a single process serves
/// the store.
final class ApprovalThrottle: Sendable {
    /// The length of a window in seconds; a window begins with the first approval of a user.
    static let window: TimeInterval = 60
    /// The maximum number of users counted.
    private static let capacity = 100_000

    private struct Window {
        let begins: Date
        var approvals: Int
    }

    private let limit: Int
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

    init(limit: Int) { self.limit = max(1, limit) }

    /// Counts an approval.
    ///
    /// - Throws: ``TooMany`` if the user has reached the limit.
    func note(_ person: PersonIdentifier, now: Date) throws(TooMany) {
        let wait = windows.withLock { windows -> TimeInterval in
            guard let window = windows[person], Self.isOpen(window, now: now) else {
                if windows.count >= Self.capacity { Self.makeRoom(in: &windows, now: now) }
                windows[person] = Window(begins: now, approvals: 1)
                return 0
            }
            guard window.approvals < limit else {
                return window.begins.addingTimeInterval(Self.window).timeIntervalSince(now)
            }
            windows[person]?.approvals += 1
            return 0
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    private static func isOpen(_ window: Window, now: Date) -> Bool {
        (0..<Self.window).contains(now.timeIntervalSince(window.begins))
    }

    private static func makeRoom(in windows: inout [PersonIdentifier: Window], now: Date) {
        windows = windows.filter { isOpen($0.value, now: now) }
        // If the map is still full of open windows, this is an attack. All counts are dropped to limit memory.
        if windows.count >= capacity { windows = [:] }
    }
}
