public import CounterfoilProtocol

/// The validated metadata of an authorization server, which every sign-in requires.
///
/// RFC 8414 §3.3. All endpoints come from metadata documents that name the same issuer and that the origin of this
/// issuer serves, or from one built-in vendor profile (RFC 9700 §4.4). Therefore the client never sends the code of one
/// server to another server.
public struct AuthorizationServerConfiguration: Sendable, Hashable {
    /// The requested issuer; the metadata contain the same issuer, byte for byte.
    public let issuer: Issuer
    /// `authorization_endpoint`: the page that the client opens in the browser for a sign-in.
    public let authorizationEndpoint: EndpointURL
    /// `token_endpoint`: the URL at which the client redeems authorization codes and refresh tokens.
    public internal(set) var tokenEndpoint: EndpointURL
    /// `jwks_uri`: the URL of the keys that verify ID tokens; nil if the server publishes no keys.
    public internal(set) var keysEndpoint: EndpointURL?
    /// `revocation_endpoint`; nil if the server has none.
    public internal(set) var revocationEndpoint: EndpointURL?
    /// `userinfo_endpoint`; nil if the server has none.
    public internal(set) var userInfoEndpoint: EndpointURL?
    /// `end_session_endpoint`; nil if the server has none.
    public let endSessionEndpoint: EndpointURL?
    /// `pushed_authorization_request_endpoint`; nil if requests cannot be pushed.
    public let pushedAuthorizationRequestEndpoint: EndpointURL?
    /// Whether the server accepts only pushed authorization requests (RFC 9126 §5).
    public let requiresPushedRequests: Bool
    /// `device_authorization_endpoint`; nil if the server does not support the device grant.
    public internal(set) var deviceAuthorizationEndpoint: EndpointURL?
    /// `registration_endpoint`; nil if clients cannot register themselves.
    public let registrationEndpoint: EndpointURL?
    /// `client_id_metadata_document_supported`: whether the URL of a client metadata document can be a `client_id`.
    public let supportsMetadataDocuments: Bool
    /// `scopes_supported`; nil if the metadata omit this member.
    public let scopes: [String]?
    /// `acr_values_supported`: the authentication contexts of the server; nil if the metadata omit this member.
    public let authenticationContexts: [String]?
    /// `token_endpoint_auth_methods_supported`; nil, which means `client_secret_basic`, if the metadata omit this
    /// member.
    public let authenticationMethods: [String]?
    /// `dpop_signing_alg_values_supported`: the algorithms of DPoP proofs; nil if the server does not announce DPoP.
    ///
    /// A server without metadata announces nothing, so the value is nil although the server may support DPoP.
    public let proofAlgorithms: [String]?
    /// Whether the server issues a refresh token for `offline_access` only if the request has `prompt=consent`
    /// (OpenID Connect Core §11).
    ///
    /// The metadata member `offline_access_prompt_required` of this package's server, or the vendor profile; true if
    /// neither states it.
    public let requiresConsentForOfflineAccess: Bool
    /// Whether every authorization response must contain `iss` (RFC 9207 §3).
    public let sendsIssuerInResponses: Bool
    /// The deviations of the server from the standard.
    public internal(set) var behavior: ServerBehavior
    /// The vendor's server to which this configuration belongs; nil if it was created without a vendor profile.
    public internal(set) var vendor: VendorServer?

    /// The reason why the client rejected the metadata of a server and sent no request to its endpoints.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The metadata are not a JSON object with the members of RFC 8414.
        case unreadable
        /// `issuer` in the metadata, the first value, is not the requested issuer.
        case wrongIssuer(named: String, requested: Issuer)
        /// A required endpoint is missing; the value is the name of the metadata member.
        case missing(String)
        /// An endpoint has a URL that ``EndpointURL`` rejects; the first value is the name of the metadata member.
        case badEndpoint(String, EndpointURL.Refusal)
        /// An endpoint is on a loopback host, but the issuer is not; the value is the name of the metadata member.
        case foreignLoopback(String)
        /// `code_challenge_methods_supported` is missing or lacks S256 (RFC 8414 §2).
        case noPKCE

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the metadata of the server is invalid"
            case .wrongIssuer(let named, let requested):
                "the metadata names the issuer \(String(named.prefix(200)).strippingControlCharacters) instead of \(requested);"
                    + " if that is the server, use exactly that issuer, including any final slash"
            case .missing(let name): "the metadata of the server lacks \(name)"
            case .badEndpoint(let name, let refusal): "the \(name) of the server cannot be used: \(refusal)"
            case .foreignLoopback(let name): "the \(name) of the server is on this device, but the server is not"
            case .noPKCE:
                "the server's metadata does not list S256 in code_challenge_methods_supported; without PKCE, a stolen"
                    + " code could be redeemed; if the server's documentation says that it supports PKCE, skip this check"
            }
        }
    }

    /// Validates the metadata of an issuer.
    ///
    /// Set `skippingPKCEMetadataCheck` for a server that supports PKCE but does not announce it in its metadata. The
    /// client sends the code challenge in any case.
    package init(
        _ metadata: AuthorizationServerMetadata,
        of issuer: Issuer,
        skippingPKCEMetadataCheck: Bool = false,
        behavior: ServerBehavior = .standard
    ) throws(Refusal) {
        // RFC 8414 §3.3: the issuer in the metadata must be identical to the requested issuer, byte for byte.
        guard Array(metadata.issuer.utf8) == Array(issuer.rawValue.utf8) else {
            throw .wrongIssuer(named: metadata.issuer, requested: issuer)
        }
        func endpoint(_ name: String, _ text: String?) throws(Refusal) -> EndpointURL? {
            guard let text else { return nil }
            let endpoint: EndpointURL
            do { endpoint = try EndpointURL(text) } catch { throw .badEndpoint(name, error) }
            guard !endpoint.isLoopback || issuer.isLoopback else { throw .foreignLoopback(name) }
            return endpoint
        }
        guard let authorization = try endpoint("authorization_endpoint", metadata.authorizationEndpoint) else {
            throw .missing("authorization_endpoint")
        }
        guard let token = try endpoint("token_endpoint", metadata.tokenEndpoint) else {
            throw .missing("token_endpoint")
        }
        keysEndpoint = try endpoint("jwks_uri", metadata.jwksURI)
        revocationEndpoint = try endpoint("revocation_endpoint", metadata.revocationEndpoint)
        pushedAuthorizationRequestEndpoint = try endpoint(
            "pushed_authorization_request_endpoint", metadata.pushedAuthorizationRequestEndpoint)
        requiresPushedRequests = metadata.requirePushedAuthorizationRequests ?? false
        deviceAuthorizationEndpoint = try endpoint(
            "device_authorization_endpoint", metadata.deviceAuthorizationEndpoint)
        registrationEndpoint = try endpoint("registration_endpoint", metadata.registrationEndpoint)
        supportsMetadataDocuments = metadata.clientIDMetadataDocumentSupported ?? false
        scopes = metadata.scopesSupported
        authenticationContexts = metadata.acrValuesSupported
        authenticationMethods = metadata.tokenEndpointAuthMethodsSupported
        proofAlgorithms = metadata.dpopSigningAlgValuesSupported
        requiresConsentForOfflineAccess =
            metadata.offlineAccessPromptRequired ?? behavior.requiresConsentForOfflineAccess
        userInfoEndpoint = try endpoint("userinfo_endpoint", metadata.userInfoEndpoint)
        endSessionEndpoint = try endpoint("end_session_endpoint", metadata.endSessionEndpoint)
        // RFC 8414 §2: if `code_challenge_methods_supported` is missing, the server does not support PKCE.
        let doesPKCE = metadata.codeChallengeMethodsSupported?.contains(CodeChallenge.method) ?? false
        guard doesPKCE || skippingPKCEMetadataCheck else { throw .noPKCE }
        self.issuer = issuer
        authorizationEndpoint = authorization
        tokenEndpoint = token
        sendsIssuerInResponses = metadata.authorizationResponseIssParameterSupported ?? false
        self.behavior = behavior
    }
}
