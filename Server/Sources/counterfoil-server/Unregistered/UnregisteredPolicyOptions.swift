import ArgumentParser
import CounterfoilServer

/// The options of `unregistered edit`.
///
/// An option with an empty value clears the setting, and a list replaces the existing list. The values are not
/// validated here: the draft that they are written into is checked.
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

    /// Replaces the values of the given options in a draft.
    func write(into draft: inout UnregisteredPolicyDraft) {
        func limit(_ names: [String]) -> [String]? {
            let names = names.filter { !$0.isEmpty }
            return names.isEmpty ? nil : names
        }
        if let kinds { draft.kinds = kinds }
        if !allowedHosts.isEmpty { draft.allowedHosts = allowedHosts }
        if !refusedHosts.isEmpty { draft.refusedHosts = refusedHosts }
        if !defaultScopes.isEmpty { draft.defaultScopes = limit(defaultScopes.names) ?? [] }
        if !maximumScopes.isEmpty { draft.maximumScopes = limit(maximumScopes.names) }
        if !resources.isEmpty { draft.resources = limit(resources) }
        if let accessTokenLifetime { draft.accessTokenLifetime = accessTokenLifetime }
        if let refreshTokens { draft.refreshTokens = refreshTokens }
        if let refreshIdleLifetime { draft.refreshIdleLifetime = refreshIdleLifetime }
        if let refreshLifetime { draft.refreshLifetime = refreshLifetime }
        if let approvers { draft.approvers = approvers }
        if let requireInitialAccessToken { draft.requiresInitialAccessToken = requireInitialAccessToken == "true" }
    }
}
