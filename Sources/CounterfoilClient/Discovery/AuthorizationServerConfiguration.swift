public import CounterfoilProtocol

/// An authorization server whose metadata are sound: the only thing from which a sign-in can begin.
///
/// RFC 8414 §3.3. All of its addresses come from one document of one issuer (RFC 9700 §4.4), so that the code of one server
/// never goes to another.
public struct AuthorizationServerConfiguration: Sendable, Hashable {
    /// The issuer that was asked for, and that the document names.
    public let issuer: Issuer
    /// `authorization_endpoint`.
    public let authorizationEndpoint: EndpointURL
    /// `token_endpoint`.
    public internal(set) var tokenEndpoint: EndpointURL
    /// `jwks_uri`; nil when the server publishes no keys.
    public internal(set) var keysEndpoint: EndpointURL?
    /// `revocation_endpoint`; nil when the server has none.
    public internal(set) var revocationEndpoint: EndpointURL?
    /// `userinfo_endpoint`; nil when the server has none.
    public internal(set) var userInfoEndpoint: EndpointURL?
    /// `end_session_endpoint`; nil when the server has none.
    public let endSessionEndpoint: EndpointURL?
    /// `pushed_authorization_request_endpoint`; nil when requests cannot be pushed.
    public let pushedAuthorizationRequestEndpoint: EndpointURL?
    /// Whether a request has to be pushed (RFC 9126 §5).
    public let requiresPushedRequests: Bool
    /// `device_authorization_endpoint`; nil when the server does not take devices without a browser.
    public internal(set) var deviceAuthorizationEndpoint: EndpointURL?
    /// `registration_endpoint`; nil when clients cannot register themselves.
    public let registrationEndpoint: EndpointURL?
    /// Whether the address of a document may be a client identifier.
    public let takesMetadataDocuments: Bool
    /// `scopes_supported`; nil when the server does not say.
    public let scopes: [String]?
    /// Whether every answer must carry `iss` (RFC 9207 §3).
    public let sendsIssuerInResponses: Bool
    /// How the server differs from the standard.
    public let behavior: ServerBehavior
    /// The vendor's server that this is; nil when it was found by its issuer alone.
    public internal(set) var vendor: VendorServer?

    /// Why metadata cannot be used.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not a JSON object with the members of RFC 8414.
        case unreadable
        /// `issuer` is not the one that was asked for.
        case wrongIssuer
        /// A required address is missing; the value is its wire name.
        case missing(String)
        /// An address to which nothing may be sent; the first value is its wire name.
        case badEndpoint(String, EndpointURL.Refusal)
        /// An address on the device itself, from an issuer that is not.
        case foreignLoopback(String)
        /// `code_challenge_methods_supported` is missing or lacks S256 (RFC 8414 §2).
        case noPKCE

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .unreadable: "the metadata of the server cannot be read"
            case .wrongIssuer: "the metadata belong to another issuer than the one that was asked for"
            case .missing(let name): "the metadata of the server lack \(name)"
            case .badEndpoint(let name, let refusal): "the \(name) of the server cannot be used: \(refusal)"
            case .foreignLoopback(let name): "the \(name) of the server points to this device, where the server is not"
            case .noPKCE:
                "the metadata of the server do not say that it does PKCE with S256, without which a code could be stolen;"
                    + " if its documentation says that it does, this check can be skipped"
            }
        }
    }

    /// Checks metadata that were fetched for an issuer.
    ///
    /// A server that does PKCE without saying so is taken with `skippingPKCEMetadataCheck`; the challenge is sent anyway.
    public init(
        _ metadata: AuthorizationServerMetadata,
        of issuer: Issuer,
        skippingPKCEMetadataCheck: Bool = false,
        behavior: ServerBehavior = .standard
    ) throws(Refusal) {
        // RFC 8414 §3.3: identical, byte for byte.
        guard Array(metadata.issuer.utf8) == Array(issuer.rawValue.utf8) else { throw .wrongIssuer }
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
        takesMetadataDocuments = metadata.clientIDMetadataDocumentSupported ?? false
        scopes = metadata.scopesSupported
        userInfoEndpoint = try endpoint("userinfo_endpoint", metadata.userInfoEndpoint)
        endSessionEndpoint = try endpoint("end_session_endpoint", metadata.endSessionEndpoint)
        // RFC 8414 §2: where the member is left out, the server does not support PKCE.
        let doesPKCE = metadata.codeChallengeMethodsSupported?.contains(CodeChallenge.method) ?? false
        guard doesPKCE || skippingPKCEMetadataCheck else { throw .noPKCE }
        self.issuer = issuer
        authorizationEndpoint = authorization
        tokenEndpoint = token
        sendsIssuerInResponses = metadata.authorizationResponseIssParameterSupported ?? false
        self.behavior = behavior
    }
}
