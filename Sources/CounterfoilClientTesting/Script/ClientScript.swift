/// The clients that a scripted server accepts, and their authentication.
public struct ClientScript: Sendable, Hashable, Codable {
    /// A client authentication method.
    public enum Authentication: String, Sendable, Hashable, Codable {
        /// No authentication; a secret in the request is ignored.
        case none
        /// No authentication; a secret in the request, even an empty one, is an error.
        case noSecretAllowed = "no-secret-allowed"
        /// A secret in the form (RFC 6749 §2.3.1).
        case post = "client_secret_post"
        /// A secret in HTTP Basic (RFC 6749 §2.3.1).
        case basic = "client_secret_basic"
    }

    /// A rule for accepting redirect URIs.
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

    /// The client authentication method.
    public var authentication = Authentication.none
    /// The client secret.
    public var secret = "client-secret-that-nobody-may-see"
    /// The grant types that need no secret.
    public var grantTypesWithoutSecret: [String] = []
    /// The known client identifiers; nil accepts every identifier.
    public var known: [String]?
    /// The rule for accepting redirect URIs.
    public var redirects = RedirectRule.any

    /// Creates a server that accepts every client without a secret.
    public init() {}
}
