package import CounterfoilProtocol
package import CounterfoilStore

/// The access of a client that acts without a user.
///
/// Only ``judge(_:requesting:for:defaultAPI:settings:)`` creates a value, and it requires scopes that an administrator
/// has approved. ``TokenIssuer`` issues a token without a user only for such a value.
struct MachineAccess: Sendable {
    /// The client, which is the subject of its token.
    let client: RegisteredClient
    /// The audience and the scope of the token.
    let target: TokenTarget

    private init(client: RegisteredClient, target: TokenTarget) {
        self.client = client
        self.target = target
    }

    /// Decides whether a client gets a token without a user.
    ///
    /// If `requested` is nil, the token gets every approved scope. `named` contains the APIs that the request names, or
    /// that follow from its scope. `defaultAPI` is the API for which the token is if there are none.
    static func judge(
        _ client: RegisteredClient, requesting requested: Scope?, for named: NamedResources,
        defaultAPI: RegisteredResource?, settings: ServerSettings
    ) throws(OAuthError) -> MachineAccess {
        try client.checkReserved(requested ?? Scope())
        let (candidates, approved) = (client.machineScopeCandidates, client.approvedMachineScope)
        guard !candidates.isEmpty else {
            throw OAuthError(
                .unauthorizedClient,
                "this client is registered for no scope that works without a user; register it for one")
        }
        guard !approved.isEmpty else {
            throw OAuthError(
                .unauthorizedClient,
                "no scope of this client is approved for requests without a user; \(whoDecides)")
        }
        let scope = requested ?? approved
        let excess = scope.tokens.filter { !candidates.contains($0) }
        guard excess.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "this client is not registered for these scopes, or they need a user: \(Scope(excess))")
        }
        let pending = scope.tokens.filter { !approved.contains($0) }
        guard pending.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "these scopes of this client are not approved for requests without a user: \(Scope(pending)); \(whoDecides)"
            )
        }
        guard !named.isEmpty else {
            let target = TokenTarget(anywhere: scope, of: defaultAPI, settings: settings)
            return MachineAccess(client: client, target: target)
        }
        // No user approves the request, so the client needs an approved scope at each API that it names.
        for api in try named.checked().known where api.scope.intersection(approved).isEmpty {
            throw OAuthError(
                .invalidTarget, "no approved scope of this client belongs to the resource \(api.resource)")
        }
        return MachineAccess(client: client, target: try TokenTarget(scope, for: named))
    }

    private static let whoDecides =
        "an administrator approves scopes on the policy page of the client or with app edit --machine-scope"
}

extension RegisteredClient {
    /// The registered scopes that can be approved for requests without a user; only a client of the type
    /// `service` has any.
    ///
    /// The standard scopes, such as `openid` and `offline_access`, need a user.
    package var machineScopeCandidates: Scope {
        guard type == .service else { return Scope() }
        return Scope(scope.tokens.filter { !ScopeDefinition.ofUsers.contains($0) })
    }

    /// The scopes in ``machineScopeCandidates`` that an administrator has approved for requests without a user.
    package var approvedMachineScope: Scope { machineScopeCandidates.intersection(policy.machineScope) }

    /// The scopes in ``machineScopeCandidates`` that no administrator has approved yet.
    package var pendingMachineScope: Scope {
        Scope(machineScopeCandidates.tokens.filter { !policy.machineScope.contains($0) })
    }

    /// Approves every registered scope of a service for requests without a user.
    ///
    /// It is called when an administrator registers a service, because the administrator has then chosen the scopes.
    package mutating func approveRegisteredMachineScope() { policy.machineScope = machineScopeCandidates }
}

/// A change of the scopes that a client may request without a user, for the audit log.
package struct MachineAccessChange: Sendable, Hashable {
    /// The scopes that the client can now request.
    package let approved: Scope
    /// The scopes that the client can no longer request.
    package let withdrawn: Scope

    /// Compares two states of a client; nil if the approved scopes are the same.
    ///
    /// - Parameters:
    ///   - former: The previous state; nil for a new client.
    ///   - client: The new state.
    package init?(from former: RegisteredClient?, to client: RegisteredClient) {
        let (before, after) = (former?.approvedMachineScope ?? Scope(), client.approvedMachineScope)
        approved = Scope(after.tokens.filter { !before.contains($0) })
        withdrawn = Scope(before.tokens.filter { !after.contains($0) })
        guard !approved.isEmpty || !withdrawn.isEmpty else { return nil }
    }

    /// The detail of the audit event: the approved and the withdrawn scopes in English.
    package var detail: String {
        [approved.isEmpty ? nil : "approved \(approved)", withdrawn.isEmpty ? nil : "withdrawn \(withdrawn)"]
            .compactMap(\.self).joined(separator: ", ")
    }
}
