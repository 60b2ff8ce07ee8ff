@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
import Crypto
package import Foundation

/// The failed attempts to prove a secret, which are counted in the store for all servers together.
///
/// While the store cannot count, this process counts by itself, so that an outage allows no unlimited guesses.
struct AttemptCounter: Sendable {
    let keys: AttemptKeys
    var store: any AttemptStore
    private let ownCount = ProcessAttempts()
    private let metrics: ServerMetrics

    init(store: any AttemptStore, serverKey: ServerKey, metrics: ServerMetrics) {
        self.store = store
        keys = AttemptKeys(key: serverKey.attempts)
        self.metrics = metrics
    }

    /// Decides whether an attempt can proceed, and counts it as a failure until ``withdraw(_:admittedAt:)`` or
    /// ``succeed(clearing:withdrawing:admittedAt:)``.
    func admit(_ attempt: CountedAttempt, now: Date) async -> AttemptVerdict {
        do {
            return try await store.admitAttempt(attempt, at: now)
        } catch {
            metrics.count(.storeError)
            return await ownCount.admitAttempt(attempt, at: now)
        }
    }

    /// Removes an attempt from the failures under the keys for which it was counted, because the secret was not
    /// verified.
    func withdraw(_ keys: [CountedKey], admittedAt time: Date) async {
        await settle(forgetting: [], withdrawing: keys.map(\.digest), admittedAt: time)
    }

    /// Deletes all failures under the cleared keys, and only this attempt under the others, because the secret was
    /// proved.
    func succeed(
        clearing cleared: [ArtefactDigest], withdrawing shared: [ArtefactDigest], admittedAt time: Date
    ) async {
        await settle(forgetting: cleared, withdrawing: shared, admittedAt: time)
    }

    /// Reads when an earlier network was last noted; nil if that is not known, or while the store does not answer.
    func noted(_ network: ArtefactDigest, now: Date) async -> Date? {
        do { return try await store.earlierNetworkNoted(network, at: now) } catch {
            metrics.count(.storeError)
            return nil
        }
    }

    /// Notes a network from which a user has signed in; if that fails, the next sign-in tries again.
    func note(_ network: EarlierNetwork, now: Date) async {
        do { try await store.noteEarlierNetwork(network, at: now) } catch { metrics.count(.storeError) }
    }

    private func settle(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async {
        await ownCount.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
        do {
            try await store.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
        } catch {
            // The attempt then counts as a failure until the end of the window, which is better than the opposite.
            metrics.count(.storeError)
        }
    }
}

/// The attempts that are counted in the memory of one process, for tests and for a server whose store cannot count.
package final class ProcessAttempts: Sendable {
    /// The failures by the length of the window of their key, because a limiter has one.
    private let limiters = Mutex<[TimeInterval: RateLimiter<ArtefactDigest>]>([:])

    package init() {}

    /// As `AttemptStore` says.
    package func admitAttempt(_ attempt: CountedAttempt, at now: Date) async -> AttemptVerdict {
        limiters.withLock { limiters in
            let verdict = attempt.verdict(at: now) { key in
                limiters[key.limit.window]?.events(under: key.digest, at: now) ?? []
            }
            for key in attempt.counted(after: verdict) {
                limiters[key.limit.window, default: RateLimiter(window: key.limit.window)].note(
                    [.init(key.digest, key.limit.failures)], at: now)
            }
            return verdict
        }
    }

    /// As `AttemptStore` says.
    package func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async {
        limiters.withLock { limiters in
            for window in limiters.keys {
                for digest in forgotten { limiters[window]?.forget(digest) }
                for digest in withdrawn { limiters[window]?.withdraw(digest, at: time) }
            }
        }
    }
}

/// The key of the digests under which attempts are counted.
///
/// With the key, two servers count the same name under the same digest, and a reader of the store learns no name.
struct AttemptKeys: Sendable {
    let key: SymmetricKey

    /// What the value of a digest is.
    enum Kind: String {
        case typedName = "typed name"
        case account
        /// A typed name that no account has.
        case noAccount = "no account"
        case source
        /// The cookie of a browser, or the network, in which a user has signed in before.
        case earlierSignIn = "earlier sign-in"
        /// An account in all networks in which its user has signed in before.
        case accountInEarlierNetworks = "account in earlier networks"
        case secondFactorOfUser = "second factor of a user"
        case secondFactorInDay = "second factor of a user in a day"
        case recoveryCodesOfUser = "recovery codes of a user"
        case secondFactorSource = "second factor of a source"
        case userCodesOfUser = "user codes of a person"
        case userCodeSource = "user codes of a source"
        case mailAddress = "mails to an address"
        case mailUser = "mails of a user"
        case mailSource = "mails from a source"
        case noticeAddress = "notices to an address"
        case recoveryName = "recovery of a typed name"
        case recoveryAddress = "recovery mails to an address"
        /// The cookie of a browser in which the user has signed in before.
        case recoveryBrowser = "recovery in a browser"
        /// A typed name that gets no mail.
        case noRecovery = "no recovery"
        case accountsOfSource = "new accounts from a source"
        case namesOfLink = "usernames of a sign-up link"
        case namesOfSource = "usernames from a source"
    }

    /// Returns the digest of a value, or of a value in one network only.
    func digest(of value: String, in network: CountedSource.Network? = nil, as kind: Kind) -> ArtefactDigest {
        // A typed name can contain any character, so a value in a network has a kind of its own.
        let text =
            network.map { "\(kind.rawValue) in a network\0\(value)\0\($0.name)" } ?? "\(kind.rawValue)\0\(value)"
        return ArtefactDigest(ofAttempts: HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
}
