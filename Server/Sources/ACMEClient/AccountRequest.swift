import Crypto
package import Foundation

/// The key of an account (RFC 8555 §6.2), with which it signs by ES256.
package struct AccountKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// The public key as a JWK (RFC 7518 §6.2.1).
    struct PublicKey: Encodable {
        // The order is that of the thumbprint (RFC 7638 §3.3).
        let crv = "P-256"
        let kty = "EC"
        let x, y: String
    }

    /// Creates a new key.
    package init() { key = P256.Signing.PrivateKey() }

    /// Restores a key; nil if the bytes are no private key on P-256.
    package init?(rawRepresentation: some ContiguousBytes) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: rawRepresentation) else { return nil }
        self.key = key
    }

    /// The private key, in 32 bytes.
    package var rawRepresentation: [UInt8] { Array(key.rawRepresentation) }

    var publicKey: PublicKey {
        let point = key.publicKey.rawRepresentation
        return PublicKey(x: Base64URL.encode(point.prefix(32)), y: Base64URL.encode(point.suffix(32)))
    }

    /// The thumbprint of the public key (RFC 7638).
    package var thumbprint: String {
        get throws { Base64URL.encode(SHA256.hash(data: try encoded(publicKey))) }
    }

    /// Returns the key authorization of a challenge (RFC 8555 §8.1).
    package func authorization(ofToken token: String) throws -> String { "\(token).\(try thumbprint)" }

    func signature(for input: [UInt8]) throws -> Data { try key.signature(for: input).rawRepresentation }
}

/// A binding of an account to one that the authority knows already (RFC 8555 §7.3.4).
package struct ExternalAccount: Sendable {
    /// The identifier of the key, which the authority has given out.
    package let keyIdentifier: String
    private let key: SymmetricKey

    /// Creates a binding; nil if the key is not base64url with at least 16 bytes.
    ///
    /// - Parameters:
    ///   - keyIdentifier: The identifier of the key.
    ///   - key: The MAC key in base64url, with or without padding.
    package init?(keyIdentifier: String, key: String) {
        let text = key.trimmingPrefix { $0.isWhitespace }.prefix { !$0.isWhitespace && $0 != "=" }
        guard let bytes = Base64URL.decode(text), bytes.count >= 16 else { return nil }
        self.keyIdentifier = keyIdentifier
        self.key = SymmetricKey(data: bytes)
    }

    /// Returns the JWS that binds the key of an account, for the request to a URL.
    func binding(of account: AccountKey, url: String) throws -> JWS {
        let header = JWS.Header(alg: "HS256", kid: keyIdentifier, url: url)
        return try JWS(header: header, payload: try encoded(account.publicKey)) { input in
            Data(HMAC<SHA256>.authenticationCode(for: input, using: key))
        }
    }
}

/// A signed request in the flattened JSON form (RFC 7515 §7.2.2), the body of each POST (RFC 8555 §6.2).
package struct JWS: Encodable, Sendable {
    let protected: String
    let payload: String
    let signature: String

    struct Header: Encodable {
        let alg: String
        var jwk: AccountKey.PublicKey?
        var kid: String?
        var nonce: String?
        let url: String
    }

    init(header: Header, payload: [UInt8], sign: ([UInt8]) throws -> Data) throws {
        protected = Base64URL.encode(try encoded(header))
        self.payload = Base64URL.encode(payload)
        signature = Base64URL.encode(try sign(Array("\(protected).\(self.payload)".utf8)))
    }

    /// Signs a request with the key of an account.
    ///
    /// - Parameters:
    ///   - payload: The JSON of the request; empty for POST-as-GET (RFC 8555 §6.3).
    ///   - url: The URL to which the request goes.
    ///   - nonce: A nonce of the authority.
    ///   - account: The URL of the account; nil for a request that names the key itself.
    ///   - key: The account key.
    package init(payload: [UInt8], url: String, nonce: String, account: String?, key: AccountKey) throws {
        let header = Header(
            alg: "ES256", jwk: account == nil ? key.publicKey : nil, kid: account, nonce: nonce, url: url)
        try self.init(header: header, payload: payload) { try key.signature(for: $0) }
    }

    /// The JSON object.
    package var json: [UInt8] {
        get throws { try encoded(self) }
    }
}

/// The payloads of the requests to an authority.
package enum AccountRequest {
    private struct Existing: Encodable {
        let onlyReturnExisting = true
    }

    private struct Creation: Encodable {
        let termsOfServiceAgreed = true
        let contact: [String]
        let externalAccountBinding: JWS?
    }

    private struct Update: Encodable {
        let contact: [String]
    }

    private struct Order: Encodable {
        struct Identifier: Encodable {
            let type = "dns"
            let value: String
        }

        let identifiers: [Identifier]
        let replaces: String?
    }

    private struct Finalization: Encodable {
        let csr: String
    }

    /// Asks for the account of the key, without creating one (RFC 8555 §7.3.1).
    package static var existing: [UInt8] {
        get throws { try encoded(Existing()) }
    }

    /// Asks for a new account (RFC 8555 §7.3).
    package static func creation(contact: String, binding: JWS?) throws -> [UInt8] {
        try encoded(Creation(contact: [Self.contact(contact)], externalAccountBinding: binding))
    }

    /// Replaces the contact of an account (RFC 8555 §7.3.2).
    package static func update(contact: String) throws -> [UInt8] {
        try encoded(Update(contact: [Self.contact(contact)]))
    }

    /// The URL of an email address (RFC 8555 §7.3).
    static func contact(_ address: String) -> String { "mailto:" + address }

    /// Asks for a certificate for some hosts (RFC 8555 §7.4), which may replace a former one (RFC 9773 §5).
    package static func order(of hosts: [String], replacing former: String?) throws -> [UInt8] {
        try encoded(Order(identifiers: hosts.map { Order.Identifier(value: $0) }, replaces: former))
    }

    /// Asks for the validation of a challenge (RFC 8555 §7.5.1).
    package static let validation = Array("{}".utf8)

    /// Asks for the certificate of a validated order (RFC 8555 §7.4).
    package static func finalization(_ request: [UInt8]) throws -> [UInt8] {
        try encoded(Finalization(csr: Base64URL.encode(request)))
    }
}

/// Returns the JSON of a value, with its members in the order of their names.
private func encoded(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
}
