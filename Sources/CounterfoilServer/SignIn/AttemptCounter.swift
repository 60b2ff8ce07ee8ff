import CounterfoilProtocol
import Crypto
package import Foundation

/// The failed attempts to prove a secret, which are counted in the store for all servers together.
///
/// While the store cannot count, this process counts by itself, so that an outage allows no unlimited guesses.
struct AttemptCounter: Sendable {
    let keys: AttemptKeys
    private let store: any AttemptStore
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
    /// The failures by the length of the window of their key, because a log forgets what is older than one window.
    private let logs = Mutex<[TimeInterval: FailureLog<ArtefactDigest>]>([:])

    package init() {}

    /// As `AttemptStore` says.
    package func admitAttempt(_ attempt: CountedAttempt, at now: Date) async -> AttemptVerdict {
        logs.withLock { logs in
            let verdict = attempt.verdict(at: now) { key in
                (logs[key.limit.window]?.failures(of: key.digest, since: now - key.limit.window) ?? [])
                    .filter { $0 <= now + key.limit.window }
            }
            for key in attempt.counted(after: verdict) {
                logs[key.limit.window, default: FailureLog()].note(
                    key.digest, at: now, since: now - key.limit.window, keep: key.limit.failures)
            }
            return verdict
        }
    }

    /// As `AttemptStore` says.
    package func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async {
        logs.withLock { logs in
            for window in logs.keys {
                for digest in forgotten { logs[window]?.forget(digest) }
                for digest in withdrawn { logs[window]?.withdraw(digest, at: time) }
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
        /// The cookie of a browser in which a user has signed in before.
        case earlierSignIn = "earlier sign-in"
        case userCodePerson = "user codes of a person"
        case userCodeSource = "user codes of a source"
    }

    func digest(of value: String, as kind: Kind) -> ArtefactDigest {
        ArtefactDigest(
            ofAttempts: HMAC<SHA256>.authenticationCode(for: Array("\(kind.rawValue)\0\(value)".utf8), using: key))
    }
}
