import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
import Crypto

/// A private key that signs tokens.
///
/// The default ``id`` is the thumbprint of the public half (RFC 7638). The same key therefore has the same
/// identifier wherever it is stored. A description of the key does not contain the private half. Only
/// ``privateRepresentation`` returns it.
public struct SigningKey: Sendable {
    /// The reason why a key cannot be created or a token cannot be signed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The bytes are not a private key of the algorithm.
        case unusableKey
        /// A required claim is empty or invalid, or a time is outside the range of NumericDate.
        ///
        /// The associated value is the claim name.
        case unusableClaim(String)

        /// An explanation that contains no part of the key and no claim value.
        public var description: String {
            switch self {
            case .unusableKey: "the stored bytes are not a signing key of this algorithm"
            case .unusableClaim(let name): "the claim \(name) cannot be encoded"
            }
        }
    }

    /// The public half, with which other parties verify the signatures.
    public let publicKey: JSONWebKey

    private let material: PrivateKeyMaterial
    private let accessTokenHeader: [UInt8]
    private let idTokenHeader: [UInt8]

    private init(_ material: PrivateKeyMaterial, _ algorithm: SigningAlgorithm, id: KeyIdentifier? = nil) throws {
        self.material = material
        publicKey = JSONWebKey(try material.publicHalf(), algorithm: algorithm, id: id)
        accessTokenHeader = Self.header(of: publicKey, type: .accessToken)
        idTokenHeader = Self.header(of: publicKey, type: .idToken)
    }

    /// Generates a key.
    ///
    /// An RSA key has 2048 bits, and its generation takes up to one second.
    public static func generate(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        try SigningKey(PrivateKeyMaterial(generating: algorithm), algorithm)
    }

    /// Restores a key from the bytes of ``privateRepresentation``.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm of the key.
    ///   - privateRepresentation: The stored bytes.
    ///   - id: The identifier of the key; nil means its thumbprint.
    /// - Throws: ``Failure/unusableKey`` if the bytes are not a private key of the algorithm.
    public init(
        algorithm: SigningAlgorithm, privateRepresentation: some Sequence<UInt8>, id: KeyIdentifier? = nil
    ) throws {
        guard let material = PrivateKeyMaterial(algorithm, representation: Array(privateRepresentation)) else {
            throw Failure.unusableKey
        }
        try self.init(material, algorithm, id: id)
    }

    /// The identifier of the key: the given `kid`, or the thumbprint of the public half if none was given.
    public var id: KeyIdentifier { publicKey.id }

    /// The only algorithm with which the key signs.
    public var algorithm: SigningAlgorithm { publicKey.algorithm }

    /// The private key, which must be stored encrypted: 32 bytes for ES256, Ed25519 and EdDSA, DER for RS256.
    public var privateRepresentation: [UInt8] { material.representation }

    /// Signs claims of any type as a compact JWS with `alg`, `typ` and `kid` in its header (RFC 7515 §7.1).
    ///
    /// Times are encoded as seconds since 1970, with their fraction.
    public func sign(_ claims: some Encodable & Sendable, type: TokenType) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .withoutEscapingSlashes
        return try sign(json: Array(encoder.encode(claims)), type: type)
    }

    /// Signs an access token (RFC 9068 §2).
    public func sign(_ claims: AccessTokenClaims, type: TokenType = .accessToken) throws -> String {
        try sign(json: claims.json(), type: type)
    }

    /// Signs an ID token (OpenID Connect Core §2).
    public func sign(_ claims: IDTokenClaims, type: TokenType = .idToken) throws -> String {
        try sign(json: claims.json(), type: type)
    }

    /// Signs a logout token (OpenID Connect Back-Channel Logout §2.4).
    @_spi(Counterfoil) public func sign(_ claims: LogoutTokenClaims, type: TokenType = .logout) throws -> String {
        try sign(json: claims.json(), type: type)
    }

    /// Signs a DPoP proof, whose header contains the public half of this key (RFC 9449 §4.2).
    @_spi(Counterfoil) public func sign(_ claims: DPoPProofClaims) throws -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("alg", algorithm.rawValue)
            writer.member("typ", TokenType.proofOfPossession.rawValue)
            writer.member(
                "jwk",
                object: { jwk in for member in publicKey.publicMembers { jwk.member(member.name, member.value) } })
        }
        return try sign(json: claims.json(), after: Array(Base64URL.encode(writer.bytes).utf8))
    }

    /// Signs claims that are already encoded as one JSON object.
    @_spi(Counterfoil) public func sign(json claims: [UInt8], type: TokenType) throws -> String {
        let header =
            switch type {
            case .accessToken: accessTokenHeader
            case .idToken: idTokenHeader
            default: Self.header(of: publicKey, type: type)
            }
        return try sign(json: claims, after: header)
    }

    /// Signs bytes with ``algorithm``, or with PS256 if `isProbabilistic` is true and the key is an RSA key.
    @_spi(Counterfoil) public func signature(for input: [UInt8], isProbabilistic: Bool = false) throws -> [UInt8] {
        Array(try isProbabilistic ? material.probabilisticSignature(for: input) : material.signature(for: input))
    }

    private func sign(json claims: [UInt8], after header: [UInt8]) throws -> String {
        var token = header
        token.reserveCapacity(token.count + claims.count * 4 / 3 + 360)
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: Base64URL.encode(claims).utf8)
        let signature = Base64URL.encode(try material.signature(for: token))
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: signature.utf8)
        return String(decoding: token, as: UTF8.self)
    }

    private static func header(of key: JSONWebKey, type: TokenType) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("alg", key.algorithm.rawValue)
            writer.member("typ", type.rawValue)
            writer.member("kid", key.id.rawValue)
        }
        return Array(Base64URL.encode(writer.bytes).utf8)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The algorithm and the identifier, without the private key.
    public var description: String { "<SigningKey \(publicKey) redacted>" }
    /// The algorithm and the identifier, without the private key.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` does not print the private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
