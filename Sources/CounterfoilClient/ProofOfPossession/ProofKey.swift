import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto

/// A DPoP key to which tokens are bound, so that a stolen token cannot be used without the key.
///
/// RFC 9449, with ES256. The private key stays on the device, in the store that holds the tokens.
public struct ProofKey: Sendable, Hashable {
    private let key: P256.Signing.PrivateKey

    package init() { key = P256.Signing.PrivateKey() }

    private init(_ key: P256.Signing.PrivateKey) { self.key = key }

    /// `jkt` and `dpop_jkt`: the thumbprint of the public key (RFC 7638), in base64url.
    public var thumbprint: String {
        let point = [UInt8](key.publicKey.rawRepresentation)
        let x = Base64URL.encode(point[..<32])
        let y = Base64URL.encode(point[32...])
        return Base64URL.encode(SHA256.hash(data: Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
    }

    func sign(_ claims: DPoPProofClaims) throws -> String {
        try SigningKey(algorithm: .es256, privateRepresentation: key.rawRepresentation).sign(claims)
    }

    /// Returns true if two values have the same public key.
    public static func == (left: ProofKey, right: ProofKey) -> Bool {
        left.key.publicKey.rawRepresentation == right.key.publicKey.rawRepresentation
    }

    /// Hashes the public key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.publicKey.rawRepresentation) }
}

/// The encoding for a token store.
extension ProofKey: Codable {
    /// Decodes a key that ``encode(to:)`` has encoded for a token store.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Base64URL.decode(try container.decode(String.self)),
            let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "malformed") }
        self.init(key)
    }

    /// Encodes the private key for a token store.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Base64URL.encode(key.rawRepresentation))
    }
}

extension ProofKey: CustomStringConvertible, CustomReflectable {
    /// The thumbprint, without the private key.
    public var description: String { "<ProofKey \(thumbprint)>" }
    /// An empty mirror, so that `dump` does not show the private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
