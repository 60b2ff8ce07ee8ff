/// A server, an application that is registered there, and a person who is signed in.
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
    /// The `Authorization` field of the application; nil where it has no secret.
    let clientAuthorization: String?
    /// The `Authorization` field of whoever asks about tokens.
    let introspectionAuthorization: String?
    /// The `Authorization` field of whoever revokes tokens; nil where the application does.
    let revocationAuthorization: String?
    let redirectURI: String
    let scope: String
    /// The `Cookie` field of a browser in which the person is signed in.
    let cookie: String
    /// What every authorization response must carry as `iss`, where the server promises one.
    let issuer: String?
    /// What this server wants in an authorization request beside the standard's parameters.
    let moreParameters: [String: String]?

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
    }
}
