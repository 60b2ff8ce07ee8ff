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

/// A limit of what one party does at the same time, in the memory of this process.
final class ConcurrencyLimiter: Sendable {
    /// The maximum number for one party.
    let limit: Int
    private let running = Mutex<[PartyLimiter.Party: Int]>([:])

    init(_ limit: Int) { self.limit = limit }

    /// Does something and returns its result, or returns nil at once if the party has reached the limit.
    func admit<Result>(_ party: PartyLimiter.Party, _ work: () async throws -> Result) async rethrows -> Result? {
        let isAdmitted = running.withLock { running in
            let number = running[party, default: 0]
            guard number < limit else { return false }
            running[party] = number + 1
            return true
        }
        guard isAdmitted else { return nil }
        defer {
            running.withLock { running in
                let number = running[party, default: 0] - 1
                running[party] = number > 0 ? number : nil
            }
        }
        return try await work()
    }
}
