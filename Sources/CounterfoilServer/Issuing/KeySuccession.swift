public import CounterfoilTokens
public import Foundation

/// The life of a signing key, from facts alone: it is published, signs, is replaced, and goes when nothing that it signed counts any
/// more (OpenID Connect Core §10.1.1).
public enum KeySuccession {
    /// For how long a key is published before it signs, in seconds: longer than anybody keeps a copy of the keys, so that nobody is
    /// shown a token whose key they do not know.
    public static let notice: TimeInterval = 15 * 60
    /// For how long a key stays published after it was replaced, in seconds: the longest life of a token, and two hours for clocks
    /// that differ.
    public static let retention: TimeInterval = 86_400 + 2 * 3600
    /// How old a key becomes, in days, unless an operator says otherwise.
    public static let standardLifetime = 90

    /// What a key does at a moment.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It is published and waits for its time.
        case published
        /// It signs.
        case signing
        /// It is published for what it has signed, and signs no more.
        case retired
    }

    /// Whether a key that was replaced is still published.
    static func isPublished(_ key: SealedSigningKey, at now: Date) -> Bool {
        key.replacedAt.map { now < $0.addingTimeInterval(retention) } ?? true
    }

    /// The key of an algorithm that signs at a moment; the newest where none should, which a clock that was set back can bring about.
    static func signer(
        _ algorithm: SigningAlgorithm, among keys: [SealedSigningKey], at now: Date
    ) -> SealedSigningKey? {
        let able = keys.filter { $0.algorithm == algorithm }
        return able.last { $0.signsFrom <= now && ($0.replacedAt.map { now < $0 } ?? true) }
            ?? able.last { $0.signsFrom <= now } ?? able.first
    }

    /// The key of an algorithm that was not replaced yet and is to be, because it has signed for so long.
    static func overdue(
        _ algorithm: SigningAlgorithm, among keys: [SealedSigningKey], lifetime: TimeInterval, at now: Date
    ) -> SealedSigningKey? {
        keys.last {
            $0.algorithm == algorithm && $0.replacedAt == nil && $0.signsFrom.addingTimeInterval(lifetime) <= now
        }
    }
}

extension SealedSigningKey {
    /// What the key does at a moment, and since when it does.
    public func state(at now: Date) -> (state: KeySuccession.State, since: Date) {
        if let replacedAt, replacedAt <= now { return (.retired, replacedAt) }
        return signsFrom <= now ? (.signing, signsFrom) : (.published, createdAt)
    }
}

/// Makes the successors of signing keys.
public struct KeyRotation: Sendable {
    private let store: any SigningKeyStore
    private let serverKey: ServerKey

    /// Rotates the keys of a store, which a server key seals.
    public init(_ store: any SigningKeyStore, serverKey: ServerKey) {
        self.store = store
        self.serverKey = serverKey
    }

    /// When a new key begins to sign.
    public enum Beginning: Sendable, Hashable {
        /// When everybody has had the time to fetch it.
        case afterNotice
        /// At once: whoever keeps copies of the keys and does not fetch them anew refuses its first tokens.
        case atOnce
    }

    /// Makes the successor of the newest key of an algorithm; nil when somebody else has made one meanwhile.
    public func rotate(
        _ algorithm: SigningAlgorithm, _ beginning: Beginning = .afterNotice, now: Date
    ) async throws -> SealedSigningKey? {
        let keys = try await store.signingKeys()
        guard let former = keys.last(where: { $0.algorithm == algorithm && $0.replacedAt == nil }) else {
            let first = try sealed(algorithm, createdAt: now, signsFrom: now)
            return try await store.addFirstSigningKey(first) == .added ? first : nil
        }
        return try await succeed(former, beginning, now: now)
    }

    /// Makes successors of the keys that have signed for so many seconds.
    func rotateWhatIsOld(lifetime: TimeInterval, now: Date) async throws -> [SealedSigningKey] {
        let keys = try await store.signingKeys()
        var made: [SealedSigningKey] = []
        for algorithm in KeyRing.algorithms {
            guard
                let former = KeySuccession.overdue(algorithm, among: keys, lifetime: lifetime, at: now),
                let successor = try await succeed(former, .afterNotice, now: now)
            else { continue }
            made.append(successor)
        }
        return made
    }

    /// Removes the keys of which nothing that they signed counts any more; how many.
    func removeWhatIsOver(now: Date) async throws -> Int {
        try await store.removeSigningKeys(replacedBefore: now.addingTimeInterval(-KeySuccession.retention))
    }

    private func succeed(
        _ former: SealedSigningKey, _ beginning: Beginning, now: Date
    ) async throws -> SealedSigningKey? {
        // A key that is sealed with another server key than its predecessor is one that no server can open.
        guard (try? serverKey.open(former.sealed, identifier: former.id.rawValue)) != nil else {
            throw KeyRing.Refusal.wrongServerKey(former.id)
        }
        let signsFrom =
            switch beginning {
            case .afterNotice: max(former.signsFrom, now.addingTimeInterval(KeySuccession.notice))
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
