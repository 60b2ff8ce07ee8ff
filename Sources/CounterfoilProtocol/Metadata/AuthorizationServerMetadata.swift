import CounterfoilPlatform

/// The metadata document of an authorization server, in JSON.
///
/// RFC 8414 §2, OpenID Connect Discovery §3, RFC 9207 §3. Members that are nil are omitted (RFC 8414 §3.2).
public struct AuthorizationServerMetadata: Sendable, Hashable, Codable {
    /// `issuer`, the identifier of the server, unchanged; a client compares it with the issuer that it expects.
    public var issuer: String
    /// `authorization_endpoint`, the URL to which a client sends the browser with an authorization request.
    public var authorizationEndpoint: String?
    /// `token_endpoint`, the URL at which a client exchanges a code or a refresh token for tokens.
    public var tokenEndpoint: String?
    /// `jwks_uri`, the URL of the JSON Web Key Set with the public keys of the server.
    public var jwksURI: String?
    /// `userinfo_endpoint`, the URL at which a client reads the claims of the user.
    public var userInfoEndpoint: String?
    /// `revocation_endpoint`, the URL for token revocation (RFC 7009).
    public var revocationEndpoint: String?
    /// `revocation_endpoint_auth_methods_supported`, the client authentication methods of the revocation endpoint.
    public var revocationEndpointAuthMethodsSupported: [String]?
    /// `introspection_endpoint`, the URL for token introspection (RFC 7662).
    public var introspectionEndpoint: String?
    /// `introspection_endpoint_auth_methods_supported`, the client authentication methods of the introspection
    /// endpoint.
    public var introspectionEndpointAuthMethodsSupported: [String]?
    /// `introspection_signing_alg_values_supported`, the algorithms of signed introspection responses (RFC 9701 §7).
    public var introspectionSigningAlgValuesSupported: [String]?
    /// `scopes_supported`, the scope tokens that the server publishes; it may support others (RFC 8414 §2).
    public var scopesSupported: [String]?
    /// `response_types_supported`, for example `code`.
    public var responseTypesSupported: [String]?
    /// `response_modes_supported`; nil means `query` and `fragment` (RFC 8414 §2).
    public var responseModesSupported: [String]?
    /// `grant_types_supported`; nil means `authorization_code` and `implicit` (RFC 8414 §2).
    public var grantTypesSupported: [String]?
    /// `token_endpoint_auth_methods_supported`; nil means `client_secret_basic` (RFC 8414 §2).
    public var tokenEndpointAuthMethodsSupported: [String]?
    /// `token_endpoint_auth_signing_alg_values_supported`, the algorithms of client assertions at the token endpoint.
    public var tokenEndpointAuthSigningAlgValuesSupported: [String]?
    /// `revocation_endpoint_auth_signing_alg_values_supported`, the algorithms of client assertions at the
    /// revocation endpoint.
    public var revocationEndpointAuthSigningAlgValuesSupported: [String]?
    /// `introspection_endpoint_auth_signing_alg_values_supported`, the algorithms of client assertions at the
    /// introspection endpoint.
    public var introspectionEndpointAuthSigningAlgValuesSupported: [String]?
    /// `code_challenge_methods_supported`; nil means that the server does not support PKCE (RFC 8414 §2).
    public var codeChallengeMethodsSupported: [String]?
    /// `authorization_response_iss_parameter_supported`; nil means false (RFC 9207 §3).
    public var authorizationResponseIssParameterSupported: Bool?
    /// `subject_types_supported`: `public`, `pairwise` or both (OpenID Connect Discovery §3).
    public var subjectTypesSupported: [String]?
    /// `id_token_signing_alg_values_supported`, the signature algorithms of ID tokens.
    public var idTokenSigningAlgValuesSupported: [String]?
    /// `claims_supported`, the names of the claims that the server can provide.
    public var claimsSupported: [String]?
    /// `claims_parameter_supported`; nil means false (OpenID Connect Discovery §3).
    public var claimsParameterSupported: Bool?
    /// `acr_values_supported`, the authentication contexts that the server supports.
    public var acrValuesSupported: [String]?
    /// `end_session_endpoint`, the URL to which a client sends the browser to end the session
    /// (OpenID Connect RP-Initiated Logout §2.1).
    public var endSessionEndpoint: String?
    /// `backchannel_logout_supported`, whether the server sends logout tokens to clients; nil means false
    /// (OpenID Connect Back-Channel Logout §2.1).
    public var backchannelLogoutSupported: Bool?
    /// `backchannel_logout_session_supported`, whether logout tokens can contain `sid`; nil means false
    /// (OpenID Connect Back-Channel Logout §2.1).
    public var backchannelLogoutSessionSupported: Bool?
    /// `prompt_values_supported`, the values of `prompt` that the server supports.
    public var promptValuesSupported: [String]?
    /// `request_parameter_supported`, for request objects by value; nil means false (OpenID Connect Discovery §3).
    public var requestParameterSupported: Bool?
    /// `request_uri_parameter_supported`, for request objects by URL; nil means true (OpenID Connect Discovery §3).
    public var requestURIParameterSupported: Bool?

    /// `pushed_authorization_request_endpoint`, the URL to which a client posts an authorization request before it
    /// sends the browser (RFC 9126 §5).
    public var pushedAuthorizationRequestEndpoint: String?
    /// `require_pushed_authorization_requests`; nil means false (RFC 9126 §5).
    public var requirePushedAuthorizationRequests: Bool?
    /// `device_authorization_endpoint`, the URL at which a device obtains its user code (RFC 8628 §4).
    public var deviceAuthorizationEndpoint: String?
    /// `registration_endpoint`, the URL for dynamic client registration (RFC 8414 §2).
    public var registrationEndpoint: String?
    /// `client_id_metadata_document_supported`, whether a `client_id` can be the URL of a document that describes the
    /// client (OAuth Client ID Metadata Document §5).
    public var clientIDMetadataDocumentSupported: Bool?
    /// `dpop_signing_alg_values_supported`, the signature algorithms of DPoP proofs (RFC 9449 §5.1).
    public var dpopSigningAlgValuesSupported: [String]?

    /// `offline_access_prompt_required`, an extension of this package: false if the server issues a refresh token for
    /// `offline_access` without `prompt=consent` in the request (OpenID Connect Core §11).
    ///
    /// Without this member, a client sends `prompt=consent`, and the server asks for a consent that it already has.
    public var offlineAccessPromptRequired: Bool?

    private enum CodingKeys: String, CodingKey {
        case issuer
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case jwksURI = "jwks_uri"
        case userInfoEndpoint = "userinfo_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case revocationEndpointAuthMethodsSupported = "revocation_endpoint_auth_methods_supported"
        case introspectionEndpoint = "introspection_endpoint"
        case introspectionEndpointAuthMethodsSupported = "introspection_endpoint_auth_methods_supported"
        case introspectionSigningAlgValuesSupported = "introspection_signing_alg_values_supported"
        case scopesSupported = "scopes_supported"
        case responseTypesSupported = "response_types_supported"
        case responseModesSupported = "response_modes_supported"
        case grantTypesSupported = "grant_types_supported"
        case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
        case tokenEndpointAuthSigningAlgValuesSupported = "token_endpoint_auth_signing_alg_values_supported"
        case revocationEndpointAuthSigningAlgValuesSupported = "revocation_endpoint_auth_signing_alg_values_supported"
        case introspectionEndpointAuthSigningAlgValuesSupported =
            "introspection_endpoint_auth_signing_alg_values_supported"
        case codeChallengeMethodsSupported = "code_challenge_methods_supported"
        case authorizationResponseIssParameterSupported = "authorization_response_iss_parameter_supported"
        case subjectTypesSupported = "subject_types_supported"
        case idTokenSigningAlgValuesSupported = "id_token_signing_alg_values_supported"
        case claimsSupported = "claims_supported"
        case claimsParameterSupported = "claims_parameter_supported"
        case acrValuesSupported = "acr_values_supported"
        case endSessionEndpoint = "end_session_endpoint"
        case backchannelLogoutSupported = "backchannel_logout_supported"
        case backchannelLogoutSessionSupported = "backchannel_logout_session_supported"
        case promptValuesSupported = "prompt_values_supported"
        case requestParameterSupported = "request_parameter_supported"
        case requestURIParameterSupported = "request_uri_parameter_supported"
        case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
        case requirePushedAuthorizationRequests = "require_pushed_authorization_requests"
        case deviceAuthorizationEndpoint = "device_authorization_endpoint"
        case registrationEndpoint = "registration_endpoint"
        case clientIDMetadataDocumentSupported = "client_id_metadata_document_supported"
        case dpopSigningAlgValuesSupported = "dpop_signing_alg_values_supported"
        case offlineAccessPromptRequired = "offline_access_prompt_required"
    }

    /// Creates metadata in which only the issuer is set.
    public init(issuer: Issuer) {
        self.issuer = issuer.rawValue
    }

    /// Parses a JSON metadata document of at most 256 KiB.
    public init(parsing body: some Collection<UInt8>) throws {
        guard body.count <= 256 * 1024 else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the metadata is too large"))
        }
        self = try JSONDecoder().decode(AuthorizationServerMetadata.self, from: Data(body))
    }

    /// Encodes the document as JSON with sorted keys.
    public func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return Array(try encoder.encode(self))
    }
}
