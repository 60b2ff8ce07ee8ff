/// The clients that a scripted server accepts, their redirect URIs, and their authentication.
public struct ClientScript: Sendable, Hashable, Codable {
    /// A client authentication method, with its name in `token_endpoint_auth_method` (RFC 7591 §2) if it has one.
    public enum Authentication: String, Sendable, Hashable, Codable {
        /// No authentication; a client secret in the request is ignored.
        case none
        /// No authentication; a request with a client secret, even an empty one, fails with `invalid_client`.
        case noSecretAllowed = "no-secret-allowed"
        /// `client_secret` in the form body (RFC 6749 §2.3.1).
        case post = "client_secret_post"
        /// The client secret in HTTP Basic authentication (RFC 6749 §2.3.1).
        case basic = "client_secret_basic"
        /// An assertion that the client has signed with its private key (RFC 7523 §2.2).
        case privateKey = "private_key_jwt"
    }

    /// A rule by which the authorization endpoint accepts or rejects the redirect URI of a request.
    public enum RedirectRule: Sendable, Hashable, Codable {
        /// Every redirect URI is accepted.
        case any
        /// Only these redirect URIs are accepted, compared byte for byte.
        case exactly([String])
        /// These redirect URIs are accepted, with any port if the host is one of `hosts` (RFC 8252 §7.3).
        case anyPort([String], hosts: [String])
        /// Redirect URIs with one of these prefixes are accepted.
        case beginning(with: [String])
    }

    /// The client authentication method that the server requires, and announces in its metadata.
    public var authentication = Authentication.none
    /// The client secret that the server expects.
    ///
    /// A client that was registered at the registration endpoint has a random secret instead.
    public var secret = "client-secret-that-nobody-may-see"
    /// The audiences of client assertions that the server accepts (RFC 7523 §3); `{token}` is the token endpoint.
    public var assertionAudiences = ["{issuer}"]
    /// The public keys of the client as a JSON Web Key Set; nil accepts every signature of a client assertion.
    public var keys: String?
    /// The error code of token requests with a foreign `Origin`; nil ignores `Origin`.
    ///
    /// Browsers send `Origin`. A native client sends none.
    public var refusalOfForeignOrigins: String?
    /// The grant types for which a token request needs no client secret.
    public var grantTypesWithoutSecret: [String] = []
    /// The client identifiers that the server accepts, in addition to those from its registration endpoint; nil
    /// accepts every identifier.
    public var known: [String]?
    /// The rule by which the authorization endpoint accepts the redirect URI of a request.
    public var redirects = RedirectRule.any

    /// Creates a script for a server that accepts every client identifier and requires no secret.
    public init() {}
}
