import CounterfoilPlatform

#if canImport(Security)
    import Security
#else
    import Crypto
    import CryptoExtras
#endif

/// The padding of an RSA signature with SHA-256.
enum RSAPadding: Sendable {
    /// RSASSA-PKCS1-v1_5 (RFC 7518 §3.3).
    case pkcs1
    /// RSASSA-PSS with a salt of 32 bytes (RFC 7518 §3.5).
    case pss
}

/// An RSA public key; Apple's Security framework verifies its signatures where it exists, and BoringSSL elsewhere.
struct RSAPublicKey: Sendable {
    /// The modulus in network byte order, without leading zeros.
    let modulus: [UInt8]
    /// The public exponent in network byte order, without leading zeros.
    let exponent: [UInt8]

    /// The length of the modulus in bits.
    var bitCount: Int { modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0) }

    #if canImport(Security)
        /// Creates a key; returns nil if the system does not accept the numbers.
        init?(modulus: [UInt8], exponent: [UInt8]) {
            self.modulus = Array(modulus.drop { $0 == 0 })
            self.exponent = Array(exponent.drop { $0 == 0 })
            guard key != nil else { return nil }
        }

        // `SecKey` is created for each use, because not every SDK declares that it is Sendable.
        private var key: SecKey? {
            SecKey.rsa(RSAKeyEncoding.publicKey(modulus: modulus, exponent: exponent), kSecAttrKeyClassPublic)
        }

        func isValidSignature(_ signature: [UInt8], for input: some DataProtocol, padding: RSAPadding) -> Bool {
            guard let key else { return false }
            return SecKeyVerifySignature(
                key, padding.algorithm, Data(input) as CFData, Data(signature) as CFData, nil)
        }
    #else
        private let key: _RSA.Signing.PublicKey

        /// Creates a key; returns nil if BoringSSL does not accept the numbers.
        init?(modulus: [UInt8], exponent: [UInt8]) {
            self.modulus = Array(modulus.drop { $0 == 0 })
            self.exponent = Array(exponent.drop { $0 == 0 })
            guard let key = try? _RSA.Signing.PublicKey(n: self.modulus, e: self.exponent) else { return nil }
            self.key = key
        }

        func isValidSignature(_ signature: [UInt8], for input: some DataProtocol, padding: RSAPadding) -> Bool {
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: input),
                padding: padding.implementation)
        }
    #endif
}

/// An RSA private key.
struct RSAPrivateKey: Sendable {
    #if canImport(Security)
        /// The key as PKCS #1 (RFC 8017 appendix A.1.2).
        let derRepresentation: [UInt8]

        /// Generates a key of 2048 bits.
        init() throws {
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048]
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil),
                let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
            else { throw SigningKey.Failure.unusableKey }
            derRepresentation = Array(bytes)
        }

        /// Restores a key from PKCS #1 or PKCS #8; returns nil if the bytes are not an RSA private key.
        init?(derRepresentation: [UInt8]) {
            guard let bytes = RSAKeyEncoding.privateKey(in: derRepresentation) else { return nil }
            self.derRepresentation = bytes
            guard key != nil else { return nil }
        }

        private var key: SecKey? { SecKey.rsa(derRepresentation, kSecAttrKeyClassPrivate) }

        /// The public half; throws if the system does not return it.
        func publicKey() throws -> RSAPublicKey {
            guard let key = key.flatMap(SecKeyCopyPublicKey),
                let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                let numbers = RSAKeyEncoding.numbers(ofPublicKey: Array(bytes)),
                let publicKey = RSAPublicKey(modulus: numbers.modulus, exponent: numbers.exponent)
            else { throw SigningKey.Failure.unusableKey }
            return publicKey
        }

        /// Signs bytes with SHA-256; throws if the key is too short for the padding.
        func signature(for input: [UInt8], padding: RSAPadding) throws -> Data {
            guard let key,
                let bytes = SecKeyCreateSignature(key, padding.algorithm, Data(input) as CFData, nil) as Data?
            else { throw SigningKey.Failure.unusableKey }
            return bytes
        }
    #else
        private let key: _RSA.Signing.PrivateKey

        /// Generates a key of 2048 bits.
        init() throws { key = try _RSA.Signing.PrivateKey(keySize: .bits2048) }

        /// Restores a key from PKCS #1 or PKCS #8; returns nil if the bytes are not an RSA private key.
        init?(derRepresentation: [UInt8]) {
            guard let key = try? _RSA.Signing.PrivateKey(derRepresentation: derRepresentation) else { return nil }
            self.key = key
        }

        /// The key as PKCS #1 (RFC 8017 appendix A.1.2).
        var derRepresentation: [UInt8] { Array(key.derRepresentation) }

        /// The public half; throws if BoringSSL does not return its numbers.
        func publicKey() throws -> RSAPublicKey {
            let numbers = try key.publicKey.getKeyPrimitives()
            guard
                let publicKey = RSAPublicKey(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent))
            else { throw SigningKey.Failure.unusableKey }
            return publicKey
        }

        /// Signs bytes with SHA-256; throws if the key is too short for the padding.
        func signature(for input: [UInt8], padding: RSAPadding) throws -> Data {
            try key.signature(for: SHA256.hash(data: input), padding: padding.implementation).rawRepresentation
        }
    #endif
}

#if canImport(Security)
    extension RSAPadding {
        fileprivate var algorithm: SecKeyAlgorithm {
            switch self {
            case .pkcs1: .rsaSignatureMessagePKCS1v15SHA256
            case .pss: .rsaSignatureMessagePSSSHA256
            }
        }
    }

    extension SecKey {
        /// Creates an RSA key from PKCS #1.
        fileprivate static func rsa(_ bytes: [UInt8], _ keyClass: CFString) -> SecKey? {
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: keyClass]
            return SecKeyCreateWithData(Data(bytes) as CFData, attributes as CFDictionary, nil)
        }
    }
#else
    extension RSAPadding {
        fileprivate var implementation: _RSA.Signing.Padding {
            switch self {
            case .pkcs1: .insecurePKCS1v1_5
            case .pss: .PSS
            }
        }
    }
#endif
