@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) package import CounterfoilTokens
import Crypto

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
    func binding(of account: JSONWebKey, url: String) -> JWS {
        var header = JSONWriter()
        header.object { writer in
            writer.member("alg", "HS256")
            writer.member("kid", keyIdentifier)
            writer.member("url", url)
        }
        var payload = JSONWriter()
        payload.object { writer in for member in account.publicMembers { writer.member(member.name, member.value) } }
        return JWS(header: header.bytes, payload: payload.bytes) { input in
            Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
        }
    }
}

/// A signed request in the flattened JSON form (RFC 7515 §7.2.2), the body of each POST (RFC 8555 §6.2).
package struct JWS: Sendable, Hashable {
    let protected: String
    let payload: String
    let signature: String

    init(header: [UInt8], payload: [UInt8], sign: ([UInt8]) throws -> [UInt8]) rethrows {
        protected = Base64URL.encode(header)
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
    package init(payload: [UInt8], url: String, nonce: String, account: String?, key: SigningKey) throws {
        var header = JSONWriter()
        header.object { writer in
            writer.member("alg", key.algorithm.rawValue)
            writer.member("nonce", nonce)
            writer.member("url", url)
            if let account {
                writer.member("kid", account)
            } else {
                writer.member(
                    "jwk",
                    object: { jwk in
                        for member in key.publicKey.publicMembers { jwk.member(member.name, member.value) }
                    })
            }
        }
        try self.init(header: header.bytes, payload: payload) { try key.signature(for: $0) }
    }

    /// Writes the members of the JSON object.
    func write(to writer: inout JSONWriter) {
        writer.member("protected", protected)
        writer.member("payload", payload)
        writer.member("signature", signature)
    }

    /// The JSON object.
    package var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 2048)
        writer.object { write(to: &$0) }
        return writer.bytes
    }
}

/// The payloads of the requests to an authority.
package enum AccountRequest {
    /// Asks for the account of the key, without creating one (RFC 8555 §7.3.1).
    package static var existing: [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member("onlyReturnExisting", true) }
        return writer.bytes
    }

    /// Asks for a new account (RFC 8555 §7.3).
    package static func creation(contact: String, binding: JWS?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("termsOfServiceAgreed", true)
            writer.member("contact", list: { $0.element(Self.contact(contact)) })
            if let binding { writer.member("externalAccountBinding", object: { binding.write(to: &$0) }) }
        }
        return writer.bytes
    }

    /// Replaces the contact of an account (RFC 8555 §7.3.2).
    package static func update(contact: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member("contact", list: { $0.element(Self.contact(contact)) }) }
        return writer.bytes
    }

    /// The URL of an email address (RFC 8555 §7.3).
    static func contact(_ address: String) -> String { "mailto:" + address }

    /// Asks for a certificate for some hosts (RFC 8555 §7.4), which may replace a former one (RFC 9773 §5).
    package static func order(of hosts: [String], replacing former: String?) -> [UInt8] {
        let identifiers = hosts.map { host in
            var identifier = JSONWriter()
            identifier.object { writer in
                writer.member("type", "dns")
                writer.member("value", host)
            }
            return String(decoding: identifier.bytes, as: UTF8.self)
        }
        // Host names need no escapes.
        var text = "{\"identifiers\":[" + identifiers.joined(separator: ",") + "]"
        if let former { text += ",\"replaces\":\"\(former)\"" }
        return Array((text + "}").utf8)
    }

    /// Asks for the validation of a challenge (RFC 8555 §7.5.1).
    package static let validation = Array("{}".utf8)

    /// Asks for the certificate of a validated order (RFC 8555 §7.4).
    package static func finalization(_ request: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member("csr", Base64URL.encode(request)) }
        return writer.bytes
    }
}

/// The key authorization of a challenge (RFC 8555 §8.1).
package enum KeyAuthorization {
    package static func of(token: String, account: JSONWebKey) -> String { "\(token).\(account.thumbprint)" }
}
