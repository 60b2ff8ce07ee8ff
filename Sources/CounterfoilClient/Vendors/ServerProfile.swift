/// What an application has to know of a vendor's server besides the standard: data, which can be kept in a file.
///
/// A profile loosens how answers are read and says where things are; no profile loosens what an answer must prove. The ones
/// that come with this product are in ``builtIn``.
public struct ServerProfile: Sendable, Hashable, Codable {
    /// The name on a command line: lower-case letters, digits and hyphens.
    public var name: String
    /// The name of the vendor's product.
    public var title: String
    /// Where its server is.
    public var location: Location
    /// The host when nobody names one; nil when each customer has a host of their own.
    public var defaultHost: String?
    /// Other hosts by the name of the region or environment that they serve.
    public var hosts: [String: String] = [:]
    /// The redirect URI that suits it, as it is to be registered.
    public var redirect: Redirect
    /// How an application proves itself there.
    public var authentication: AuthenticationMethod = .none
    /// What is asked for when the application names no scope.
    public var defaultScope = ""
    /// Whether it does PKCE with S256 though its metadata do not say so, by its documentation.
    public var assumesPKCE = false
    /// How it differs from the standard.
    public var behavior = ServerBehavior()
    /// What whoever registers an application there should know, a sentence each.
    public var advice: [String] = []

    /// Where a vendor's server is.
    public enum Location: Sendable, Hashable, Codable {
        /// It publishes metadata under an issuer, in which `{host}` is replaced.
        case issuer(String)
        /// It publishes none; its addresses are known, and `{host}` is replaced in them.
        case addresses(Addresses)
    }

    /// The addresses of a server without metadata; each may hold `{host}`.
    public struct Addresses: Sendable, Hashable, Codable {
        /// What stands for the server when credentials are kept.
        public var issuer: String
        /// The authorization endpoint.
        public var authorization: String
        /// The token endpoint.
        public var token: String
        /// The revocation endpoint; nil when there is none.
        public var revocation: String?
        /// Where the server says who signed in; nil when it does not.
        public var userInfo: String?
        /// The device authorization endpoint; nil when there is none.
        public var deviceAuthorization: String?

        /// Names the addresses that every server has.
        public init(issuer: String, authorization: String, token: String) {
            self.issuer = issuer
            self.authorization = authorization
            self.token = token
        }
    }

    /// What a redirect URI on the device looks like there.
    public struct Redirect: Sendable, Hashable, Codable {
        /// The loopback redirect URI as it is registered, without a port; nil when the vendor takes none.
        public var loopback: String?
        /// The ports that are registered, tried in order; empty means any port.
        public var ports: [Int] = []
        /// Whether the vendor takes a private-use scheme.
        public var takesCustomScheme = true

        /// Names the loopback redirect URI.
        public init(loopback: String?) { self.loopback = loopback }
    }

    /// How an application proves itself.
    public enum AuthenticationMethod: String, Sendable, Hashable, Codable {
        /// By its identifier alone.
        case none
        /// By a secret in the form, which for an application on a device protects nothing but has to be sent.
        case secretPost = "client_secret_post"
        /// By a secret in the `Authorization` field.
        case secretBasic = "client_secret_basic"
    }

    /// A profile of a server; everything else is as the standard has it.
    public init(name: String, title: String, location: Location, redirect: Redirect) {
        self.name = name
        self.title = title
        self.location = location
        self.redirect = redirect
    }
}
