import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The metadata of the server, the same bytes under each of its addresses (RFC 8414 §3, OpenID Connect Discovery §4).
struct MetadataEndpoint: Sendable {
    private let body: Result<[UInt8], any Error>

    init(settings: ServerSettings) {
        body = Result { try Self.metadata(settings).encoded() }
    }

    func respond() throws -> Reply {
        Reply(
            .ok,
            .json(try body.get()),
            fields: [.cacheControl: "public, max-age=300"]
        )
    }

    private static func metadata(_ settings: ServerSettings) -> AuthorizationServerMetadata {
        let issuer = settings.issuer
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint(Endpoint.authorization.path)
        metadata.tokenEndpoint = issuer.endpoint(Endpoint.token.path)
        metadata.revocationEndpoint = issuer.endpoint(Endpoint.revocation.path)
        metadata.introspectionEndpoint = issuer.endpoint(Endpoint.introspection.path)
        metadata.userInfoEndpoint = issuer.endpoint(Endpoint.userInfo.path)
        metadata.endSessionEndpoint = issuer.endpoint(Endpoint.logout.path)
        metadata.jwksURI = issuer.endpoint(Endpoint.keySet.path)
        // Names of the owner's own scopes are told to nobody who need not know them; whoever wants to stay signed in must know how.
        metadata.scopesSupported = ["openid", "offline_access"]
        metadata.responseTypesSupported = ["code"]
        metadata.responseModesSupported = ResponseMode.allCases.map(\.rawValue)
        metadata.grantTypesSupported = ["authorization_code", "refresh_token", "client_credentials"]
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
        metadata.authorizationResponseIssParameterSupported = true
        metadata.subjectTypesSupported = SubjectType.allCases.map(\.rawValue)
        metadata.idTokenSigningAlgValuesSupported = KeyRing.algorithms.map(\.rawValue)
        metadata.claimsSupported =
            ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "sid"]
            + PersonClaims.all.sorted()
        metadata.claimsParameterSupported = true
        metadata.acrValuesSupported = AuthenticationContext.all
        metadata.backchannelLogoutSupported = true
        metadata.backchannelLogoutSessionSupported = true
        metadata.promptValuesSupported = AuthorizationRequest.Prompt.allCases.map(\.rawValue)
        metadata.requestParameterSupported = false
        metadata.requestURIParameterSupported = false
        return metadata
    }
}
