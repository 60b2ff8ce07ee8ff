import CounterfoilProtocol
import CounterfoilTokens
import Crypto
public import Foundation

/// A private key with which a client authenticates by `private_key_jwt`.
///
/// RFC 7523 §2.2, OpenID Connect Core §9: P-256 (ES256) or Ed25519 (EdDSA). The server has the public key.
/// The private key is stored with the tokens, because a refresh needs it. ``description`` does not contain the
/// private key.
public struct ClientKey: Sendable, Hashable {
    let key: SigningKey

    /// The lifetime of an assertion, in seconds: enough for one request to a server whose clock is slightly ahead.
    private static let lifetime: TimeInterval = 60

    /// The reason why a text or file was rejected as a private key for `private_key_jwt`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file does not exist or cannot be read.
        case noFile(path: String, reason: String)
        /// Other users can read or change the file, so the client did not read it.
        case notPrivate(path: String, reason: String)
        /// The text is not a private key in a supported format on P-256 or Ed25519, or the key has a password.
        case unusable
        /// The key identifier (`kid`) is empty or longer than 256 bytes.
        case badName

        /// A description of the problem and its remedy, without any part of the key.
        public var description: String {
            switch self {
            case .noFile(let path, let reason): "cannot read the client key \(path): \(reason)"
            case .notPrivate(let path, let reason): "the client key is not private: \(path) \(reason)"
            case .unusable:
                "the client key must be a private key on P-256 or Ed25519, without a password, as PEM or as a JSON Web Key"
            case .badName: "the ID of the client key must have 1 to \(KeyIdentifier.byteLimit) bytes"
            }
        }
    }

    /// Generates a P-256 key.
    public init() throws { key = try SigningKey.generate(.es256) }

    /// Parses a private key: PEM (PKCS #8, or SEC 1 for P-256), or a JSON Web Key.
    ///
    /// `id` is the `kid` under which the server knows the key. If `id` is nil, the `kid` of the JSON Web Key is used.
    /// If the text contains no `kid` either, the thumbprint of the key is used (RFC 7638).
    public init(_ text: String, id: String? = nil) throws(Refusal) {
        guard let read = PrivateKeyText(text) else { throw .unusable }
        try self.init(read.algorithm, read.representation, id: id ?? read.id)
    }

    private init(
        _ algorithm: SigningAlgorithm, _ representation: [UInt8], id: String?
    ) throws(Refusal) {
        if let id { guard (1...KeyIdentifier.byteLimit).contains(id.utf8.count) else { throw .badName } }
        do {
            key = try SigningKey(
                algorithm: algorithm, privateRepresentation: representation, id: id.map { KeyIdentifier($0) })
        } catch { throw .unusable }
    }

    #if !os(Windows)
        /// Reads a private key from a file that the user owns, that has mode 0600, and that is not a symbolic link.
        public init(contentsOf file: URL, id: String? = nil) throws(Refusal) {
            let bytes: [UInt8]?
            do { bytes = try PrivateFile(path: file.path).read() } catch {
                switch error {
                case .notPrivate(let path, let reason): throw .notPrivate(path: path, reason: reason)
                case .failed(let path, let reason): throw .noFile(path: path, reason: reason)
                default: throw .noFile(path: file.path, reason: "\(error)")
                }
            }
            guard let bytes else { throw .noFile(path: file.path, reason: "the file does not exist") }
            try self.init(String(decoding: bytes, as: UTF8.self), id: id)
        }
    #endif

    /// `kid`: the identifier under which the server knows the key.
    public var id: String { key.id.rawValue }

    /// Signs an assertion of a client for one request to one server.
    ///
    /// The audience is the issuer of the server, never the URL of an endpoint. A malicious server could publish an
    /// endpoint URL of an honest server in its metadata. If the client used that URL as the audience, the malicious
    /// server could obtain assertions that the honest server accepts (OAuth 2.0 Security Topics Update §2.1).
    func assertion(of client: ClientIdentifier, for issuer: Issuer, at now: Date) throws -> String {
        let time = Int64(now.timeIntervalSince1970)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("iss", client.rawValue)
            writer.member("sub", client.rawValue)
            writer.member("aud", issuer.rawValue)
            writer.member("jti", Base64URL.encode(RandomBytes().bytes(16)))
            writer.member("iat", time)
            writer.member("exp", time + Int64(Self.lifetime))
        }
        return try key.sign(json: writer.bytes, type: .idToken)
    }

    /// Returns true if two values have the same public key and the same identifier.
    public static func == (left: ClientKey, right: ClientKey) -> Bool { left.key.publicKey == right.key.publicKey }

    /// Hashes the public key and its identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.publicKey) }
}

/// The encoding for a token store.
extension ClientKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case id = "kid"
        case representation = "key"
    }

    /// Decodes a key that ``encode(to:)`` has encoded for a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let text = try values.decode(String.self, forKey: .representation)
        guard let bytes = Base64URL.decode(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .representation, in: values, debugDescription: "malformed")
        }
        try self.init(
            try values.decode(SigningAlgorithm.self, forKey: .algorithm), bytes,
            id: try values.decode(String.self, forKey: .id))
    }

    /// Encodes the key for a token store, including the private key.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(key.algorithm, forKey: .algorithm)
        try values.encode(id, forKey: .id)
        try values.encode(Base64URL.encode(key.privateRepresentation), forKey: .representation)
    }
}

extension ClientKey: CustomStringConvertible, CustomReflectable {
    /// The algorithm and the key identifier, without the private key.
    public var description: String { "<ClientKey \(key.publicKey)>" }
    /// An empty mirror, so that `dump` does not show the private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
