/// The configuration of a scripted server, including its deviations from a correct server.
///
/// `ServerScript()` describes a correct server that is as strict as the standards allow. Each property
/// configures one topic, such as the format of token responses. ``Misbehavior`` names the known deviations,
/// and ``vendor(_:)`` returns the scripts of well-known servers.
///
///     var script = ServerScript(.lowerCaseBearer, .commaSeparatedScope)
///     script.refreshTokens.rotation = .never
///     script.interruptions = [Interruption(at: .token, times: 2, .trouble(503, retryAfter: "1"))]
///
/// Strings in a script can contain placeholders. The server replaces `{origin}` with its own origin,
/// `{issuer}` with its issuer, and `{sibling}` with the origin of the second server in the same run.
public struct ServerScript: Sendable, Hashable, Codable {
    /// The public origin of the server, such as `https://accounts.example.com`; nil means
    /// ``ScriptedAuthorizationServer/address``.
    ///
    /// With a public origin, the server behaves as if it were behind a reverse proxy: all its URLs start
    /// with this origin. The client under test must send the requests for these URLs to
    /// ``ScriptedAuthorizationServer/address``.
    public var publicOrigin: String?
    /// The path prefix of the issuer and of all endpoints, such as `/tenant`; empty by default.
    public var issuerPath = ""
    /// The issuer in metadata, responses and tokens; `{path}` is replaced with ``issuerPath``.
    public var issuer = "{origin}{path}"
    /// The paths of endpoints, relative to ``issuerPath``; an endpoint without an entry has its default path.
    ///
    /// The path of the API also covers all paths below it.
    public var paths: [ScriptedEndpoint: String] = [:]
    /// The number of seconds by which the clock of the server is fast; negative if it is slow.
    public var clockOffset = 0
    /// The accepted clients, their redirect URIs and their authentication.
    public var clients = ClientScript()
    /// The locations and the contents of the metadata documents.
    public var metadata = MetadataScript()
    /// The checks of authorization requests, and the authorization response.
    public var authorization = AuthorizationScript()
    /// The format of token responses, and the lifetime of access tokens.
    public var tokens = TokenScript()
    /// The status, the error codes and the format of error responses.
    public var errors = ErrorScript()
    /// Issuing and rotation of refresh tokens.
    public var refreshTokens = RefreshTokenScript()
    /// The claims and the signature of ID tokens.
    public var idToken = IDTokenScript()
    /// The signing keys and the published key set.
    public var keys = KeyScript()
    /// The claims of the UserInfo response, which can be signed.
    public var userInfo = UserInfoScript()
    /// The device authorization response, and the token responses to a device that polls (RFC 8628 §3.2 and §3.5).
    public var device = DeviceScript()
    /// The requirements for DPoP proofs and their nonces.
    public var dpop = DPoPScript()
    /// The response to client registrations.
    public var registration = RegistrationScript()
    /// The revocation requests that the server accepts, and the response to them.
    public var revocation = RevocationScript()
    /// The tokens that the API accepts, and its responses.
    public var api = APIScript()
    /// Whether responses allow scripts of every origin to read them with cookies (CORS), if a request has an `Origin`.
    public var allowsEveryOrigin = false
    /// The header fields that responses to preflight requests allow; nil allows every field of the request.
    public var allowedFields: [String]?
    /// The header fields of responses that scripts may read (`Access-Control-Expose-Headers`).
    public var exposedFields = ["WWW-Authenticate"]
    /// Scripted answers that replace responses of the server; if several apply to a request, the first one is sent.
    public var interruptions: [Interruption] = []

    /// Creates the script of a server that follows the standards except for `misbehaviors`.
    public init(_ misbehaviors: Misbehavior...) {
        for misbehavior in misbehaviors { misbehavior.apply(to: &self) }
    }

    /// Creates the script of a server that follows the standards except for `misbehaviors`.
    public init(_ misbehaviors: [Misbehavior]) {
        for misbehavior in misbehaviors { misbehavior.apply(to: &self) }
    }

    /// Returns a copy of the script with one more deviation.
    public func with(_ misbehavior: Misbehavior) -> ServerScript {
        var script = self
        misbehavior.apply(to: &script)
        return script
    }

    /// Returns the path of an endpoint, or nil if the endpoint has no configurable path.
    func path(of endpoint: ScriptedEndpoint) -> String? {
        (paths[endpoint] ?? endpoint.standardPath).map { issuerPath + $0 }
    }
}
