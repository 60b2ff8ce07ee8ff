import CounterfoilProtocol
import Crypto

/// A public key that verifies signatures, as a JSON Web Key.
///
/// RFC 7517 §4: EC on P-256, RSA of at least 2048 bits, or OKP on Ed25519. It is parsed once, can verify from then on, and
/// serves exactly one algorithm. A value can hold neither a private nor a symmetric key.
public struct JSONWebKey: Sendable {
    /// Why a JSON Web Key cannot be used here.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It holds a private or symmetric key, which must never be published.
        case privateMaterial
        /// Its `kty` or `crv` is not supported.
        case unsupportedKeyType
        /// Its `alg` is not the algorithm that keys of its type serve here.
        case unsupportedAlgorithm
        /// Its `use` or `key_ops` is not for signatures.
        case notForSignatures
        /// A parameter is missing or is not a key: a point off the curve, an RSA key below 2048 bits.
        case malformed

        /// What is wrong, without any part of the key.
        public var description: String {
            switch self {
            case .privateMaterial: "the key is private or symmetric"
            case .unsupportedKeyType: "keys of this type are not supported"
            case .unsupportedAlgorithm: "the algorithm of the key is not supported"
            case .notForSignatures: "the key is not for signatures"
            case .malformed: "the parameters are not those of a key"
            }
        }
    }

    /// The identifier by which tokens name the key; its thumbprint where the key itself has none.
    public let id: KeyIdentifier

    /// The digest that identifies the key material, in base64url (RFC 7638 §3, SHA-256).
    public let thumbprint: String

    let material: PublicKeyMaterial

    init(_ material: PublicKeyMaterial, id: KeyIdentifier? = nil) {
        var writer = JSONWriter()
        writer.object { writer in
            for member in material.members { writer.member(member.name, member.value) }
        }
        thumbprint = Base64URL.encode(SHA256.hash(data: writer.bytes))
        self.id = id ?? KeyIdentifier(thumbprint)
        self.material = material
    }

    /// The one algorithm that the key serves.
    public var algorithm: SigningAlgorithm { material.algorithm }
}

extension JSONWebKey: Hashable {
    /// Two keys are equal when they are the same key under the same name.
    public static func == (left: JSONWebKey, right: JSONWebKey) -> Bool {
        left.thumbprint == right.thumbprint && left.id == right.id
    }

    /// Hashes the thumbprint and the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(thumbprint)
        hasher.combine(id)
    }
}

extension JSONWebKey: CustomStringConvertible {
    /// The algorithm and the name.
    public var description: String { "\(algorithm) \(id)" }
}
