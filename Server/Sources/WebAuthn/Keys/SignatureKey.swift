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

    /// Creates an Ed25519 key; returns nil if it has not 32 bytes or is one of the points of small order.
    ///
    /// A key of small order accepts signatures that were made without a private key.
    init?(ed25519 bytes: [UInt8]) {
        guard !Self.hasSmallOrder(bytes), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        else { return nil }
        self = .edDSA(key)
    }

    /// Returns true if the bytes encode a point whose order divides 8, the cofactor of Curve25519.
    private static func hasSmallOrder(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32 else { return false }
        // The highest bit is the sign of x; the others are y (RFC 8032 §5.1.2).
        let y = bytes.dropLast() + [bytes[31] & 0x7F]
        return smallOrders.contains(Array(y))
    }

    /// The values of y of the points of small order, also those that are not less than p = 2^255 - 19.
    private static let smallOrders: Set<[UInt8]> = {
        func number(_ first: UInt8, _ others: UInt8, _ last: UInt8) -> [UInt8] {
            [first] + Array(repeating: others, count: 30) + [last]
        }
        return [
            number(0x00, 0x00, 0x00), number(0x01, 0x00, 0x00),  // 0 and 1
            number(0xEC, 0xFF, 0x7F), number(0xED, 0xFF, 0x7F), number(0xEE, 0xFF, 0x7F),  // p - 1, p and p + 1
            [
                0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
                0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
            ],
            [
                0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
                0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
            ],
        ]
    }()

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
            self.init(ed25519: Array(key.rawRepresentation))
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
