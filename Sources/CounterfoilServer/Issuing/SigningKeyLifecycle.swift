package import CounterfoilTokens
package import Foundation

/// The lifecycle of a signing key (OpenID Connect Core §10.1.1).
///
/// A key is published, signs, is replaced, and is deleted when every token that it signed has expired.
package enum SigningKeyLifecycle {
    /// The seconds between the publication of a key and its first signature.
    ///
    /// It is longer than clients cache the key set, so that no client gets a token with a key that it does
    /// not know.
    package static let notice: TimeInterval = 15 * 60
    /// The seconds for which a replaced key stays published: the longest lifetime of a token, and two hours
    /// for clock skew.
    package static let retention: TimeInterval = 86_400 + 2 * 3600
    /// The age in days at which a key is replaced, unless the operator sets another.
    package static let standardLifetime = 90

    /// The state of a key at a time.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Published, but not signing yet.
        case published
        /// Signing.
        case signing
        /// Replaced; published to verify what it signed.
        case retired
    }

    /// Returns whether a key is still published.
    static func isPublished(_ key: SealedSigningKey, at now: Date) -> Bool {
        key.replacedAt.map { now < $0.addingTimeInterval(retention) } ?? true
    }

    /// Returns the key of an algorithm that signs at a time.
    ///
    /// After a clock was set back, no key may be due. It then returns the newest key that has begun to sign,
    /// or the oldest.
    static func signer(
        _ algorithm: SigningAlgorithm, among keys: [SealedSigningKey], at now: Date
    ) -> SealedSigningKey? {
        let able = keys.filter { $0.algorithm == algorithm }
        return able.last { $0.signsFrom <= now && ($0.replacedAt.map { now < $0 } ?? true) }
            ?? able.last { $0.signsFrom <= now } ?? able.first
    }

    /// Returns the current key of an algorithm if it has signed for longer than its lifetime.
    static func overdue(
        _ algorithm: SigningAlgorithm, among keys: [SealedSigningKey], lifetime: TimeInterval, at now: Date
    ) -> SealedSigningKey? {
        keys.last {
            $0.algorithm == algorithm && $0.replacedAt == nil && $0.signsFrom.addingTimeInterval(lifetime) <= now
        }
    }
}

extension SealedSigningKey {
    /// Returns the state of the key at a time, and the beginning of that state.
    package func state(at now: Date) -> (state: SigningKeyLifecycle.State, since: Date) {
        if let replacedAt, replacedAt <= now { return (.retired, replacedAt) }
        return signsFrom <= now ? (.signing, signsFrom) : (.published, createdAt)
    }
}

/// The rotation of signing keys.
package struct KeyRotation: Sendable {
    private let store: any SigningKeyStore
    private let serverKey: ServerKey

    /// Creates a rotation for the keys of a store, which are encrypted with a server key.
    package init(_ store: any SigningKeyStore, serverKey: ServerKey) {
        self.store = store
        self.serverKey = serverKey
    }

    /// The time at which a new key begins to sign.
    package enum Beginning: Sendable, Hashable {
        /// After ``SigningKeyLifecycle/notice``, when clients have fetched the key.
        case afterNotice
        /// At once.
        ///
        /// Clients that cache the key set and do not reload it reject the first tokens.
        case atOnce
    }

    /// Creates the successor of the newest key of an algorithm; nil if another process did so first.
    package func rotate(
        _ algorithm: SigningAlgorithm, _ beginning: Beginning = .afterNotice, now: Date
    ) async throws -> SealedSigningKey? {
        let keys = try await store.signingKeys()
        guard let former = keys.last(where: { $0.algorithm == algorithm && $0.replacedAt == nil }) else {
            let first = try sealed(algorithm, createdAt: now, signsFrom: now)
            return try await store.addFirstSigningKey(first) == .added ? first : nil
        }
        return try await succeed(former, beginning, now: now)
    }

    /// Creates successors of the keys that have signed for longer than `lifetime` seconds.
    func rotateExpiredKeys(lifetime: TimeInterval, now: Date) async throws -> [SealedSigningKey] {
        let keys = try await store.signingKeys()
        var made: [SealedSigningKey] = []
        for algorithm in KeyRing.algorithms {
            guard
                let former = SigningKeyLifecycle.overdue(algorithm, among: keys, lifetime: lifetime, at: now),
                let successor = try await succeed(former, .afterNotice, now: now)
            else { continue }
            made.append(successor)
        }
        return made
    }

    /// Deletes the keys of which every signed token has expired, and returns their number.
    func deleteExpired(now: Date) async throws -> Int {
        try await store.removeSigningKeys(replacedBefore: now.addingTimeInterval(-SigningKeyLifecycle.retention))
    }

    private func succeed(
        _ former: SealedSigningKey, _ beginning: Beginning, now: Date
    ) async throws -> SealedSigningKey? {
        // A successor encrypted with another server key than its predecessor could not be opened by any
        // server.
        guard (try? serverKey.open(former.sealed, identifier: former.id.rawValue)) != nil else {
            throw KeyRing.Refusal.wrongServerKey(former.id)
        }
        let signsFrom =
            switch beginning {
            case .afterNotice: max(former.signsFrom, now.addingTimeInterval(SigningKeyLifecycle.notice))
            case .atOnce: now
            }
        let successor = try sealed(former.algorithm, createdAt: now, signsFrom: signsFrom)
        return try await store.addSigningKey(successor, replacing: former.id) == .added ? successor : nil
    }

    private func sealed(
        _ algorithm: SigningAlgorithm, createdAt: Date, signsFrom: Date
    ) throws -> SealedSigningKey {
        let key = try SigningKey.generate(algorithm)
        return SealedSigningKey(
            id: key.id, algorithm: algorithm,
            sealed: try serverKey.seal(key.privateRepresentation, identifier: key.id.rawValue), createdAt: createdAt,
            signsFrom: signsFrom)
    }
}
