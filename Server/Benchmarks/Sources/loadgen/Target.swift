/// A server, a client that is registered there, and a user who is signed in.
struct Target: Decodable, Sendable {
    /// The port of 127.0.0.1 where the server listens.
    let port: UInt16
    /// The value of the `Host` field.
    let host: String
    let authorizePath: String
    let tokenPath: String
    let discoveryPath: String
    let revocationPath: String
    let introspectionPath: String
    let clientID: String
    /// The `Authorization` field of the client; nil if it has no secret.
    let clientAuthorization: String?
    /// The `Authorization` field of introspection requests.
    let introspectionAuthorization: String?
    /// The `Authorization` field of revocation requests; nil if the client sends them.
    let revocationAuthorization: String?
    let redirectURI: String
    let scope: String
    /// The `Cookie` field of a browser in which the user is signed in.
    let cookie: String
    /// The `iss` of every authorization response; nil if the server does not send it.
    let issuer: String?
    /// Parameters of authorization requests that this server needs besides those of the standard.
    let moreParameters: [String: String]?
    /// Whether the client binds its tokens to a key by DPoP proofs; nil means no.
    ///
    /// If the value is false, the client signs a proof before each request and does not send it, so that it takes as
    /// long as one that does.
    let bindsTokens: Bool?
    /// A passkey of the user; nil if none is used.
    let passkey: Passkey?

    enum CodingKeys: String, CodingKey {
        case port
        case host
        case authorizePath = "authorize_path"
        case tokenPath = "token_path"
        case discoveryPath = "discovery_path"
        case revocationPath = "revocation_path"
        case introspectionPath = "introspection_path"
        case clientID = "client_id"
        case clientAuthorization = "client_authorization"
        case introspectionAuthorization = "introspection_authorization"
        case revocationAuthorization = "revocation_authorization"
        case redirectURI = "redirect_uri"
        case scope
        case cookie
        case issuer
        case moreParameters = "more_parameters"
        case bindsTokens = "binds_tokens"
        case passkey
    }
}
