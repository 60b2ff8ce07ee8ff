public import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto

/// A private key with which a client authenticates by `private_key_jwt`.
///
/// RFC 7523 §2.2, OpenID Connect Core §9: P-256 (ES256), Ed25519 (EdDSA or Ed25519), RSA (RS256 or PS256), or of a
/// ``ClientSigner``. The server has the public key. The private key is stored with the tokens, because a refresh needs
/// it. ``description`` does not contain the private key.
public struct ClientKey: Sendable, Hashable {
    /// A signature algorithm of client assertions, with its name in RFC 7518 §3.1, RFC 8037 §3.1 or RFC 9864 §2.2.
    public struct Algorithm: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// `alg`, such as `ES256`.
        public let rawValue: String

        /// Creates an algorithm from its name, which is not checked.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ECDSA on P-256 with SHA-256.
        public static let es256 = Self(rawValue: "ES256")
        /// ECDSA on P-384 with SHA-384, for a ``ClientSigner`` only.
        public static let es384 = Self(rawValue: "ES384")
        /// RSASSA-PKCS1-v1_5 with SHA-256, the algorithm of an RSA key unless it names another one.
        public static let rs256 = Self(rawValue: "RS256")
        /// RSASSA-PSS with SHA-256.
        public static let ps256 = Self(rawValue: "PS256")
        /// EdDSA with Ed25519 by its fully specified name, for a server that does not announce `EdDSA`.
        public static let ed25519 = Self(rawValue: "Ed25519")
        /// EdDSA with Ed25519, the algorithm of such a key unless it names ``ed25519``.
        public static let edDSA = Self(rawValue: "EdDSA")

        /// The name of the algorithm.
        public var description: String { rawValue }
    }

    /// The audience of client assertions (`aud`, RFC 7523 §3).
    public enum AssertionAudience: String, Sendable, Hashable, Codable, CaseIterable {
        /// The issuer of the server, which no other server accepts.
        case issuer
        /// The URL of the token endpoint, for older servers that do not accept their issuer.
        ///
        /// A malicious server could name the token endpoint of an honest server in its metadata, and use the assertion
        /// there. The client therefore refuses a token endpoint at another origin than the issuer's.
        case tokenEndpoint = "token-endpoint"
    }

    /// The algorithm and the identifier of a key that a ``ClientSigner`` holds.
    struct Reference: Hashable, Sendable {
        let algorithm: Algorithm
        let id: String
    }

    private enum Material: Sendable {
        case inMemory(SigningKey)
        case elsewhere(Reference, (any ClientSigner)?)
    }

    private let material: Material
    /// `alg`: the algorithm of the signatures.
    public let algorithm: Algorithm
    /// The audience of the assertions; nil means that of the vendor profile, and the issuer if there is no profile.
    public var assertionAudience: AssertionAudience?

    /// The lifetime of an assertion, in seconds: enough for one request to a server whose clock is slightly ahead.
    private static let lifetime: TimeInterval = 60

    /// The reason why a text or file was rejected as a private key for `private_key_jwt`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file does not exist or cannot be read.
        case noFile(path: String, reason: String)
        /// Other users can read or change the file, so the client did not read it.
        case notPrivate(path: String, reason: String)
        /// The text is not a private key in a supported format, or the key has a password.
        case unusable
        /// The key identifier (`kid`) is empty or longer than 256 bytes.
        case badName

        /// A description of the problem and its remedy, without any part of the key.
        public var description: String {
            switch self {
            case .noFile(let path, let reason): "cannot read the client key \(path): \(reason)"
            case .notPrivate(let path, let reason): "the client key is not private: \(path) \(reason)"
            case .unusable:
                "the client key must be a private key on P-256 or Ed25519, or an RSA key of at least 2048 bits, without a"
                    + " password, as PEM or as a JSON Web Key"
            case .badName: "the ID of the client key must have 1 to \(KeyIdentifier.byteLimit) bytes"
            }
        }
    }

    /// Generates a P-256 key.
    public init() throws {
        material = .inMemory(try SigningKey.generate(.es256))
        algorithm = .es256
    }

    /// Creates a key whose private half only a signer can use.
    public init(_ signer: any ClientSigner) {
        material = .elsewhere(Reference(algorithm: signer.algorithm, id: signer.keyID), signer)
        algorithm = signer.algorithm
    }

    /// Parses a private key: PEM (PKCS #8, or SEC 1 for P-256, or PKCS #1 for RSA), or a JSON Web Key.
    ///
    /// `id` is the `kid` under which the server knows the key. If `id` is nil, the `kid` of the JSON Web Key is used.
    /// If the text contains no `kid` either, the thumbprint of the key is used (RFC 7638). An RSA key signs with RS256,
    /// unless the JSON Web Key or `algorithm` names PS256, and an Ed25519 key with EdDSA, unless they name Ed25519.
    public init(_ text: String, id: String? = nil, algorithm: Algorithm? = nil) throws(Refusal) {
        guard let read = PrivateKeyText(text) else { throw .unusable }
        try self.init(
            read.algorithm, read.representation, id: id ?? read.id, signing: algorithm ?? read.statedAlgorithm)
    }

    private init(
        _ kind: SigningAlgorithm, _ representation: [UInt8], id: String?, signing algorithm: Algorithm?
    ) throws(Refusal) {
        if let id { guard (1...KeyIdentifier.byteLimit).contains(id.utf8.count) else { throw .badName } }
        let usual = Algorithm(rawValue: kind.rawValue)
        let chosen = algorithm ?? usual
        guard chosen == usual || (kind == .rs256 && chosen == .ps256) || (kind == .edDSA && chosen == .ed25519) else {
            throw .unusable
        }
        let key: SigningKey
        do {
            key = try SigningKey(
                algorithm: chosen == .ed25519 ? .ed25519 : kind, privateRepresentation: representation,
                id: id.map { KeyIdentifier($0) })
        } catch { throw .unusable }
        material = .inMemory(key)
        self.algorithm = chosen
    }

    private init(_ material: Material, _ algorithm: Algorithm, assertionAudience: AssertionAudience?) {
        self.material = material
        self.algorithm = algorithm
        self.assertionAudience = assertionAudience
    }

    #if !os(Windows)
        /// Reads a private key from a file that the user owns, that has mode 0600, and that is not a symbolic link.
        public init(contentsOf file: URL, id: String? = nil, algorithm: Algorithm? = nil) throws(Refusal) {
            let bytes: [UInt8]?
            do { bytes = try PrivateFile(path: file.path).read() } catch {
                switch error {
                case .notPrivate(let path, let reason): throw .notPrivate(path: path, reason: reason)
                case .failed(let path, let reason): throw .noFile(path: path, reason: reason)
                default: throw .noFile(path: file.path, reason: "\(error)")
                }
            }
            guard let bytes else { throw .noFile(path: file.path, reason: "the file does not exist") }
            try self.init(String(decoding: bytes, as: UTF8.self), id: id, algorithm: algorithm)
        }
    #endif

    /// `kid`: the identifier under which the server knows the key.
    public var id: String {
        switch material {
        case .inMemory(let key): key.id.rawValue
        case .elsewhere(let reference, _): reference.id
        }
    }

    /// The public key, which a dynamic registration contains; nil if the signer does not provide it.
    var publicKey: JSONWebKey? {
        switch material {
        case .inMemory(let key): key.publicKey
        case .elsewhere(let reference, let signer): (signer ?? ClientSigners.signer(for: reference))?.publicKey
        }
    }

    /// Signs an assertion of a client for one request to one server.
    ///
    /// The audience is the issuer of the server, unless ``assertionAudience`` or the vendor profile names the token
    /// endpoint. A malicious server could publish an endpoint URL of an honest server in its metadata. If the client
    /// used that URL as the audience, the malicious server could obtain assertions that the honest server accepts
    /// (OAuth 2.0 Security Topics Update §2.1).
    func assertion(
        of client: ClientIdentifier, at server: AuthorizationServerConfiguration, now: Date
    ) async throws(TransportFailure) -> String {
        let audience = try audience(at: server)
        var header = JSONWriter()
        header.object { header in
            header.member("alg", algorithm.rawValue)
            header.member("typ", TokenType.idToken.rawValue)
            header.member("kid", id)
        }
        let time = Int64(now.timeIntervalSince1970)
        var claims = JSONWriter()
        claims.object { writer in
            writer.member("iss", client.rawValue)
            writer.member("sub", client.rawValue)
            writer.member("aud", audience)
            writer.member("jti", Base64URL.encode(RandomBytes().bytes(16)))
            writer.member("iat", time)
            writer.member("exp", time + Int64(Self.lifetime))
        }
        let input = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(input).\(Base64URL.encode(try await signature(for: Array(input.utf8))))"
    }

    private func audience(at server: AuthorizationServerConfiguration) throws(TransportFailure) -> String {
        switch assertionAudience ?? server.behavior.assertionAudience {
        case .issuer: return server.issuer.rawValue
        case .tokenEndpoint:
            guard server.tokenEndpoint.origin.lowercased() == server.issuer.origin || server.vendor != nil else {
                throw .notSigned(
                    reason: "the token endpoint of \(server.issuer) is at another origin,"
                        + " \(server.tokenEndpoint.origin), so it cannot be the audience of a client assertion")
            }
            return server.tokenEndpoint.rawValue
        }
    }

    private func signature(for input: [UInt8]) async throws(TransportFailure) -> [UInt8] {
        do {
            switch material {
            case .inMemory(let key): return try key.signature(for: input, isProbabilistic: algorithm == .ps256)
            case .elsewhere(let reference, let signer):
                guard let signer = signer ?? ClientSigners.signer(for: reference) else { break }
                return try await signer.signature(for: input)
            }
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .notSigned(reason: "the client key \(shownID) failed to sign: \(Self.shown("\(error)"))")
        }
        throw .notSigned(
            reason: "no signer has the client key \(shownID); pass it to ClientSigners.register when the program starts"
        )
    }

    private var shownID: String { Self.shown(id) }

    private static func shown(_ text: String) -> String { String(text.prefix(200)).strippingControlCharacters }

    /// Returns true if two values have the same key, the same identifier and the same algorithm.
    public static func == (left: ClientKey, right: ClientKey) -> Bool {
        guard left.algorithm == right.algorithm else { return false }
        return switch (left.material, right.material) {
        case (.inMemory(let left), .inMemory(let right)): left.publicKey == right.publicKey
        case (.elsewhere(let left, _), .elsewhere(let right, _)): left == right
        case (.inMemory, .elsewhere), (.elsewhere, .inMemory): false
        }
    }

    /// Hashes the identifier and the algorithm.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(algorithm)
    }
}

/// The encoding for a token store.
extension ClientKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case id = "kid"
        case representation = "key"
        case assertionAudience = "assertion_audience"
    }

    /// Decodes a key that ``encode(to:)`` has encoded for a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let algorithm = try values.decode(Algorithm.self, forKey: .algorithm)
        let id = try values.decode(String.self, forKey: .id)
        let audience = try values.decodeIfPresent(AssertionAudience.self, forKey: .assertionAudience)
        guard let text = try values.decodeIfPresent(String.self, forKey: .representation) else {
            self.init(.elsewhere(Reference(algorithm: algorithm, id: id), nil), algorithm, assertionAudience: audience)
            return
        }
        let kind = algorithm == .ps256 ? .rs256 : SigningAlgorithm(rawValue: algorithm.rawValue)
        guard let bytes = Base64URL.decode(text), let kind else {
            throw DecodingError.dataCorruptedError(
                forKey: .representation, in: values, debugDescription: "malformed")
        }
        try self.init(kind, bytes, id: id, signing: algorithm)
        assertionAudience = audience
    }

    /// Encodes the key for a token store, including the private key unless a signer holds it.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(algorithm, forKey: .algorithm)
        try values.encode(id, forKey: .id)
        try values.encodeIfPresent(assertionAudience, forKey: .assertionAudience)
        if case .inMemory(let key) = material {
            try values.encode(Base64URL.encode(key.privateRepresentation), forKey: .representation)
        }
    }
}

extension ClientKey: CustomStringConvertible, CustomReflectable {
    /// The algorithm and the key identifier, without the private key.
    public var description: String { "<ClientKey \(algorithm) \(shownID)>" }
    /// An empty mirror, so that `dump` does not show the private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
