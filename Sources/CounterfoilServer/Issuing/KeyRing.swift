public import CounterfoilTokens
public import Foundation

/// Where the keys of this moment come from.
protocol SigningKeys: Sendable {
    /// The key that signs with an algorithm now.
    func key(for algorithm: SigningAlgorithm) -> SigningKey?
    /// What `jwks_uri` answers now.
    var publicKeys: JSONWebKeySet { get }
}

/// The keys with which the server signs, opened and ready.
public struct KeyRing: Sendable, SigningKeys {
    /// Why the keys cannot be used.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        /// The server key is not the one that sealed them.
        case wrongServerKey(KeyIdentifier)

        /// What happened and what to do.
        public var description: String {
            switch self {
            case .wrongServerKey(let id):
                "the signing key \(id) was sealed with another server key; put the server.key that belongs to this database back"
            }
        }
    }

    /// The algorithms for which a server has a key from its first start on.
    public static let algorithms: [SigningAlgorithm] = [.es256, .rs256]

    private let keys: [SigningAlgorithm: SigningKey]
    /// What `jwks_uri` answers.
    public let publicKeys: JSONWebKeySet

    private init(_ keys: [SigningKey]) {
        self.keys = Dictionary(keys.map { ($0.algorithm, $0) }, uniquingKeysWith: { _, newer in newer })
        publicKeys = JSONWebKeySet(keys: keys.map(\.publicKey))
    }

    /// The key that signs with an algorithm.
    func key(for algorithm: SigningAlgorithm) -> SigningKey? { keys[algorithm] }

    /// Opens the keys of a store; those that are missing are made.
    public static func open(
        _ store: any SigningKeyStore,
        serverKey: ServerKey,
        now: Date = Date()
    ) async throws -> KeyRing {
        var stored = try await store.signingKeys()
        for algorithm in algorithms where !stored.contains(where: { $0.algorithm == algorithm }) {
            let key = try SigningKey.generate(algorithm)
            let sealed = try serverKey.seal(key.privateRepresentation, identifier: key.id.rawValue)
            _ = try await store.addFirstSigningKey(
                SealedSigningKey(id: key.id, algorithm: algorithm, sealed: sealed, createdAt: now)
            )
            // Whether ours or another process's came first, the store now says.
            stored = try await store.signingKeys()
        }
        return KeyRing(
            try stored.map { record in
                guard let bytes = try? serverKey.open(record.sealed, identifier: record.id.rawValue) else {
                    throw Refusal.wrongServerKey(record.id)
                }
                return try SigningKey(algorithm: record.algorithm, privateRepresentation: bytes)
            }
        )
    }
}
