/// What comes back through the browser: the person answers at once.
public struct AuthorizationScript: Sendable, Hashable, Codable {
    /// What is answered.
    public enum Outcome: Sendable, Hashable, Codable {
        /// The person allows it: a code.
        case code
        /// An error in the words of the standard, with a description.
        case error(String, String?)
        /// A code, and an error beside it.
        case codeAndError(String)
        /// Two codes.
        case twoCodes
        /// A page that leads nowhere, of this status.
        case page(Int)
    }

    /// What is done with the value of a parameter that is to be returned.
    public enum Returned: Sendable, Hashable, Codable {
        /// It is returned as it is.
        case honest
        /// It is left out.
        case omitted
        /// Another value comes in its place.
        case replaced(String)
        /// It comes twice, first right, then with this value.
        case doubled(String)
    }

    /// What is answered.
    public var outcome = Outcome.code
    /// What is done with `state`.
    public var state = Returned.honest
    /// What is done with `iss` (RFC 9207 §2); an honest server sends it when its metadata say so.
    public var issuer = Returned.honest
    /// Parameters beside those of the standard.
    public var extras: [WireMember] = []
    /// What stands after the last parameter.
    public var trailing = ""
    /// Where the answer goes in the place of the redirect URI.
    public var destination: String?
    /// The names of the parameter that says what is asked for; the first that is there counts.
    public var scopeParameters = ["scope"]
    /// Who signs in.
    public var subject = "alice"
    /// What is granted in the place of what was asked for.
    public var grantedScope: String?
    /// Whether a request without a challenge of the method S256 is refused.
    public var requiresPKCE = true
    /// Whether a request that was not left beforehand is refused (RFC 9126 §4).
    public var requiresPushedRequest = false
    /// Whether codes are redeemed at the server beside this one, and nowhere else.
    public var codesBelongToSibling = false

    /// A person who allows everything, at an honest server.
    public init() {}
}
