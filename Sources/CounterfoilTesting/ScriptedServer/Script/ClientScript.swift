/// Who may use a scripted server, and how they prove it.
public struct ClientScript: Sendable, Hashable, Codable {
    /// How clients authenticate.
    public enum Authentication: String, Sendable, Hashable, Codable {
        /// Not at all; a secret that comes along is ignored.
        case none
        /// Not at all; a secret that comes along, even an empty one, is refused.
        case noSecretAllowed = "no-secret-allowed"
        /// By a secret in the form (RFC 6749 §2.3.1).
        case post = "client_secret_post"
        /// By a secret in HTTP Basic (RFC 6749 §2.3.1).
        case basic = "client_secret_basic"
    }

    /// Which redirect URIs are taken.
    public enum RedirectRule: Sendable, Hashable, Codable {
        /// Any.
        case any
        /// These, byte for byte.
        case exactly([String])
        /// These, with any port where the host is one of those (RFC 8252 §7.3).
        case anyPort([String], hosts: [String])
        /// Those that begin so.
        case beginning(with: [String])
    }

    /// How clients authenticate.
    public var authentication = Authentication.none
    /// The secret that counts.
    public var secret = "client-secret-that-nobody-may-see"
    /// The grant types at which no secret is needed.
    public var grantTypesWithoutSecret: [String] = []
    /// The client ids that are known; nil is any.
    public var known: [String]?
    /// Which redirect URIs are taken.
    public var redirects = RedirectRule.any

    /// Any client, without secret.
    public init() {}
}
