import CounterfoilProtocol

/// The client-credentials grant (RFC 6749 §4.4): an application acts for itself.
enum ClientCredentialsGrant {
    /// What may be issued to an application for itself.
    ///
    /// Only this grant makes one.
    struct Approval: Sendable {
        let client: RegisteredClient
        let target: TokenTarget

        fileprivate init(client: RegisteredClient, target: TokenTarget) {
            self.client = client
            self.target = target
        }
    }

    static func judge(
        _ request: TokenRequest.ClientCredentials, by client: AuthenticatedClient, for named: NamedResources,
        settings: ServerSettings
    ) throws(OAuthError) -> Approval {
        // RFC 6749 §4.4: confidential clients only.
        guard client.client.type == .service else {
            throw OAuthError(
                .unauthorizedClient, "an application of this type has no client_credentials grant; register a service")
        }
        // Nobody is signed in, so what speaks of a person means nothing.
        let own = Scope(client.client.scope.tokens.filter { !ScopeDefinition.ofPeople.contains($0) })
        let scope = request.scope ?? own
        guard scope.isSubset(of: own) else {
            let excess = scope.tokens.filter { !own.contains($0) }
            throw OAuthError(.invalidScope, "this application is not registered for: \(Scope(excess))")
        }
        guard !request.resources.isEmpty else {
            return Approval(client: client.client, target: TokenTarget(anywhere: scope, settings: settings))
        }
        // Nobody is asked whether it may: so it is registered for something at each API, or gets no token for it.
        for api in try named.checked().known where api.scope.intersection(own).isEmpty {
            throw OAuthError(
                .invalidTarget, "this application is registered for no scope of the resource \(api.resource)")
        }
        return Approval(client: client.client, target: try TokenTarget(scope, for: named))
    }
}
