/// What kind of token a signature stands on.
///
/// Wire name `typ`, RFC 7515 §4.1.9; explicit types keep one kind from being taken for another (RFC 8725 §3.11).
public struct TokenType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The type as it is written.
    public let rawValue: String

    /// A type of any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A JWT access token (RFC 9068 §2.1).
    public static let accessToken = TokenType(rawValue: "at+jwt")
    /// An ID token, which has no type of its own (RFC 7519 §5.1).
    public static let idToken = TokenType(rawValue: "JWT")
    /// The signed answer to a question about a token (RFC 9701 §5).
    public static let introspectionResponse = TokenType(rawValue: "token-introspection+jwt")
    /// An assertion with which a client authenticates, where it has a type of its own.
    public static let clientAuthentication = TokenType(rawValue: "client-authentication+jwt")

    /// A proof of possession (RFC 9449 §4.2).
    public static let proofOfPossession = TokenType(rawValue: "dpop+jwt")
    /// A logout token (OpenID Connect Back-Channel Logout §2.4).
    public static let logout = TokenType(rawValue: "logout+jwt")

    /// The type as it is written.
    public var description: String { rawValue }

    /// Whether a header's `typ` states this type: in any case, with or without `application/` (RFC 7515 §4.1.9).
    func isStated(by text: String) -> Bool {
        let stated = Self.folded(text)
        let prefix = "application/".utf8
        return stated == Self.folded(rawValue) || stated == Array(prefix) + Self.folded(rawValue)
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
