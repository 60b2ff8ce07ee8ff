import Crypto
import CryptoExtras
import Foundation
import X509

/// A public key with the only algorithm for which it verifies signatures.
enum SignatureKey: Sendable {
    case es256(P256.Signing.PublicKey)
    case es384(P384.Signing.PublicKey)
    case es512(P521.Signing.PublicKey)
    case edDSA(Curve25519.Signing.PublicKey)
    case rs256(_RSA.Signing.PublicKey)

    /// The sizes in bits of the RSA keys that are accepted, of which the maximum limits the work of a verification.
    private static let rsaSizes = 2048...8192

    /// Creates an RSA key from a modulus and an exponent without leading zeros (RFC 8230 §4).
    ///
    /// Returns nil if the size is not from 2048 to 8192 bits, or the exponent is even, 1, or longer than 4 bytes.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        guard let first = modulus.first, first > 0,
            Self.rsaSizes.contains(modulus.count * 8 - first.leadingZeroBitCount),
            (1...4).contains(exponent.count), exponent.first != 0, exponent != [1],
            let last = exponent.last, last & 1 == 1,
            let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
        else { return nil }
        self = .rs256(key)
    }

    /// Creates the key of a certificate; returns nil if it is not a key for the algorithm.
    init?(_ key: Certificate.PublicKey, algorithm: COSEAlgorithm) {
        switch algorithm {
        case .es256:
            guard let key = P256.Signing.PublicKey(key) else { return nil }
            self = .es256(key)
        case .es384:
            guard let key = P384.Signing.PublicKey(key) else { return nil }
            self = .es384(key)
        case .es512:
            guard let key = P521.Signing.PublicKey(key) else { return nil }
            self = .es512(key)
        case .edDSA:
            guard let key = Curve25519.Signing.PublicKey(key) else { return nil }
            self = .edDSA(key)
        case .rs256:
            guard let numbers = try? _RSA.Signing.PublicKey(key)?.getKeyPrimitives() else { return nil }
            self.init(
                modulus: Array(numbers.modulus.drop { $0 == 0 }),
                exponent: Array(numbers.publicExponent.drop { $0 == 0 }))
        default: return nil
        }
    }

    /// Returns true if a signature is valid for some bytes (WebAuthn §6.5.5).
    func isValidSignature(_ signature: [UInt8], for input: [UInt8]) -> Bool {
        switch self {
        case .es256(let key):
            (try? P256.Signing.ECDSASignature(derRepresentation: signature))
                .map { key.isValidSignature($0, for: input) } ?? false
        case .es384(let key):
            (try? P384.Signing.ECDSASignature(derRepresentation: signature))
                .map { key.isValidSignature($0, for: input) } ?? false
        case .es512(let key):
            (try? P521.Signing.ECDSASignature(derRepresentation: signature))
                .map { key.isValidSignature($0, for: input) } ?? false
        case .edDSA(let key): key.isValidSignature(signature, for: input)
        case .rs256(let key):
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: input),
                padding: .insecurePKCS1v1_5)
        }
    }
}
