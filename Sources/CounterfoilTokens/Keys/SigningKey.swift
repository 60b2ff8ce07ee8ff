import CounterfoilProtocol
import Crypto
import CryptoExtras
import Foundation

/// A private key that signs tokens.
///
/// Its name is the thumbprint of its public half (RFC 7638), so that the same key has the same name wherever it is stored,
/// unless somebody else has named it.
/// It prints as redacted; ``privateRepresentation`` is the one way to the secret.
public struct SigningKey: Sendable {
    /// Why a key cannot be made or a token cannot be signed.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The bytes are not a private key of the algorithm.
        case unusableKey
        /// A claim cannot be written: an empty subject or audience, a time that is no NumericDate.
        case unusableClaim(String)

        /// What failed, without any part of the key or the claims' values.
        public var description: String {
            switch self {
            case .unusableKey: "the stored bytes are not a signing key of this algorithm"
            case .unusableClaim(let name): "the claim \(name) cannot be written"
            }
        }
    }

    /// The public half, as it is published.
    public let publicKey: JSONWebKey

    private let material: PrivateKeyMaterial
    private let accessTokenHeader: [UInt8]
    private let idTokenHeader: [UInt8]

    private init(_ material: PrivateKeyMaterial, id: KeyIdentifier? = nil) throws {
        self.material = material
        publicKey = JSONWebKey(try material.publicHalf(), id: id)
        accessTokenHeader = Self.header(of: publicKey, type: .accessToken)
        idTokenHeader = Self.header(of: publicKey, type: .idToken)
    }

    /// Makes a new key; one of RSA has 2048 bits and takes up to a second.
    public static func generate(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        try SigningKey(PrivateKeyMaterial(generating: algorithm))
    }

    /// Restores a key from the bytes of ``privateRepresentation``; `id` is its name where it is not the thumbprint.
    public init(
        algorithm: SigningAlgorithm, privateRepresentation: some Sequence<UInt8>, id: KeyIdentifier? = nil
    ) throws {
        guard let material = PrivateKeyMaterial(algorithm, representation: Array(privateRepresentation)) else {
            throw Failure.unusableKey
        }
        try self.init(material, id: id)
    }

    /// The name of the key: the thumbprint of its public half, unless it was given another.
    public var id: KeyIdentifier { publicKey.id }

    /// The algorithm that the key signs with.
    public var algorithm: SigningAlgorithm { publicKey.algorithm }

    /// The secret itself, for storage that seals it: 32 bytes for ES256 and EdDSA, DER for RS256.
    public var privateRepresentation: [UInt8] { material.representation }

    /// Signs claims of any kind: a compact JWS with `alg`, `typ` and `kid` in its header (RFC 7515 §7.1).
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
    public func sign(_ claims: LogoutTokenClaims, type: TokenType = .logout) throws -> String {
        try sign(json: claims.json(), type: type)
    }

    /// Signs a proof of possession, with the public half of the key itself in its header (RFC 9449 §4.2).
    public func sign(_ claims: DPoPProofClaims) throws -> String {
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

    /// Signs claims that are written already: one JSON object.
    package func sign(json claims: [UInt8], type: TokenType) throws -> String {
        let header =
            switch type {
            case .accessToken: accessTokenHeader
            case .idToken: idTokenHeader
            default: Self.header(of: publicKey, type: type)
            }
        return try sign(json: claims, after: header)
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
    /// The algorithm and the name; the secret stays out.
    public var description: String { "<SigningKey \(publicKey) redacted>" }
    /// The algorithm and the name; the secret stays out.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` does not either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
