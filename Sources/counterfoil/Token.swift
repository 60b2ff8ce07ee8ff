import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil token` prints the access token.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print only the access token, for use in scripts.",
        discussion: """
            A token that has expired or is about to expire is refreshed first. However many scripts ask at once, only one \
            request is sent to the server.

            The token is for all APIs of the sign-in. With --resource it is for one of them only, and with --scope it \
            permits less. Such a token is requested once, and stored with the sign-in until it expires.

            Examples:
              counterfoil token | my-program --token-from-stdin
              counterfoil token --format header | curl -H @- https://photos.example.com
              counterfoil token --min-lifetime 600
              counterfoil token --resource https://photos.example.com
              counterfoil token --format id-token

            \(ExitStatus.help)
            """
    )

    /// The value of --format.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case raw
        case header
        case json
        case env
        case idToken = "id-token"
    }

    @Option(
        help: ArgumentHelp(
            "Print the token alone (the default), as a header field of HTTP, as JSON with type, scope and expiration, or "
                + "as shell commands that export it; or print the ID token, which names the user.",
            valueName: "format"))
    var format: Format?

    @OptionGroup var target: TargetOptions
    @OptionGroup var lifetime: LifetimeOption
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !common.json || format == nil || format == .json else {
            throw ValidationError("--json means --format json; remove one of the two options.")
        }
        guard format != .idToken || lifetime.minimumLifetime == nil else {
            throw ValidationError("--min-lifetime is the lifetime of the access token; omit it with --format id-token.")
        }
        if format == .idToken { try target.requireNone("omit them with --format id-token") }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            if format == .idToken {
                return try console.result(try await PassedIDToken.token(common).token.exposed)
            }
            let credentials = try await common.credentials(
                minimumLifetime: lifetime.minimumLifetime, for: target.value)
            let token = PrintedToken(credentials)
            let format = format ?? (common.json ? .json : .raw)
            if format == .header || format == .env { token.warnIfBound(console) }
            switch format {
            case .raw: try console.result(token.access_token)
            case .header: try console.result("Authorization: \(token.scheme) \(token.access_token)")
            case .json: try console.result(token)
            case .env: for command in token.shellCommands { try console.result(command) }
            case .idToken: break
            }
        }
    }
}

/// An access token with the type, scope and expiration that a script needs to use the token.
struct PrintedToken: Encodable {
    let access_token: String
    let token_type: String
    let scope: String
    let expires_at: Date?
    /// The scheme of the `Authorization` header field, which a vendor may have changed.
    let scheme: String

    private enum CodingKeys: CodingKey {
        case access_token, token_type, scope, expires_at
    }

    init(_ credentials: Credentials) {
        access_token = credentials.accessToken.exposed
        token_type = credentials.proofKey == nil ? "Bearer" : "DPoP"
        scope = credentials.scope.description
        expires_at = credentials.expires
        scheme = credentials.authorizationScheme
    }

    /// Warns if the token is bound to a key, so that an API rejects it without a proof (RFC 9449 §7.1).
    func warnIfBound(_ console: CommandOutput) {
        guard token_type == "DPoP" else { return }
        console.say(
            "The access token is bound to a key of this device (DPoP), so APIs reject it without a proof. "
                + "Use counterfoil call.")
    }

    /// The commands for a shell that export the token, its type and its expiration.
    var shellCommands: [String] {
        var variables = [("COUNTERFOIL_TOKEN", access_token), ("COUNTERFOIL_TOKEN_TYPE", token_type)]
        if let expires_at { variables.append(("COUNTERFOIL_TOKEN_EXPIRES", expires_at.formatted(.iso8601))) }
        return variables.map { name, value in "export \(name)=\(value.inSingleQuotes)" }
    }
}
