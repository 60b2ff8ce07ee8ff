/// The deviations of a vendor's server from the standard, as data that can be stored in a file.
///
/// A profile changes how requests are written and responses are parsed, and it can supply endpoint URLs. It never
/// disables the validation of a response, such as that of `state` and of the ID token. At a host that is not the
/// vendor's, a server that publishes metadata needs no deviations; see
/// ``VendorServer/configuration(transport:)``. The profiles of this package are in ``builtIn``.
public struct ServerProfile: Sendable, Hashable, Codable {
    /// The name of the profile, for example on the command line: lower-case letters, digits and hyphens.
    public var name: String
    /// The name of the vendor's product, as messages show it.
    public var title: String
    /// The issuer or the endpoint URLs of the server.
    public var location: Location
    /// The default host; nil if the vendor has a separate host for each customer.
    public var defaultHost: String?
    /// The hosts of the vendor by region or environment, such as `eu` or `qa`; empty if there is no choice.
    public var hosts: [String: String] = [:]
    /// The redirect URIs that the vendor accepts for native apps.
    public var redirect: Redirect
    /// The client authentication method that the vendor requires.
    public var authentication: AuthenticationMethod = .none
    /// The scope that a sign-in requests if the app specifies none.
    public var defaultScope = ""
    /// Whether the server supports PKCE with S256 according to its documentation, although its metadata does not
    /// announce it.
    public var assumesPKCE = false
    /// The deviations from the standard.
    public var behavior = ServerBehavior()
    /// Instructions for registering a client at the vendor, one sentence per element.
    public var advice: [String] = []

    /// The source of the endpoint URLs of a vendor's server: its metadata or the profile.
    public enum Location: Sendable, Hashable, Codable {
        /// The issuer of a server that publishes metadata; the issuer may contain the placeholder `{host}`.
        case issuer(String)
        /// The server publishes no metadata, so the profile contains its endpoint URLs.
        ///
        /// `{host}` in the URLs is a placeholder. At a host that the profile does not list, the metadata of a server
        /// take precedence.
        case addresses(Addresses)
    }

    /// The endpoint URLs of a server without metadata; each URL may contain the placeholder `{host}`.
    public struct Addresses: Sendable, Hashable, Codable {
        /// The issuer identifier that identifies the server in stored credentials.
        public var issuer: String
        /// The URL of the authorization endpoint (RFC 6749 §3.1).
        public var authorization: String
        /// The URL of the token endpoint (RFC 6749 §3.2).
        public var token: String
        /// The URL of the revocation endpoint (RFC 7009 §2); nil if there is none.
        public var revocation: String?
        /// The URL of the UserInfo endpoint (OpenID Connect Core §5.3); nil if there is none.
        public var userInfo: String?
        /// The URL of the device authorization endpoint (RFC 8628 §3.1); nil if there is none.
        public var deviceAuthorization: String?

        /// Creates the required endpoint URLs; the optional ones are nil and can be set afterwards.
        public init(issuer: String, authorization: String, token: String) {
            self.issuer = issuer
            self.authorization = authorization
            self.token = token
        }
    }

    /// The redirect URIs that the vendor accepts for native apps.
    public struct Redirect: Sendable, Hashable, Codable {
        /// The registered loopback redirect URI, without a port; nil if the vendor accepts none.
        public var loopback: String?
        /// The ports that must be registered, in the order in which the client tries to listen on them.
        ///
        /// If the list is empty, the vendor accepts any port.
        public var ports: [Int] = []
        /// Whether the vendor accepts redirect URIs with a private-use URI scheme.
        public var takesCustomScheme = true

        /// Creates rules that allow every port and redirect URIs with a private-use URI scheme.
        public init(loopback: String?) { self.loopback = loopback }
    }

    /// A client authentication method, with the names of `token_endpoint_auth_method` (RFC 7591 §2).
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// The client identifier alone.
        case none
        /// A secret in the form body.
        ///
        /// The server requires the secret, although a secret in an installed app is not confidential.
        case secretPost = "client_secret_post"
        /// A secret in the `Authorization` header field.
        case secretBasic = "client_secret_basic"
    }

    /// Creates a profile without deviations from the standard.
    public init(name: String, title: String, location: Location, redirect: Redirect) {
        self.name = name
        self.title = title
        self.location = location
        self.redirect = redirect
    }
}
