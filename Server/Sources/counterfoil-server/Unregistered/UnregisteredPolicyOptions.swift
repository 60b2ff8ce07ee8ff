import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens

/// The options of `unregistered edit`.
///
/// An option with an empty value clears the setting, and a list replaces the existing list. The values are not
/// validated here, but by the operation that changes the policy.
struct UnregisteredPolicyOptions: ParsableArguments {
    @Option(
        name: .customLong("accept"),
        help: ArgumentHelp("The accepted apps: none, documents, registration or both.", valueName: "kinds"))
    var kinds: String?

    @Option(
        name: .customLong("allowed-host"),
        help: ArgumentHelp(
            "A host whose apps are accepted, such as example.com or '*.example.com'. Can be repeated. "
                + "Without any, every host.", valueName: "host"))
    var allowedHosts: [String] = []

    @Option(
        name: .customLong("refused-host"),
        help: ArgumentHelp("A host whose apps are refused. Can be repeated.", valueName: "host"))
    var refusedHosts: [String] = []

    @Option(
        name: .customLong("default-scope"),
        help: ArgumentHelp("A scope of an app whose request names none. Can be repeated.", valueName: "scope"))
    var defaultScopes: [ScopeNames] = []

    @Option(
        name: .customLong("maximum-scope"),
        help: ArgumentHelp(
            "A scope that apps can request. Can be repeated. Without any, every scope in the metadata.",
            valueName: "scope"))
    var maximumScopes: [ScopeNames] = []

    @Option(
        name: .customLong("api"),
        help: ArgumentHelp(
            "The URI of an API that apps can request. Can be repeated. Without any, every API.", valueName: "uri"))
    var resources: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("The lifetime of access tokens, 60 to 86400.", valueName: "seconds"))
    var accessTokenLifetime: String?

    @Option(
        name: .long,
        help: ArgumentHelp("When to issue refresh tokens: offline-access, always or never.", valueName: "when"))
    var refreshTokens: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lifetime of a refresh token since its last use, 600 to 31536000.", valueName: "seconds"))
    var refreshIdleLifetime: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The total lifetime of refresh tokens, 600 to 63072000.", valueName: "seconds"))
    var refreshLifetime: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Who may allow something to an app: everyone or administrators.", valueName: "who"))
    var approvers: String?

    @Option(
        name: .customLong("require-initial-access-token"),
        help: ArgumentHelp(
            "Refuse registrations without an initial access token: true or false.", valueName: "bool"))
    var requireInitialAccessToken: String?

    func validate() throws {
        guard requireInitialAccessToken.map(["true", "false"].contains) ?? true else {
            throw ValidationError("--require-initial-access-token must be true or false.")
        }
    }

    /// Whether any option is given.
    var hasChanges: Bool {
        [
            kinds, accessTokenLifetime, refreshTokens, refreshIdleLifetime, refreshLifetime, approvers,
            requireInitialAccessToken,
        ].contains { $0 != nil } || !allowedHosts.isEmpty || !refusedHosts.isEmpty || !defaultScopes.isEmpty
            || !maximumScopes.isEmpty || !resources.isEmpty
    }

    /// The options by the members of the policy.
    static let options = [
        "kinds": "--accept", "allowed_hosts": "--allowed-host", "refused_hosts": "--refused-host",
        "default_scope": "--default-scope", "maximum_scope": "--maximum-scope", "resources": "--api",
        "access_token_lifetime": "--access-token-lifetime", "refresh_tokens": "--refresh-tokens",
        "refresh_idle_lifetime": "--refresh-idle-lifetime", "refresh_lifetime": "--refresh-lifetime",
        "approvers": "--approvers",
    ]

    /// The given values, as the body of a request.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        let texts = [("kinds", kinds), ("refresh_tokens", refreshTokens), ("approvers", approvers)]
        for (name, text) in texts { if let text { members[name] = .string(text) } }
        let numbers = [
            ("access_token_lifetime", accessTokenLifetime), ("refresh_idle_lifetime", refreshIdleLifetime),
            ("refresh_lifetime", refreshLifetime),
        ]
        for (name, text) in numbers {
            // The server refuses a text that is no number.
            if let text { members[name] = text.isEmpty ? .null : Int64(text).map { .integer($0) } ?? .string(text) }
        }
        let lists = [
            ("allowed_hosts", allowedHosts), ("refused_hosts", refusedHosts), ("default_scope", defaultScopes.names),
            ("maximum_scope", maximumScopes.names), ("resources", resources),
        ]
        for (name, values) in lists where !values.isEmpty {
            let values = values.filter { !$0.isEmpty }
            members[name] = values.isEmpty ? .null : .array(values.map { .string($0) })
        }
        if let requireInitialAccessToken {
            members["require_initial_access_token"] = .boolean(requireInitialAccessToken == "true")
        }
        return members
    }
}
