import ArgumentParser
import CounterfoilServer

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

    /// Whether any option is given.
    var hasChanges: Bool {
        [pkce, requireState, requirePushedRequests, requireBoundTokens, webViews, minimumAuthentication]
            .contains { $0 != nil }
            || [firstParty, vouchedFor, isClaimedHTTPSVerified].contains { $0 != nil } || !machineScopes.isEmpty
    }

    /// Replaces the values of the given options in a draft.
    func write(into draft: inout PolicyDraft) {
        if let pkce { draft.pkce = pkce }
        if let requireState { draft.requiresState = requireState == "true" }
        if let requirePushedRequests { draft.requiresPushedRequests = requirePushedRequests == "true" }
        if let requireBoundTokens { draft.requiresBoundTokens = requireBoundTokens == "true" }
        if let webViews { draft.webViews = webViews }
        if let minimumAuthentication { draft.minimumAuthentication = minimumAuthentication }
        if !machineScopes.isEmpty { draft.machineScopes = machineScopes.names.filter { !$0.isEmpty } }
        if let firstParty { draft.isFirstParty = firstParty }
        if let vouchedFor { draft.isVouchedFor = vouchedFor }
        if let isClaimedHTTPSVerified { draft.isClaimedHTTPSVerified = isClaimedHTTPSVerified }
    }
}
