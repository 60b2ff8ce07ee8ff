import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens

/// The options for the policy of a client: the requirements that it must meet, and the permissions that it has.
struct ClientPolicyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The PKCE policy: s256; for web apps also s256-or-nonce; for old apps also s256-or-plain, "
                + "exempt-until:DATE and, with a secret or key, optional.", valueName: "policy"))
    var pkce: String?

    @Option(
        name: .customLong("require-state"),
        help: ArgumentHelp("Refuse authorization requests without state: true or false.", valueName: "bool"))
    var requireState: String?

    @Option(
        name: .customLong("require-pushed-requests"),
        help: ArgumentHelp(
            "Refuse authorization requests that were not pushed (PAR): true or false.", valueName: "bool"))
    var requirePushedRequests: String?

    @Option(
        name: .customLong("require-bound-tokens"),
        help: ArgumentHelp(
            "Issue only access tokens that are bound to a key (DPoP): true or false.", valueName: "bool"))
    var requireBoundTokens: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The policy for sign-in in a web-view: block, warn or allow.", valueName: "policy"))
    var webViews: String?

    @Option(
        name: .customLong("minimum-authentication"),
        help: ArgumentHelp(
            "The weakest sign-in with which the app gets tokens: password, two-factor or passkey.", valueName: "kind"))
    var minimumAuthentication: String?

    @Option(
        name: .customLong("machine-scope"),
        help: ArgumentHelp(
            "A scope that a service can request without a user. Can be repeated. "
                + "A new service can request all its scopes.",
            valueName: "scope"))
    var machineScopes: [ScopeNames] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the app belongs to the operator of this server, so users are not asked for consent.")
    var firstParty: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether you vouch for the app. If not, pages show a warning.")
    var vouchedFor: Bool?

    @Flag(
        name: .customLong("claimed-https-verified"), inversion: .prefixedNo,
        help: "Whether you have verified that its https redirect URIs belong to it.")
    var isClaimedHTTPSVerified: Bool?

    func validate() throws {
        for (option, value) in [
            ("--require-state", requireState), ("--require-pushed-requests", requirePushedRequests),
            ("--require-bound-tokens", requireBoundTokens),
        ] {
            guard value.map(["true", "false"].contains) ?? true else {
                throw ValidationError("\(option) must be true or false.")
            }
        }
    }

    /// Writes the given options into the body of a request.
    func write(into members: inout [String: JSONValue]) {
        for (name, value) in [
            ("pkce", pkce), ("web_views", webViews), ("minimum_authentication", minimumAuthentication),
        ] {
            if let value { members[name] = .string(value) }
        }
        let flags = [
            ("require_state", requireState.map { $0 == "true" }),
            ("require_pushed_authorization_requests", requirePushedRequests.map { $0 == "true" }),
            ("dpop_bound_access_tokens", requireBoundTokens.map { $0 == "true" }), ("first_party", firstParty),
            ("vouched_for", vouchedFor), ("claimed_https_verified", isClaimedHTTPSVerified),
        ]
        for (name, flag) in flags {
            if let flag { members[name] = .boolean(flag) }
        }
        if !machineScopes.isEmpty { members["machine_scope"] = .string(machineScopes.text) }
    }
}
