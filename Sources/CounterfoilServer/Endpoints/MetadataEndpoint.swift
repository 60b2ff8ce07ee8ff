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
            fields: [.cacheControl: "public, max-age=300", .accessControlAllowOrigin: "*"]
        )
    }

    private static func metadata(_ settings: ServerSettings) -> AuthorizationServerMetadata {
        let issuer = settings.issuer
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint(Endpoint.authorization.path)
        metadata.tokenEndpoint = issuer.endpoint(Endpoint.token.path)
        metadata.jwksURI = issuer.endpoint(Endpoint.keySet.path)
        // Names of the owner's own scopes are told to nobody who need not know them.
        metadata.scopesSupported = ["openid"]
        metadata.responseTypesSupported = ["code"]
        metadata.responseModesSupported = ["query"]
        metadata.grantTypesSupported = ["authorization_code"]
        metadata.tokenEndpointAuthMethodsSupported = ["none", "client_secret_basic", "client_secret_post"]
        metadata.codeChallengeMethodsSupported = [CodeChallenge.method]
        metadata.authorizationResponseIssParameterSupported = true
        metadata.subjectTypesSupported = ["public"]
        metadata.idTokenSigningAlgValuesSupported = KeyRing.algorithms.map(\.rawValue)
        metadata.claimsSupported = ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash"]
        metadata.promptValuesSupported = AuthorizationRequest.Prompt.allCases.map(\.rawValue)
        metadata.requestParameterSupported = false
        metadata.requestURIParameterSupported = false
        return metadata
    }
}
