@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// A limit of what one user, or one client that acts without a user, starts within some time, in the memory of this
/// process.
package final class PartyLimiter: Sendable {
    /// The party that starts something.
    package enum Party: Sendable, Hashable {
        case user(UserIdentifier)
        case client(ClientIdentifier)
        case command

        /// The identifier, for the log.
        var identifier: String {
            switch self {
            case .user(let id): id.rawValue
            case .client(let id): id.rawValue
            case .command: "command"
            }
        }
    }

    private let limit: Int
    private let started: Mutex<RateLimiter<Party>>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - limit: The maximum number for one party.
    ///   - window: The length of the window, in seconds.
    package init(_ limit: Int, within window: TimeInterval) {
        self.limit = limit
        started = Mutex(RateLimiter(window: window))
    }

    /// Admits something and returns nil, or returns the seconds until the party may retry.
    package func admit(_ party: Party, at now: Date) -> Int? {
        started.withLock { $0.admit([.init(party, limit)], at: now) }
    }
}
