@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The members of a request object that affect the error response: `response_mode` and `state`.
///
/// The server does not support request objects (OpenID Connect Core §6, RFC 9101). A client that sends one may
/// have these two members only in the object, and expects the error response to follow them. They are as
/// trustworthy as query parameters, which are not signed either. So the server ignores the signature, the
/// issuer and all other members. An encrypted object (RFC 7516) cannot be read.
struct UnverifiedRequestObject {
    /// The maximum size of a request object that is read, in bytes.
    static let byteLimit = 16 * 1024

    /// `response_mode`; nil if the object is unreadable or names no supported mode.
    let responseMode: ResponseMode?
    /// `state`; nil if the object is unreadable or has no `state`.
    let state: OAuthState?

    /// Reads an object in compact serialization, signed or not (RFC 7515 §3.1 and §6).
    init(parsing text: String) {
        let members = Self.payload(of: text).flatMap { try? JSONReader.object($0) } ?? [:]
        responseMode = members.text("response_mode").flatMap(ResponseMode.init(rawValue:))
        state = members.text("state").flatMap(OAuthState.returnable)
    }

    private static func payload(of text: String) -> [UInt8]? {
        guard text.utf8.count <= byteLimit else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(String(parts[1]))
    }
}

extension [String: JSONValue] {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }
}
