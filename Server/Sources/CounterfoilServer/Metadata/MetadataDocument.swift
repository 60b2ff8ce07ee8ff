import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The metadata document of a server (RFC 8414 §2, OpenID Connect Discovery §3).
package struct MetadataDocument: Sendable {
    /// The facts in the registry on which the metadata depend.
    struct Facts: Equatable {
        var scopes = MetadataDocument.standardScopes.map(\.rawValue)
        /// The claims that the listed scopes of the owner release.
        var claims: [String] = []
        var kinds: Set<UnregisteredClientKind> = []
    }

    let settings: ServerSettings
    /// Whether the server can fetch the documents of clients.
    let fetchesDocuments: Bool

    /// Returns the document that a server with some settings serves on a store.
    ///
    /// The server can fetch the documents of clients.
    package static func served(
        by settings: ServerSettings, on store: any RegistryStore
    ) async throws -> [UInt8] {
        let document = MetadataDocument(settings: settings, fetchesDocuments: true)
        return try document.metadata(try await document.facts(of: try await CachedRegistry(store).fresh())).encoded()
    }

    /// Reads the standard scopes and then the other listed scopes, with their claims and the accepted kinds of
    /// unregistered clients.
    func facts(of registry: CurrentRegistry) async throws(StoreFault) -> Facts {
        let scopes = try await registry.scopes()
        var facts = Facts()
        let listed = scopes.filter { $0.isListed && !$0.token.isStandard }
        facts.scopes += listed.map(\.token.rawValue)
        facts.claims = Set(listed.filter { !$0.claims.isEmpty }.flatMap(\.claims.names)).sorted().map(\.rawValue)
        facts.kinds = try await registry.effectiveUnregisteredClientPolicy(settings).kinds
        return facts
    }

    /// The scopes of OpenID Connect Core §5.4 and §11.
    private static let standardScopes: [Scope.Token] = [.openID, .offlineAccess, .profile, .email, .address, .phone]

    /// Returns the metadata with some facts.
    func metadata(_ facts: Facts) -> AuthorizationServerMetadata {
        let issuer = settings.issuer
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint(Endpoint.authorization.path)
        metadata.tokenEndpoint = issuer.endpoint(Endpoint.token.path)
        metadata.deviceAuthorizationEndpoint = issuer.endpoint(Endpoint.deviceAuthorization.path)
        metadata.revocationEndpoint = issuer.endpoint(Endpoint.revocation.path)
        metadata.introspectionEndpoint = issuer.endpoint(Endpoint.introspection.path)
        metadata.userInfoEndpoint = issuer.endpoint(Endpoint.userInfo.path)
        metadata.endSessionEndpoint = issuer.endpoint(Endpoint.logout.path)
        metadata.jwksURI = issuer.endpoint(Endpoint.keySet.path)
        metadata.scopesSupported = facts.scopes
        metadata.responseTypesSupported = ["code"]
        metadata.responseModesSupported = ResponseMode.allCases.map(\.rawValue)
        metadata.grantTypesSupported = [
            "authorization_code", "refresh_token", "client_credentials", DeviceCodeGrant.grantType,
        ]
        let confidential = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        let assertionAlgorithms = SigningAlgorithm.allCases.map(\.rawValue)
        metadata.tokenEndpointAuthMethodsSupported = ["none"] + confidential
        metadata.tokenEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.revocationEndpointAuthMethodsSupported = ["none"] + confidential
        metadata.revocationEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.introspectionEndpointAuthMethodsSupported = confidential
        metadata.introspectionEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        metadata.introspectionSigningAlgValuesSupported = [SigningAlgorithm.es256.rawValue]
        metadata.codeChallengeMethodsSupported = [CodeChallenge.method]
        metadata.dpopSigningAlgValuesSupported = DPoPProofVerifier.algorithms.map(\.rawValue)
        metadata.authorizationResponseIssParameterSupported = true
        metadata.subjectTypesSupported = SubjectType.allCases.map(\.rawValue)
        metadata.idTokenSigningAlgValuesSupported = KeyRing.algorithms.map(\.rawValue)
        metadata.claimsSupported =
            ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "amr", "sid"]
            + UserClaims.all.sorted() + facts.claims
        metadata.claimsParameterSupported = true
        metadata.acrValuesSupported = AuthenticationContext.allCases.map(\.urn)
        metadata.backchannelLogoutSupported = true
        metadata.backchannelLogoutSessionSupported = true
        metadata.promptValuesSupported = AuthorizationRequest.Prompt.allCases
            .filter { $0 != .create || settings.signUp == .open }.map(\.rawValue)
        metadata.offlineAccessPromptRequired = false
        metadata.requestParameterSupported = false
        metadata.requestURIParameterSupported = false
        metadata.pushedAuthorizationRequestEndpoint = issuer.endpoint(Endpoint.pushedAuthorization.path)
        metadata.requirePushedAuthorizationRequests = settings.requiresPushedRequests
        if facts.kinds.contains(.registration) {
            metadata.registrationEndpoint = issuer.endpoint(Endpoint.registration.path)
        }
        // Without this member, a client uses the registration endpoint.
        if facts.kinds.contains(.document), fetchesDocuments { metadata.clientIDMetadataDocumentSupported = true }
        return metadata
    }
}
