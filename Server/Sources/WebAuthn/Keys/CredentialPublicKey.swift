import Crypto

/// The public key of a credential, a `COSE_Key` (WebAuthn §6.5.1, RFC 9052 §7).
///
/// An Ed25519 key is not checked to be on its curve: only its first signature shows that. An Ed25519 key of small order
/// is refused, because its signatures need no private key.
package struct CredentialPublicKey: Sendable {
    /// The reason why a key is not accepted.
    package enum Fault: Error, Sendable, Hashable {
        /// The bytes are not one CBOR map with an algorithm.
        case malformed
        /// The algorithm is not one that this module verifies.
        case unsupportedAlgorithm
        /// The type or the curve of the key does not belong to its algorithm, a number of the key is missing or has
        /// another size, there is an optional member, the point of an ECDSA key is not on its curve, or the point of an
        /// Ed25519 key has small order.
        case unusable
    }

    /// The algorithm of the signatures of the key.
    package let algorithm: COSEAlgorithm
    /// The key as the authenticator has encoded it, to be stored.
    package let coseBytes: [UInt8]
    private let key: SignatureKey

    /// Restores a key that was stored.
    package init(coseBytes: [UInt8]) throws(Fault) {
        guard let value = try? CBORReader.value(of: coseBytes) else { throw .malformed }
        try self.init(value, coseBytes: coseBytes)
    }

    /// Reads a key; `coseBytes` is its encoding.
    ///
    /// Optional members are refused (WebAuthn §6.5.1).
    init(_ value: CBORValue, coseBytes: [UInt8]) throws(Fault) {
        guard let members = value.members, let type = members[.key(Label.type)]?.integer,
            let number = members[.key(Label.algorithm)]?.integer
        else { throw .malformed }
        let algorithm = COSEAlgorithm(rawValue: number)
        guard let shape = Self.shapes[algorithm] else { throw .unsupportedAlgorithm }
        guard type == shape.type, members.count == shape.memberCount,
            let key = Self.key(of: members, algorithm, shape)
        else { throw .unusable }
        self.algorithm = algorithm
        self.coseBytes = coseBytes
        self.key = key
    }

    /// Returns true if a signature is valid for some bytes (WebAuthn §6.5.5).
    func isValidSignature(_ signature: [UInt8], for input: [UInt8]) -> Bool {
        key.isValidSignature(signature, for: input)
    }

    /// The labels of the members (RFC 9052 §7.1, RFC 9053 §7, RFC 8230 §4).
    private enum Label {
        static let type: Int64 = 1
        static let algorithm: Int64 = 3
        /// `crv`; the modulus of an RSA key.
        static let first: Int64 = -1
        /// `x`; the exponent of an RSA key.
        static let second: Int64 = -2
        /// `y`.
        static let third: Int64 = -3
    }

    /// The form of the keys of an algorithm.
    ///
    /// WebAuthn §5.8.5 ties each algorithm to one curve, and forbids the compressed form of points.
    private struct Shape {
        /// `kty`.
        let type: Int64
        /// `crv`; nil for RSA.
        let curve: Int64?
        /// The size of a coordinate in bytes.
        let size: Int
        /// The number of members, with `kty` and `alg`.
        let memberCount: Int
    }

    private static let shapes: [COSEAlgorithm: Shape] = [
        .es256: Shape(type: 2, curve: 1, size: 32, memberCount: 5),
        .es384: Shape(type: 2, curve: 2, size: 48, memberCount: 5),
        .es512: Shape(type: 2, curve: 3, size: 66, memberCount: 5),
        .edDSA: Shape(type: 1, curve: 6, size: 32, memberCount: 4),
        .rs256: Shape(type: 3, curve: nil, size: 0, memberCount: 4),
    ]

    private static func key(
        of members: [CBORValue: CBORValue], _ algorithm: COSEAlgorithm, _ shape: Shape
    ) -> SignatureKey? {
        guard let second = members[.key(Label.second)]?.bytes else { return nil }
        guard let curve = shape.curve else {
            guard let modulus = members[.key(Label.first)]?.bytes else { return nil }
            return SignatureKey(modulus: modulus, exponent: second)
        }
        guard members[.key(Label.first)]?.integer == curve, second.count == shape.size else { return nil }
        if algorithm == .edDSA { return SignatureKey(ed25519: second) }
        guard let third = members[.key(Label.third)]?.bytes, third.count == shape.size else { return nil }
        // The initializers refuse a point that is not on the curve.
        switch algorithm {
        case .es256: return (try? P256.Signing.PublicKey(rawRepresentation: second + third)).map(SignatureKey.es256)
        case .es384: return (try? P384.Signing.PublicKey(rawRepresentation: second + third)).map(SignatureKey.es384)
        default: return (try? P521.Signing.PublicKey(rawRepresentation: second + third)).map(SignatureKey.es512)
        }
    }
}

extension CredentialPublicKey: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.coseBytes == right.coseBytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(coseBytes) }
}
