import CounterfoilPlatform
import Crypto

/// The private half of a signing key, with one case for each kind of signature.
enum PrivateKeyMaterial: Sendable {
    case p256(P256.Signing.PrivateKey)
    case rsa(RSAPrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)

    /// Generates a key with the random number generator of the operating system; an RSA key has 2048 bits.
    init(generating algorithm: SigningAlgorithm) throws {
        switch algorithm {
        case .es256: self = .p256(P256.Signing.PrivateKey())
        case .rs256: self = .rsa(try RSAPrivateKey())
        case .ed25519, .edDSA: self = .ed25519(Curve25519.Signing.PrivateKey())
        default: throw SigningKey.Failure.unusableKey
        }
    }

    /// Restores a key from its storage format; nil if the bytes are not a valid key of the algorithm.
    init?(_ algorithm: SigningAlgorithm, representation: [UInt8]) {
        switch algorithm {
        case .es256:
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: representation) else { return nil }
            self = .p256(key)
        case .rs256:
            guard let key = RSAPrivateKey(derRepresentation: representation) else { return nil }
            self = .rsa(key)
        case .ed25519, .edDSA:
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: representation) else { return nil }
            self = .ed25519(key)
        default: return nil
        }
    }

    /// The private key in its storage format: DER for RSA, raw bytes for P-256 and Ed25519.
    var representation: [UInt8] {
        switch self {
        case .p256(let key): Array(key.rawRepresentation)
        case .rsa(let key): key.derRepresentation
        case .ed25519(let key): Array(key.rawRepresentation)
        }
    }

    func publicHalf() throws -> PublicKeyMaterial {
        switch self {
        case .p256(let key): return .p256(key.publicKey, point: Array(key.publicKey.rawRepresentation))
        case .rsa(let key):
            guard let material = PublicKeyMaterial(rsa: try key.publicKey()) else {
                throw SigningKey.Failure.unusableKey
            }
            return material
        case .ed25519(let key): return .ed25519(key.publicKey)
        }
    }

    /// Signs bytes as defined in RFC 7518 §3.3 and §3.4 and RFC 8037 §3.1.
    func signature(for input: [UInt8]) throws -> Data {
        switch self {
        case .p256(let key): try key.signature(for: input).rawRepresentation
        case .rsa(let key): try key.signature(for: input, padding: .pkcs1)
        case .ed25519(let key): try key.signature(for: input)
        }
    }

    /// Signs bytes with RSASSA-PSS, SHA-256 and a salt of 32 bytes (RFC 7518 §3.5); throws if the key is not RSA.
    func probabilisticSignature(for input: [UInt8]) throws -> Data {
        guard case .rsa(let key) = self else { throw SigningKey.Failure.unusableKey }
        return try key.signature(for: input, padding: .pss)
    }
}
