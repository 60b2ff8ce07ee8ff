/// The behaviour of the authorization endpoint of a scripted server.
///
/// The endpoint shows no pages for sign-in or consent. It responds at once, as if a signed-in user had decided.
public struct AuthorizationScript: Sendable, Hashable, Codable {
    /// The kind of authorization response.
    public enum Outcome: Sendable, Hashable, Codable {
        /// An authorization code: the user has allowed the request.
        case code
        /// An error response with this `error` and an optional `error_description`.
        case error(String, String?)
        /// An authorization code together with this `error`.
        case codeAndError(String)
        /// Two `code` parameters with different authorization codes.
        case twoCodes
        /// An HTML page with this HTTP status code, instead of a redirect.
        case page(Int)
    }

    /// The way in which the server returns a response parameter whose value the standard prescribes.
    public enum Returned: Sendable, Hashable, Codable {
        /// The parameter has its prescribed value.
        case honest
        /// The parameter is missing.
        case omitted
        /// The parameter has this value instead of its prescribed value.
        case replaced(String)
        /// The parameter occurs twice, first with its prescribed value and then with this value.
        case doubled(String)
    }

    /// The response to a request of an unknown client, or with a redirect URI that is not registered.
    ///
    /// RFC 6749 §4.1.2.1 forbids a redirect to that redirect URI.
    public enum Rejection: Sendable, Hashable, Codable {
        /// An HTML page with this HTTP status code.
        case page(Int)
        /// A redirect to this URL, to which the server appends `error` and `error_description`.
        case errorPage(String)
        /// A redirect to this URL without an error; the page there has this HTTP status code.
        case pageElsewhere(String, Int)
    }

    /// The response to a request with `prompt=none` (OpenID Connect Core §3.1.2.1).
    public enum SilentResponse: Sendable, Hashable, Codable {
        /// A code, as if the user were signed in.
        case code
        /// An error response with this `error`, such as `login_required`.
        case error(String)
        /// An HTML page with this HTTP status code.
        case page(Int)
    }

    /// The kind of authorization response, by default a code.
    public var outcome = Outcome.code
    /// The response to a request of an unknown client or with an unregistered redirect URI.
    public var rejection = Rejection.page(400)
    /// The response to a request with `prompt=none`, by default a code.
    public var silentResponse = SilentResponse.code
    /// The way in which the server returns `state`, by default with the value from the request.
    public var state = Returned.honest
    /// The way in which the server returns `iss` (RFC 9207 §2).
    ///
    /// With ``Returned/honest``, the server sends `iss` if its metadata announce the parameter.
    public var issuer = Returned.honest
    /// Parameters that are added to the authorization response, such as `location` at Zoho.
    public var extras: [WireMember] = []
    /// Text that is appended to the URL in the `Location` field, such as the `&` that Zoho appends.
    public var trailing = ""
    /// The URL to which the browser is redirected; nil means the redirect URI of the request.
    public var destination: String?
    /// The names of the request parameters that can contain the scope; the server reads the
    /// first one that is present.
    public var scopeParameters = ["scope"]
    /// The subject identifier (`sub`) of the user.
    public var subject = "alice"
    /// The scope that the server grants instead of the requested one; nil grants the requested scope.
    public var grantedScope: String?
    /// Whether the server rejects an authorization request without an S256 challenge.
    public var requiresPKCE = true
    /// Whether the server rejects an authorization request that was not pushed (RFC 9126 §4).
    public var requiresPushedRequest = false
    /// Whether only the sibling, the other server of the same run, can redeem the authorization codes.
    public var codesBelongToSibling = false

    /// Creates a script for an authorization endpoint without deviations, at which the user allows every request.
    public init() {}
}
