/// The type of a signed token (`typ`).
///
/// RFC 7515 §4.1.9. Explicit types prevent a token of one kind from being accepted as a token of
/// another kind (RFC 8725 §3.11).
public struct TokenType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The value of `typ`.
    public let rawValue: String

    /// Creates a type from any string, without validation.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A JWT access token (RFC 9068 §2.1).
    public static let accessToken = TokenType(rawValue: "at+jwt")
    /// An ID token, for which no standard defines a more specific type than `JWT` (RFC 7519 §5.1).
    public static let idToken = TokenType(rawValue: "JWT")
    /// A signed introspection response (RFC 9701 §5).
    public static let introspectionResponse = TokenType(rawValue: "token-introspection+jwt")
    /// A client assertion with an explicit type, which most clients do not set (`private_key_jwt`).
    public static let clientAuthentication = TokenType(rawValue: "client-authentication+jwt")

    /// A DPoP proof (RFC 9449 §4.2).
    public static let proofOfPossession = TokenType(rawValue: "dpop+jwt")
    /// A logout token (OpenID Connect Back-Channel Logout §2.4).
    public static let logout = TokenType(rawValue: "logout+jwt")
    /// The request by which a server has the page of its owner sign a user in.
    public static let signInRequest = TokenType(rawValue: "sign-in-request+jwt")
    /// The response of that page.
    public static let signInResponse = TokenType(rawValue: "sign-in-response+jwt")

    /// The value of `typ`.
    public var description: String { rawValue }

    /// Returns true if a value of `typ` is this type, ignoring case and an optional prefix
    /// `application/` (RFC 7515 §4.1.9).
    func isStated(by text: String) -> Bool {
        let stated = Self.folded(text)
        let prefix = "application/".utf8
        return stated == Self.folded(rawValue) || stated == Array(prefix) + Self.folded(rawValue)
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
