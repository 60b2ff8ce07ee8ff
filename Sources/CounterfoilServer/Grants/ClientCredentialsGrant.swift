import CounterfoilProtocol

/// The client-credentials grant (RFC 6749 §4.4): an application acts for itself.
enum ClientCredentialsGrant {
    /// What may be issued to an application for itself.
    ///
    /// Only this grant makes one.
    struct Approval: Sendable {
        let client: RegisteredClient
        let scope: Scope
        let resources: [Resource]

        fileprivate init(client: RegisteredClient, scope: Scope, resources: [Resource]) {
            self.client = client
            self.scope = scope
            self.resources = resources
        }
    }

    static func judge(
        _ request: TokenRequest.ClientCredentials, by client: AuthenticatedClient
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
        return Approval(client: client.client, scope: scope, resources: request.resources)
    }
}
