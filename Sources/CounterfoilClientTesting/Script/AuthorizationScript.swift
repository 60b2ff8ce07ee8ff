/// The authorization response of a scripted server, whose scripted user answers at once.
public struct AuthorizationScript: Sendable, Hashable, Codable {
    /// The kind of authorization response.
    public enum Outcome: Sendable, Hashable, Codable {
        /// The user allows the request: a code.
        case code
        /// An error code with an optional description.
        case error(String, String?)
        /// A code together with an error code.
        case codeAndError(String)
        /// Two different codes.
        case twoCodes
        /// An HTML page with this status, without a redirect.
        case page(Int)
    }

    /// A deviation in a response parameter that has a prescribed value.
    public enum Returned: Sendable, Hashable, Codable {
        /// The parameter has its prescribed value.
        case honest
        /// The parameter is missing.
        case omitted
        /// The parameter has another value.
        case replaced(String)
        /// The parameter occurs twice, first with its prescribed value and then with this one.
        case doubled(String)
    }

    /// The kind of authorization response.
    public var outcome = Outcome.code
    /// The deviation in `state`.
    public var state = Returned.honest
    /// The deviation in `iss` (RFC 9207 §2), which a server sends if its metadata announce it.
    public var issuer = Returned.honest
    /// Additional response parameters.
    public var extras: [WireMember] = []
    /// Text that is appended to the redirect URL.
    public var trailing = ""
    /// The URL that replaces the redirect URI.
    public var destination: String?
    /// The names of the scope parameter; the first one in the request counts.
    public var scopeParameters = ["scope"]
    /// The `sub` of the user.
    public var subject = "alice"
    /// The scope that replaces the requested one in the grant.
    public var grantedScope: String?
    /// Whether an authorization request without an S256 challenge is refused.
    public var requiresPKCE = true
    /// Whether an authorization request that was not pushed is refused (RFC 9126 §4).
    public var requiresPushedRequest = false
    /// Whether codes can be redeemed only at the second server.
    public var codesBelongToSibling = false

    /// Creates a server without deviations, whose user allows every request.
    public init() {}
}
