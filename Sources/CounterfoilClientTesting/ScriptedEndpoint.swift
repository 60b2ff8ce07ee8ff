/// An endpoint of a scripted server, as scripts and recorded requests name it.
public enum ScriptedEndpoint: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
    /// The metadata of the authorization server, at any of the three well-known URLs (RFC 8414 §3.1).
    case metadata
    /// The metadata of the API (RFC 9728 §3.1).
    case resourceMetadata = "resource-metadata"
    /// The authorization endpoint (RFC 6749 §3.1).
    case authorization
    /// The token endpoint (RFC 6749 §3.2).
    case token
    /// The pushed authorization request endpoint (RFC 9126 §2).
    case pushedAuthorization = "pushed-authorization"
    /// The device authorization endpoint (RFC 8628 §3.1).
    case deviceAuthorization = "device-authorization"
    /// The page on which the user enters the user code of a device (RFC 8628 §3.3).
    case verification
    /// The UserInfo endpoint (OpenID Connect Core §5.3).
    case userInfo = "user-info"
    /// The key set at `jwks_uri` (RFC 7517 §5).
    case keys
    /// The revocation endpoint (RFC 7009 §2).
    case revocation
    /// The client registration endpoint (RFC 7591 §3).
    case registration
    /// The registration of one client, below the registration endpoint (RFC 7592 §2).
    case registrationManagement = "registration-management"
    /// The error page of ``AuthorizationScript/Rejection``.
    case errorPage = "error-page"
    /// The logout endpoint (OpenID Connect RP-Initiated Logout §2).
    case endSession = "end-session"
    /// The list of data centres, as Zoho publishes it.
    case serverInfo = "server-info"
    /// The protected API: its path and all paths below it.
    case api
    /// Any other path; the server responds with status 404.
    case unknown

    /// The default path, relative to the path of the issuer; nil for metadata and unknown paths.
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
        case .registrationManagement: "/oauth2/register/client"
        case .errorPage: "/error"
        case .endSession: "/oauth2/logout"
        case .serverInfo: "/oauth/serverinfo"
        case .api: "/api"
        case .metadata, .resourceMetadata, .unknown: nil
        }
    }

    /// The name of the metadata member that contains the URL of the endpoint; nil if there is none.
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
        case .metadata, .resourceMetadata, .verification, .registrationManagement, .errorPage, .serverInfo, .api,
            .unknown:
            nil
        }
    }
}
