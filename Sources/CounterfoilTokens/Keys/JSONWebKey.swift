@_spi(Counterfoil) import CounterfoilProtocol
import Crypto

/// A public key for verifying signatures, as a JSON Web Key.
///
/// RFC 7517 §4. The supported keys are EC keys on P-256, RSA keys of 2048 to 8192 bits, and OKP keys on Ed25519. A
/// key is parsed once and verifies exactly one kind of signature. A value never contains a private or symmetric key.
public struct JSONWebKey: Sendable {
    /// The error of decoding a single key that cannot be used; a ``JSONWebKeySet`` skips such a key instead.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The key is private or symmetric; such a key must never be published.
        case privateMaterial
        /// `kty` or `crv` is not supported.
        case unsupportedKeyType
        /// `alg` is no name of the one algorithm that is supported for keys of this type.
        case unsupportedAlgorithm
        /// `use` or `key_ops` does not allow verifying signatures.
        case notForSignatures
        /// A parameter is missing or invalid, such as a point off the curve or an RSA key below 2048 bits.
        case malformed

        /// An explanation that contains no part of the key.
        public var description: String {
            switch self {
            case .privateMaterial: "the key is private or symmetric; only public keys are accepted"
            case .unsupportedKeyType: "the type of the key is not supported (kty, crv)"
            case .unsupportedAlgorithm: "the algorithm of the key is not supported"
            case .notForSignatures: "the key is not for verifying signatures (use, key_ops)"
            case .malformed: "the parameters of the key are missing or invalid"
            }
        }
    }

    /// The identifier by which tokens refer to the key: `kid`, or the thumbprint if the key has no `kid`.
    public let id: KeyIdentifier

    /// The SHA-256 thumbprint of the key in base64url, which depends only on the public numbers (RFC 7638 §3).
    public let thumbprint: String

    /// The algorithm of the key: its `alg`, or the usual name for keys of its type if the key has no `alg`.
    public let algorithm: SigningAlgorithm

    let material: PublicKeyMaterial

    init(_ material: PublicKeyMaterial, algorithm: SigningAlgorithm, id: KeyIdentifier? = nil) {
        var writer = JSONWriter()
        writer.object { writer in
            for member in material.members { writer.member(member.name, member.value) }
        }
        thumbprint = Base64URL.encode(SHA256.hash(data: writer.bytes))
        self.id = id ?? KeyIdentifier(thumbprint)
        self.algorithm = algorithm
        self.material = material
    }

    /// Returns true if the key verifies the signatures of a token with this `alg`.
    ///
    /// RFC 9864 §2.2: a key on Ed25519 does so for `Ed25519` and for `EdDSA`, whichever of the names its own `alg` is.
    func verifies(_ algorithm: SigningAlgorithm) -> Bool { material.algorithms.contains(algorithm) }
}

extension JSONWebKey: Hashable {
    /// Returns true if two keys have the same key material and the same identifier.
    public static func == (left: JSONWebKey, right: JSONWebKey) -> Bool {
        left.thumbprint == right.thumbprint && left.id == right.id
    }

    /// Hashes the thumbprint and the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(thumbprint)
        hasher.combine(id)
    }
}

extension JSONWebKey: CustomStringConvertible {
    /// The algorithm and the identifier.
    public var description: String { "\(algorithm) \(id)" }
}
