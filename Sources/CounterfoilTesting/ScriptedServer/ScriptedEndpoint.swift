/// A place of a scripted server to which requests go.
public enum ScriptedEndpoint: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
    /// The metadata of the authorization server, at any of the three well-known forms (RFC 8414 §3.1).
    case metadata
    /// The metadata of the API (RFC 9728 §3.1).
    case resourceMetadata = "resource-metadata"
    /// Where a browser goes (RFC 6749 §3.1).
    case authorization
    /// Where tokens come from (RFC 6749 §3.2).
    case token
    /// Where an authorization request can be left beforehand (RFC 9126 §2).
    case pushedAuthorization = "pushed-authorization"
    /// Where a device begins (RFC 8628 §3.1).
    case deviceAuthorization = "device-authorization"
    /// The page for the code of a device (RFC 8628 §3.3).
    case verification
    /// Who signed in (OpenID Connect Core §5.3).
    case userInfo = "user-info"
    /// The public keys (RFC 7517 §5).
    case keys
    /// Where a token is given back (RFC 7009 §2).
    case revocation
    /// Where a client registers itself (RFC 7591 §3).
    case registration
    /// Where a person signs out (OpenID Connect RP-Initiated Logout §2).
    case endSession = "end-session"
    /// The list of data centres that Zoho publishes.
    case serverInfo = "server-info"
    /// The protected API, whatever is under its path.
    case api
    /// Anything else, which does not exist.
    case unknown

    /// The path at which an honest server has it, under its issuer's; the well-known places have none of their own.
    var standardPath: String? {
        switch self {
        case .authorization: "/oauth2/authorize"
        case .token: "/oauth2/token"
        case .pushedAuthorization: "/oauth2/par"
        case .deviceAuthorization: "/oauth2/device_authorization"
        case .verification: "/device"
        case .userInfo: "/oauth2/userinfo"
        case .keys: "/oauth2/jwks"
        case .revocation: "/oauth2/revoke"
        case .registration: "/oauth2/register"
        case .endSession: "/oauth2/logout"
        case .serverInfo: "/oauth/serverinfo"
        case .api: "/api"
        case .metadata, .resourceMetadata, .unknown: nil
        }
    }

    /// Its name in the metadata of the server, where it has one.
    var metadataName: String? {
        switch self {
        case .authorization: "authorization_endpoint"
        case .token: "token_endpoint"
        case .pushedAuthorization: "pushed_authorization_request_endpoint"
        case .deviceAuthorization: "device_authorization_endpoint"
        case .userInfo: "userinfo_endpoint"
        case .keys: "jwks_uri"
        case .revocation: "revocation_endpoint"
        case .registration: "registration_endpoint"
        case .endSession: "end_session_endpoint"
        case .metadata, .resourceMetadata, .verification, .serverInfo, .api, .unknown: nil
        }
    }
}
