/// The configuration of a scripted server: its properties and its deviations, as data.
///
/// `ServerScript()` describes a correct server that is as strict as the standards allow. Each topic has its
/// own value with its deviations. ``Misbehavior`` names the known deviations, and ``vendor(_:)`` returns
/// the scripts of well-known servers.
///
///     var script = ServerScript(.lowerCaseBearer, .commaSeparatedScope)
///     script.refreshTokens.rotation = .never
///     script.interruptions = [Interruption(at: .token, times: 2, .trouble(503, retryAfter: "1"))]
///
/// The server replaces `{origin}`, `{issuer}` and `{sibling}` in texts: with its own origin, with its
/// issuer, and with the origin of the second server.
public struct ServerScript: Sendable, Hashable, Codable {
    /// The public origin of the server, such as `https://accounts.example.com`; nil means its own.
    ///
    /// The server then behaves as if it were behind a reverse proxy with this origin: all its URLs start
    /// with it. The transport of the client must send their requests to
    /// ``ScriptedAuthorizationServer/address``.
    public var publicOrigin: String?
    /// The path prefix of the issuer and of all endpoints, such as `/tenant`; empty by default.
    public var issuerPath = ""
    /// The issuer in metadata, responses and tokens; `{path}` is ``issuerPath``.
    public var issuer = "{origin}{path}"
    /// The paths of endpoints, under ``issuerPath``; others have their standard paths.
    ///
    /// The path of the API also covers all paths below it.
    public var paths: [ScriptedEndpoint: String] = [:]
    /// The number of seconds by which the clock of the server is fast; negative if it is slow.
    public var clockOffset = 0
    /// The clients and their authentication.
    public var clients = ClientScript()
    /// The metadata documents.
    public var metadata = MetadataScript()
    /// The authorization response.
    public var authorization = AuthorizationScript()
    /// The format of token responses.
    public var tokens = TokenScript()
    /// The format of error responses.
    public var errors = ErrorScript()
    /// Issuing and rotation of refresh tokens.
    public var refreshTokens = RefreshTokenScript()
    /// The ID tokens.
    public var idToken = IDTokenScript()
    /// The signing keys.
    public var keys = KeyScript()
    /// The UserInfo response.
    public var userInfo = UserInfoScript()
    /// The device sign-in.
    public var device = DeviceScript()
    /// The DPoP behaviour.
    public var dpop = DPoPScript()
    /// The client registration.
    public var registration = RegistrationScript()
    /// The token revocation.
    public var revocation = RevocationScript()
    /// The behaviour of the API.
    public var api = APIScript()
    /// Answers that replace responses of the server; the first one that applies is sent.
    public var interruptions: [Interruption] = []

    /// Creates a server with these deviations only.
    public init(_ misbehaviors: Misbehavior...) {
        for misbehavior in misbehaviors { misbehavior.apply(to: &self) }
    }

    /// Creates a server with these deviations only.
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
