import CounterfoilPlatform
import CounterfoilProtocol
import Crypto

/// The public half of a signing key, parsed and ready to verify signatures.
///
/// Each case makes exactly one kind of signature, so that a token cannot select another algorithm (RFC 8725 §3.1).
enum PublicKeyMaterial: Sendable {
    /// A key with the coordinates of its point, 64 octets, which take long to compute from the key.
    case p256(P256.Signing.PublicKey, point: [UInt8])
    case rsa(RSAPublicKey)
    case ed25519(Curve25519.Signing.PublicKey)

    /// Creates a P-256 key from the coordinates of a point, 32 octets each (RFC 7518 §6.2.1).
    ///
    /// Returns nil if the point is not on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        let point = x + y
        guard x.count == 32, y.count == 32, let key = try? P256.Signing.PublicKey(rawRepresentation: point) else {
            return nil
        }
        self = .p256(key, point: point)
    }

    /// Creates an RSA key of 2048 to 8192 bits; returns nil for any other key.
    ///
    /// RFC 7518 §3.3 requires the minimum. The maximum limits the work of a verification.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        guard let key = RSAPublicKey(modulus: modulus, exponent: exponent) else { return nil }
        self.init(rsa: key)
    }

    /// Creates an RSA key of 2048 to 8192 bits whose exponent is odd, larger than 1, and has at most 4 octets.
    init?(rsa key: RSAPublicKey) {
        guard (2048...8192).contains(key.bitCount), (1...4).contains(key.exponent.count),
            let last = key.exponent.last, last & 1 == 1, key.exponent != [1]
        else { return nil }
        self = .rsa(key)
    }

    /// Creates an Ed25519 key from 32 octets (RFC 8037 §2); returns nil if they are not a valid key.
    init?(ed25519 x: [UInt8]) {
        guard x.count == 32, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else { return nil }
        self = .ed25519(key)
    }

    /// The names of the only algorithm with which the key verifies signatures, the most widely known one first.
    ///
    /// RFC 9864 §2.2: `Ed25519` is `EdDSA` with an Ed25519 key.
    var algorithms: [SigningAlgorithm] {
        switch self {
        case .p256: [.es256]
        case .rsa: [.rs256]
        case .ed25519: [.edDSA, .ed25519]
        }
    }

    /// The required members of the JSON Web Key, in the order in which RFC 7638 §3.3 hashes them.
    var members: [(name: String, value: String)] {
        switch self {
        case .p256(_, let point):
            return [
                ("crv", "P-256"), ("kty", "EC"), ("x", Base64URL.encode(point.prefix(32))),
                ("y", Base64URL.encode(point.suffix(32))),
            ]
        case .rsa(let key):
            return [("e", Base64URL.encode(key.exponent)), ("kty", "RSA"), ("n", Base64URL.encode(key.modulus))]
        case .ed25519(let key):
            return [("crv", "Ed25519"), ("kty", "OKP"), ("x", Base64URL.encode(key.rawRepresentation))]
        }
    }

    /// Returns true if a signature is valid for the algorithm of the key (RFC 7515 §5.2 step 8).
    func isValidSignature(_ signature: [UInt8], for input: some DataProtocol) -> Bool {
        switch self {
        case .p256(let key, _):
            // RFC 7518 §3.4: the signature is R and S with 32 octets each; the ASN.1 form is rejected.
            guard signature.count == 64,
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: input)
        case .rsa(let key):
            guard signature.count == key.modulus.count else { return false }
            return key.isValidSignature(signature, for: input, padding: .pkcs1)
        case .ed25519(let key):
            guard signature.count == 64 else { return false }
            return key.isValidSignature(signature, for: input)
        }
    }
}
