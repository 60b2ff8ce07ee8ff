import CounterfoilProtocol

/// The public keys of an issuer.
///
/// RFC 7517 §5, found at `jwks_uri`.
public struct JSONWebKeySet: Sendable, Hashable {
    /// Why a document is not a key set.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// More than ``JSONWebKeySet/byteLimit`` bytes.
        case tooLarge
        /// More than ``JSONWebKeySet/keyLimit`` keys.
        case tooManyKeys
        /// Not a JSON object with a list `keys` of objects.
        case malformed

        /// What is wrong with the document.
        public var description: String {
            switch self {
            case .tooLarge: "the key set is larger than \(JSONWebKeySet.byteLimit) bytes"
            case .tooManyKeys: "the key set holds more than \(JSONWebKeySet.keyLimit) keys"
            case .malformed: "the key set is not a JSON Web Key Set"
            }
        }
    }

    /// The most bytes of a document.
    public static let byteLimit = 65536
    /// The most keys of a document.
    public static let keyLimit = 100

    /// The keys that can be used, each once.
    public let keys: [JSONWebKey]

    /// A set of keys; a repeated one counts once.
    public init(keys: [JSONWebKey] = []) {
        var seen: Set<JSONWebKey> = []
        self.keys = keys.filter { seen.insert($0).inserted }
    }

    /// Parses a document from the network.
    ///
    /// Keys that cannot be used (another type, another use, too small, private) are skipped, as RFC 7517 §5 says.
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

    /// The keys that may have made a signature: those of the name and the algorithm that a token's header states.
    ///
    /// Names may repeat for keys of different types (RFC 7517 §4.5). A token that names no key is accepted only where one
    /// key alone can be meant (OpenID Connect Core §10.1).
    public func keys(for kid: KeyIdentifier?, algorithm: SigningAlgorithm) -> [JSONWebKey] {
        let fitting = keys.filter { $0.algorithm == algorithm && (kid == nil || $0.id == kid) }
        return kid == nil && fitting.count > 1 ? [] : fitting
    }

    /// The document as it is published: JSON bytes.
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
