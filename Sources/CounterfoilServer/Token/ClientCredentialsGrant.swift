import CounterfoilProtocol

/// The client-credentials grant (RFC 6749 §4.4): an application acts for itself.
enum ClientCredentialsGrant {
    static func judge(
        _ request: TokenRequest.ClientCredentials, by client: AuthenticatedClient, for named: NamedResources,
        settings: ServerSettings
    ) throws(OAuthError) -> MachineAccess {
        // RFC 6749 §4.4: confidential clients only.
        guard client.client.type == .service else {
            throw OAuthError(
                .unauthorizedClient, "an application of this type has no client_credentials grant; register a service")
        }
        return try MachineAccess.judge(client.client, requesting: request.scope, for: named, settings: settings)
    }
}
