package import CounterfoilProtocol
package import CounterfoilStore
package import CounterfoilTokens

/// The values with which a client uses this server.
///
/// The page "How to connect", the commands `app create` and `app show`, and every ``ReadyConfiguration`` take their
/// values from here. No value is secret.
package struct ClientConnection: Sendable, Hashable {
    package let issuer: Issuer
    package let clientID: ClientIdentifier
    package let type: ClientType
    package let redirectURIs: [RedirectURI]
    package let postLogoutRedirectURIs: [RedirectURI]
    /// The origins from which scripts can call the token, revocation and UserInfo endpoints (CORS).
    package let origins: [RegisteredOrigin]
    /// The scopes that the client can request; for a service, those that an administrator has approved.
    package let scope: Scope
    /// The APIs to which the client can get access, ordered by resource indicator.
    package let apis: [API]
    /// The methods of client authentication, the preferred one first (RFC 7591 §2).
    package let authenticationMethods: [String]
    /// The keys with which the client authenticates; nil if it uses secrets or none.
    package let keys: JSONWebKeySet?
    package let pkce: PKCEPolicy
    /// `id_token_signed_response_alg`.
    package let idTokenAlgorithm: SigningAlgorithm
    /// Whether ID tokens contain the claims of the granted scopes `profile` and `email` (OpenID Connect Core §5.4).
    package let putsUserClaimsInIDToken: Bool

    /// An API, with the scopes of it that the client can request.
    package struct API: Sendable, Hashable {
        package let name: String
        package let resource: Resource
        package let scope: Scope
    }

    /// Creates the values of a client; `apis` are all APIs that are registered at the server.
    package init(of client: RegisteredClient, issuer: Issuer, apis: [RegisteredResource]) {
        self.issuer = issuer
        clientID = client.id
        type = client.type
        redirectURIs = client.redirectURIs
        postLogoutRedirectURIs = client.postLogoutRedirectURIs
        origins = client.origins
        let scope = client.type == .service ? client.approvedMachineScope : client.scope
        self.scope = scope
        self.apis = apis.compactMap { api in
            let shared = api.scope.intersection(scope)
            return shared.isEmpty ? nil : API(name: api.name, resource: api.resource, scope: shared)
        }
        authenticationMethods = client.authenticationMethods
        keys = client.keys
        pkce = client.policy.pkce
        idTokenAlgorithm = client.policy.idTokenAlgorithm
        putsUserClaimsInIDToken = client.policy.putsUserClaimsInIDToken
    }

    /// Whether users sign in to the client with OpenID Connect, so that it gets ID tokens.
    package var usesOpenID: Bool { type.hasRedirectURIs && scope.contains(.openID) }

    /// The values of the parameter `resource` in a request for ``scope`` (RFC 8707 §2.1); empty if it needs none.
    ///
    /// The audience follows from the scopes of one API (RFC 9068 §3). A request with scopes of several APIs names them,
    /// and this server, too, if the token is for UserInfo.
    package var requestedResources: [String] {
        guard apis.count > 1 else { return [] }
        let usesUserInfo = type != .service && scope.contains(.openID)
        return apis.map(\.resource.rawValue) + (usesUserInfo ? [issuer.rawValue] : [])
    }

    /// The URL of the server metadata that OpenID Connect clients read (OpenID Connect Discovery §4).
    package var openIDConfiguration: String { issuer.endpoint(Endpoint.metadata.path) }

    /// The URL of the same metadata for OAuth clients (RFC 8414 §3.1).
    package var oauthMetadata: String { issuer.metadataURLs[0] }

    /// The URL of an endpoint; nil if the client cannot use the endpoint.
    package func url(of endpoint: ConnectionEndpoint) -> String? {
        endpoint.isUsable(by: self) ? issuer.endpoint(endpoint.endpoint.path) : nil
    }
}

/// An endpoint that clients call; the raw value is its name in the server metadata (RFC 8414 §2).
package enum ConnectionEndpoint: String, Sendable, Hashable, CaseIterable {
    case authorization = "authorization_endpoint"
    case token = "token_endpoint"
    case userInfo = "userinfo_endpoint"
    case keySet = "jwks_uri"
    case revocation = "revocation_endpoint"
    case introspection = "introspection_endpoint"
    case endSession = "end_session_endpoint"

    fileprivate var endpoint: Endpoint {
        switch self {
        case .authorization: .authorization
        case .token: .token
        case .userInfo: .userInfo
        case .keySet: .keySet
        case .revocation: .revocation
        case .introspection: .introspection
        case .endSession: .logout
        }
    }

    /// Returns whether a client can use the endpoint; introspection needs client authentication (RFC 7662 §2.1).
    fileprivate func isUsable(by connection: ClientConnection) -> Bool {
        switch self {
        case .authorization: connection.type.hasRedirectURIs
        case .token, .keySet, .revocation: true
        case .userInfo, .endSession: connection.usesOpenID
        case .introspection: connection.type.isConfidential
        }
    }
}

// MARK: - JSON

extension ClientConnection: Encodable {
    private enum CodingKeys: String, CodingKey {
        case issuer
        case openIDConfiguration = "openid_configuration"
        case oauthMetadata = "oauth_authorization_server"
        case clientID = "client_id"
        case authenticationMethods = "token_endpoint_auth_methods"
        case pkce
        case idTokenAlgorithm = "id_token_signed_response_alg"
        case putsUserClaimsInIDToken = "user_claims_in_id_token"
        case redirectURIs = "redirect_uris"
        case postLogoutRedirectURIs = "post_logout_redirect_uris"
        case origins
        case scope
        case apis
        case configurations
    }

    /// Encodes the values by their names in the server metadata (RFC 8414 §2) and in client metadata (RFC 7591 §2),
    /// and the text of each ready configuration by its name.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(issuer, forKey: .issuer)
        try values.encode(openIDConfiguration, forKey: .openIDConfiguration)
        try values.encode(oauthMetadata, forKey: .oauthMetadata)
        try values.encode(clientID, forKey: .clientID)
        try values.encode(authenticationMethods, forKey: .authenticationMethods)
        if type.hasRedirectURIs {
            try values.encode(pkce.description, forKey: .pkce)
            try values.encode(redirectURIs, forKey: .redirectURIs)
            try values.encode(postLogoutRedirectURIs, forKey: .postLogoutRedirectURIs)
        }
        if usesOpenID {
            try values.encode(idTokenAlgorithm.rawValue, forKey: .idTokenAlgorithm)
            try values.encode(putsUserClaimsInIDToken, forKey: .putsUserClaimsInIDToken)
        }
        try values.encode(origins.map(\.rawValue), forKey: .origins)
        try values.encode(scope, forKey: .scope)
        try values.encode(apis, forKey: .apis)
        let texts = ReadyConfiguration.all(for: self).map { ($0.name, $0.text) }
        try values.encode(Dictionary(texts) { first, _ in first }, forKey: .configurations)
        var endpoints = encoder.container(keyedBy: ConnectionEndpoint.self)
        for endpoint in ConnectionEndpoint.allCases {
            try endpoints.encodeIfPresent(url(of: endpoint), forKey: endpoint)
        }
    }
}

extension ConnectionEndpoint: CodingKey {}

extension ClientConnection.API: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name, resource, scope
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(resource.rawValue, forKey: .resource)
        try values.encode(scope, forKey: .scope)
    }
}
