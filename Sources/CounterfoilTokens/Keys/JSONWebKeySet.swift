@_spi(Counterfoil) import CounterfoilProtocol

/// The public keys of an issuer.
///
/// RFC 7517 §5. The issuer publishes the key set at `jwks_uri`.
public struct JSONWebKeySet: Sendable, Hashable {
    /// The error of parsing a document that is not a valid key set; a single unusable key is only skipped.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The document is longer than ``JSONWebKeySet/byteLimit`` bytes.
        case tooLarge
        /// The document contains more than ``JSONWebKeySet/keyLimit`` keys.
        case tooManyKeys
        /// The document is not a JSON object with an array `keys` of objects.
        case malformed

        /// An explanation that contains no part of the document.
        public var description: String {
            switch self {
            case .tooLarge: "the key set is larger than \(JSONWebKeySet.byteLimit) bytes"
            case .tooManyKeys: "the key set contains more than \(JSONWebKeySet.keyLimit) keys"
            case .malformed: "the key set is not a JSON Web Key Set"
            }
        }
    }

    /// The maximum length of a received document, in bytes.
    public static let byteLimit = 65536
    /// The maximum number of keys in a received document.
    public static let keyLimit = 100

    /// The keys that can verify signatures of tokens, without duplicates.
    public let keys: [JSONWebKey]

    /// Creates a set of keys; duplicates are removed.
    public init(keys: [JSONWebKey] = []) {
        var seen: Set<JSONWebKey> = []
        self.keys = keys.filter { seen.insert($0).inserted }
    }

    /// Parses a document received from the network.
    ///
    /// Unusable keys are skipped (RFC 7517 §5): private keys, keys of another type or use, and
    /// keys that are too small.
    public init(parsing bytes: some Collection<UInt8>) throws(Refusal) {
        guard bytes.count <= Self.byteLimit else { throw .tooLarge }
        guard let document = try? JSONReader.object(Array(bytes)), case .array(let entries)? = document["keys"] else {
            throw .malformed
        }
        guard entries.count <= Self.keyLimit else { throw .tooManyKeys }
        var keys: [JSONWebKey] = []
        for entry in entries {
            guard case .object(let members) = entry else { throw .malformed }
            guard let key = try? JSONWebKeyMembers(members).key() else { continue }
            keys.append(key)
        }
        self.init(keys: keys)
    }

    /// Returns the keys with which to verify a token: those that match `kid` and `alg` of its header.
    ///
    /// Several keys can match, because keys of different types can have the same `kid` (RFC 7517 §4.5). For a token
    /// without `kid`, the result is the only key that matches `alg`. It is empty if several keys match `alg`, because
    /// the token must then have a `kid` (OpenID Connect Core §10.1).
    public func keys(for kid: KeyIdentifier?, algorithm: SigningAlgorithm) -> [JSONWebKey] {
        let fitting = keys.filter { $0.verifies(algorithm) && (kid == nil || $0.id == kid) }
        return kid == nil && fitting.count > 1 ? [] : fitting
    }

    /// Encodes the key set as JSON, as published at `jwks_uri`.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64 + keys.count * 512)
        writer.object { writer in
            writer.member(
                "keys",
                list: { writer in
                    for key in keys {
                        writer.object { writer in
                            for member in key.members { writer.member(member.name, member.value) }
                        }
                    }
                })
        }
        return writer.bytes
    }
}
