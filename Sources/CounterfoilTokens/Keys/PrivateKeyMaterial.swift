import Crypto
import CryptoExtras
import Foundation

/// The private half of a signing key, with one case for each algorithm.
enum PrivateKeyMaterial: Sendable {
    case p256(P256.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)

    /// Generates a key with the random number generator of the operating system; an RSA key has 2048 bits.
    init(generating algorithm: SigningAlgorithm) throws {
        switch algorithm {
        case .es256: self = .p256(P256.Signing.PrivateKey())
        case .rs256: self = .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        case .edDSA: self = .ed25519(Curve25519.Signing.PrivateKey())
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
            guard let key = try? _RSA.Signing.PrivateKey(derRepresentation: representation) else { return nil }
            self = .rsa(key)
        case .edDSA:
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: representation) else { return nil }
            self = .ed25519(key)
        default: return nil
        }
    }

    /// The private key in its storage format: DER for RSA, raw bytes for P-256 and Ed25519.
    var representation: [UInt8] {
        switch self {
        case .p256(let key): Array(key.rawRepresentation)
        case .rsa(let key): Array(key.derRepresentation)
        case .ed25519(let key): Array(key.rawRepresentation)
        }
    }

    func publicHalf() throws -> PublicKeyMaterial {
        switch self {
        case .p256(let key): return .p256(key.publicKey)
        case .rsa(let key):
            let numbers = try key.publicKey.getKeyPrimitives()
            let material = PublicKeyMaterial(
                modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent)
            )
            guard let material else { throw SigningKey.Failure.unusableKey }
            return material
        case .ed25519(let key): return .ed25519(key.publicKey)
        }
    }

    /// Signs bytes as defined in RFC 7518 §3.3 and §3.4 and RFC 8037 §3.1.
    func signature(for input: [UInt8]) throws -> Data {
        switch self {
        case .p256(let key): try key.signature(for: input).rawRepresentation
        case .rsa(let key):
            try key.signature(for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5).rawRepresentation
        case .ed25519(let key): try key.signature(for: input)
        }
    }
}
