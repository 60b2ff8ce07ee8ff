package import CounterfoilStore
package import CounterfoilTokens
package import Foundation

/// The lifecycle of a signing key (OpenID Connect Core §10.1.1).
///
/// A key is published, then it signs, then it is replaced. It is deleted when every token that it signed has
/// expired.
package enum SigningKeyLifecycle {
    /// The number of seconds between the publication of a key and its first signature.
    ///
    /// The interval is longer than clients cache the key set, so that no client gets a token whose key is
    /// missing in its cache.
    package static let notice: TimeInterval = 15 * 60
    /// The number of seconds for which a replaced key stays published: the longest lifetime of a token, and two
    /// hours for clock skew.
    package static let retention: TimeInterval = 86_400 + 2 * 3600

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The key is in the key set, but does not sign yet.
        case published
        /// The key signs all new tokens of its algorithm.
        case signing
        /// The key was replaced, and stays in the key set so that the tokens that it signed can be verified.
        case retired
    }

    /// Returns true if a key is in the key set at a given time.
    static func isPublished(_ key: SealedSigningKey, at now: Date) -> Bool {
        key.replacedAt.map { now < $0.addingTimeInterval(retention) } ?? true
    }

    /// Returns the key of an algorithm that signs at a given time; nil if the algorithm has no key.
    ///
    /// If the clock was set back, it can happen that no key is in its signing period. The result is then the newest key
    /// whose signing period has begun. If no period has begun, the result is the oldest key.
    static func signer(
        _ algorithm: SigningAlgorithm, among keys: [SealedSigningKey], at now: Date
    ) -> SealedSigningKey? {
        let able = keys.filter { $0.algorithm == algorithm }
        return able.last { $0.signsFrom <= now && ($0.replacedAt.map { now < $0 } ?? true) }
            ?? able.last { $0.signsFrom <= now } ?? able.first
    }

    /// Returns the current key of an algorithm if it has signed for at least `lifetime` seconds; otherwise nil.
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

/// The creation, replacement and deletion of signing keys.
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
        /// The key begins to sign later, ``SigningKeyLifecycle/notice`` seconds after its creation. By then, clients
        /// have reloaded the key set.
        ///
        /// The first key of an algorithm signs at once, because no other key can sign.
        case afterNotice
        /// The key signs at once.
        ///
        /// A client that has cached the key set rejects tokens of the new key. It accepts them after it has reloaded
        /// the key set.
        case atOnce
    }

    /// Creates the successor of the current key of an algorithm, or the first key if there is none.
    ///
    /// Returns nil if another process has created that key first.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm.
    ///   - beginning: The time at which the key begins to sign.
    ///   - shown: The current key that the caller knows; nil for any. If it is another one, the result is nil, too.
    ///   - events: Returns the events that describe the new key.
    ///   - now: The current time.
    package func rotate(
        _ algorithm: SigningAlgorithm, _ beginning: Beginning = .afterNotice, replacing shown: KeyIdentifier? = nil,
        recording events: (SealedSigningKey) -> [AuditEvent], now: Date
    ) async throws -> SealedSigningKey? {
        let keys = try await store.signingKeys()
        let current = keys.last { $0.algorithm == algorithm && $0.replacedAt == nil }
        guard shown == nil || shown == current?.id else { return nil }
        guard let former = current else {
            let first = try sealed(algorithm, createdAt: now, signsFrom: now)
            return try await store.addFirstSigningKey(first, recording: events(first)) == .added ? first : nil
        }
        return try await succeed(former, beginning, recording: events, now: now)
    }

    /// Creates the first key of an algorithm, which signs at once, and records it in the audit log.
    ///
    /// Nothing happens if another process creates the key first.
    func createFirst(_ algorithm: SigningAlgorithm, now: Date) async throws {
        let first = try sealed(algorithm, createdAt: now, signsFrom: now)
        let event = AuditEvent(at: now, .signingKey, detail: "\(algorithm): created the first key, \(first.id)")
        _ = try await store.addFirstSigningKey(first, recording: [event])
    }

    /// Creates successors of the keys that have signed for at least `lifetime` seconds, and returns the new keys.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which a key signs, in seconds.
    ///   - event: Returns the event that describes a new key.
    ///   - now: The current time.
    func rotateExpiredKeys(
        lifetime: TimeInterval, recording event: (SealedSigningKey) -> AuditEvent, now: Date
    ) async throws -> [SealedSigningKey] {
        let keys = try await store.signingKeys()
        var made: [SealedSigningKey] = []
        for algorithm in KeyRing.algorithms {
            guard
                let former = SigningKeyLifecycle.overdue(algorithm, among: keys, lifetime: lifetime, at: now),
                let successor = try await succeed(
                    former, .afterNotice, recording: { [event($0)] }, now: now)
            else { continue }
            made.append(successor)
        }
        return made
    }

    /// Deletes the replaced keys whose tokens have all expired, and returns the number of deleted keys.
    ///
    /// - Parameters:
    ///   - event: Returns the event that describes the deletion for the number of deleted keys.
    ///   - now: The current time.
    func deleteExpired(
        recording event: @escaping @Sendable (Int) -> AuditEvent, now: Date
    ) async throws -> Int {
        let limit = now.addingTimeInterval(-SigningKeyLifecycle.retention)
        return try await store.removeSigningKeys(replacedBefore: limit) { [event($0)] }
    }

    private func succeed(
        _ former: SealedSigningKey, _ beginning: Beginning, recording events: (SealedSigningKey) -> [AuditEvent],
        now: Date
    ) async throws -> SealedSigningKey? {
        // A server key that cannot decrypt the former key belongs to another database. If it encrypted the successor,
        // no server key could decrypt all keys of this database.
        guard (try? serverKey.open(former.sealed, identifier: former.id.rawValue)) != nil else {
            throw KeyRing.Refusal.wrongServerKey(former.id)
        }
        let signsFrom =
            switch beginning {
            case .afterNotice: max(former.signsFrom, now.addingTimeInterval(SigningKeyLifecycle.notice))
            case .atOnce: now
            }
        let successor = try sealed(former.algorithm, createdAt: now, signsFrom: signsFrom)
        let outcome = try await store.addSigningKey(
            successor, replacing: former.id, recording: events(successor))
        return outcome == .added ? successor : nil
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
