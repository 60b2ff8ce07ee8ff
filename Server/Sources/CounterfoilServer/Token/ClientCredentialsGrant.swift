import CounterfoilProtocol
import CounterfoilStore

/// The client credentials grant (RFC 6749 §4.4): a token without a user.
struct ClientCredentialsGrant: TokenGrant {
    static let grantType = "client_credentials"

    let context: GrantContext

    static func parse(_ form: FormParameters) throws(OAuthError) -> TokenRequest.ClientCredentials {
        try TokenRequest.ClientCredentials(parsing: form)
    }

    func respond(to asked: TokenRequest.ClientCredentials, _ exchange: TokenEndpointRequest) async throws
        -> TokenResponse
    {
        let registry = try await context.registry.atArrival()
        let client = exchange.client.client
        // A scope that is not approved has no influence, because the request is refused.
        let scope = (asked.scope ?? client.approvedMachineScope).intersection(client.approvedMachineScope)
        let named = try await registry.apis(named: asked.resources, orOf: scope, of: client, context.settings)
        let defaultAPI = named.isEmpty ? try await registry.defaultAPI(context.settings) : nil
        let access = try Self.judge(
            asked, by: exchange.client, for: named, defaultAPI: defaultAPI, settings: context.settings)
        try access.target.requireProof(exchange.proof)
        try await context.proofs.use(exchange.proof, of: .client(exchange.client.client))
        return try context.issuer.issue(access, boundTo: exchange.provenKey)
    }

    /// Decides whether a client gets a token; only clients of the type `service`, all of which are
    /// confidential, may use this grant.
    static func judge(
        _ asked: TokenRequest.ClientCredentials, by client: AuthenticatedClient, for named: NamedResources,
        defaultAPI: RegisteredResource?, settings: ServerSettings
    ) throws(OAuthError) -> MachineAccess {
        guard client.client.type == .service else {
            throw OAuthError(
                .unauthorizedClient, "a client of this type cannot use the client_credentials grant; register a service"
            )
        }
        return try MachineAccess.judge(
            client.client, requesting: asked.scope, for: named, defaultAPI: defaultAPI, settings: settings)
    }
}
