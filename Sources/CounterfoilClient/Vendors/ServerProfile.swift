/// The deviations of a vendor's server from the standard, as data that can be stored in a file.
///
/// A profile relaxes how responses are parsed and supplies endpoint URLs. It never relaxes what a response must
/// prove. The profiles of this package are in ``builtIn``.
public struct ServerProfile: Sendable, Hashable, Codable {
    /// The name on the command line: lower-case letters, digits and hyphens.
    public var name: String
    /// The name of the vendor's product.
    public var title: String
    /// The location of the server.
    public var location: Location
    /// The default host; nil if each customer has a host of its own.
    public var defaultHost: String?
    /// Other hosts, by the name of their region or environment.
    public var hosts: [String: String] = [:]
    /// The suitable redirect URI, in the form in which it is registered.
    public var redirect: Redirect
    /// The client authentication method.
    public var authentication: AuthenticationMethod = .none
    /// The scope that is requested if the app names none.
    public var defaultScope = ""
    /// Whether the server supports PKCE with S256 according to its documentation, although its metadata omits
    /// it.
    public var assumesPKCE = false
    /// The deviations from the standard.
    public var behavior = ServerBehavior()
    /// Instructions for registering a client at the vendor, one sentence per element.
    public var advice: [String] = []

    /// The location of a vendor's server.
    public enum Location: Sendable, Hashable, Codable {
        /// The server publishes metadata; `{host}` in the issuer is a placeholder.
        case issuer(String)
        /// The server publishes no metadata.
        ///
        /// The profile contains its endpoints, in which `{host}` is a placeholder.
        case addresses(Addresses)
    }

    /// The endpoints of a server without metadata; each may contain `{host}`.
    public struct Addresses: Sendable, Hashable, Codable {
        /// The identifier of the server in stored credentials.
        public var issuer: String
        /// The authorization endpoint.
        public var authorization: String
        /// The token endpoint.
        public var token: String
        /// The revocation endpoint; nil if there is none.
        public var revocation: String?
        /// The UserInfo endpoint; nil if there is none.
        public var userInfo: String?
        /// The device authorization endpoint; nil if there is none.
        public var deviceAuthorization: String?

        /// Creates the endpoints; the optional ones are nil.
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
        /// The registered ports, tried in order; empty for any port.
        public var ports: [Int] = []
        /// Whether the vendor accepts a private-use URI scheme.
        public var takesCustomScheme = true

        /// Creates rules that restrict neither the port nor private-use URI schemes.
        public init(loopback: String?) { self.loopback = loopback }
    }

    /// A client authentication method.
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// The client identifier alone.
        case none
        /// A secret in the form body.
        ///
        /// In an app on a device it protects nothing, but the server requires it.
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
