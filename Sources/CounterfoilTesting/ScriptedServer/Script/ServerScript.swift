/// What a scripted server is like and what it does wrong, as data.
///
/// The value without arguments is an honest server, strict where the standards let it be. Each topic says its deviations
/// in a value of its own; ``Misbehavior`` has the known ones by name, ``vendor(_:)`` the servers that many people meet.
///
///     var script = ServerScript(.lowerCaseBearer, .commaSeparatedScope)
///     script.refreshTokens.rotation = .never
///     script.interruptions = [Interruption(at: .token, times: 2, .trouble(503, retryAfter: "1"))]
///
/// `{origin}`, `{issuer}` and `{sibling}` in any text are filled in by the server: its own origin, its issuer as it writes
/// it, and the origin of the server that runs beside it.
public struct ServerScript: Sendable, Hashable, Codable {
    /// The origin by which the server goes, such as `https://accounts.example.com`; nil is its own.
    ///
    /// It then acts as if something stood in front of it that clients reach under that name: every address that it gives
    /// begins so, and the client's transport has to lead from there to ``ScriptedAuthorizationServer/address``.
    public var publicOrigin: String?
    /// A path that stands before every other, such as `/tenant`.
    ///
    /// The issuer has it too. Empty unless said otherwise.
    public var issuerPath = ""
    /// How the server writes its issuer, in metadata, answers and tokens; `{path}` is ``issuerPath``.
    public var issuer = "{origin}{path}"
    /// Where the endpoints are; those that are missing are at their standard places.
    ///
    /// The path of the API counts for all that is under it.
    public var paths: [ScriptedEndpoint: String] = [:]
    /// How many seconds the server's clock is ahead; negative when it is behind.
    public var clockOffset = 0
    /// Who may ask, and how they prove it.
    public var clients = ClientScript()
    /// What the metadata say.
    public var metadata = MetadataScript()
    /// What the person answers, and what comes back through the browser.
    public var authorization = AuthorizationScript()
    /// How the answers of the token endpoint look.
    public var tokens = TokenScript()
    /// How the server refuses.
    public var errors = ErrorScript()
    /// When refresh tokens come, and what becomes of them.
    public var refreshTokens = RefreshTokenScript()
    /// What ID tokens say.
    public var idToken = IDTokenScript()
    /// What the keys are like.
    public var keys = KeyScript()
    /// What is said about the person.
    public var userInfo = UserInfoScript()
    /// How the sign-in on a device goes.
    public var device = DeviceScript()
    /// Whether tokens are bound to keys.
    public var dpop = DPoPScript()
    /// How clients register.
    public var registration = RegistrationScript()
    /// How revocation answers.
    public var revocation = RevocationScript()
    /// What the API does.
    public var api = APIScript()
    /// Answers in the place of the server's own; of several the first counts.
    public var interruptions: [Interruption] = []

    /// A server that does these things wrong and nothing else.
    public init(_ misbehaviors: Misbehavior...) {
        for misbehavior in misbehaviors { misbehavior.apply(to: &self) }
    }

    /// A server that does these things wrong and nothing else.
    public init(_ misbehaviors: [Misbehavior]) {
        for misbehavior in misbehaviors { misbehavior.apply(to: &self) }
    }

    /// The script with one more deviation.
    public func with(_ misbehavior: Misbehavior) -> ServerScript {
        var script = self
        misbehavior.apply(to: &script)
        return script
    }

    /// The path of an endpoint, nil when it has none of its own.
    func path(of endpoint: ScriptedEndpoint) -> String? {
        (paths[endpoint] ?? endpoint.standardPath).map { issuerPath + $0 }
    }
}
