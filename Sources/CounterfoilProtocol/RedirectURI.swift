/// The URI to which the server sends the authorization response.
///
/// The parameter `redirect_uri`, RFC 6749 §3.1.2 and RFC 8252 §7: an absolute URI without a fragment, kept byte
/// for byte. This type determines the ``Kind`` of a URI. Client registration decides which kinds a client may
/// use.
public struct RedirectURI: Sendable, Hashable, CustomStringConvertible {
    /// The three kinds of redirect URI in RFC 8252 §7.
    public enum Kind: Sendable, Hashable {
        /// A URL on the loopback interface (RFC 8252 §7.3); the port is nil if the URI contains none.
        case loopback(LoopbackHost, port: Int?)
        /// A URI with a private-use scheme of the app (RFC 8252 §7.1); the associated value is the scheme in
        /// lower case.
        case privateUseScheme(String)
        /// An https URL, either claimed by a native app (RFC 8252 §7.2) or belonging to a web application.
        case https(host: String)
    }

    /// The error with which ``RedirectURI/init(_:)`` rejects a string, for example when a client is registered.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The string is not an absolute URI; the associated value is the reason.
        case notAURI(AbsoluteURI.Refusal)
        /// The URI has a fragment (RFC 6749 §3.1.2).
        case hasFragment
        /// The URI has user information, which can mislead users about the host.
        case hasUserInformation
        /// An http or https URL has no host.
        case noHost
        /// An http URL has a host that is not a loopback host.
        case insecure
        /// The scheme, which is the associated value, is one that browsers execute, load or render themselves.
        case dangerousScheme(String)

        /// An explanation, with a remedy where there is one, safe to show to users.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .hasFragment: "it has a fragment (#…), which a redirect URI cannot have"
            case .hasUserInformation: "it has user information before an @, which a redirect URI cannot have"
            case .noHost: "it has no host"
            case .insecure: "http is allowed only for 127.0.0.1, [::1] and localhost; use https"
            case .dangerousScheme(let scheme):
                "browsers handle the scheme \(scheme): themselves; use https or a private-use scheme"
            }
        }
    }

    /// The URI byte for byte, the form in which redirect URIs are compared; on a loopback host, any port matches.
    public let rawValue: String
    /// The kind of the URI, from which client registration decides whether the client may use it.
    public let kind: Kind
    /// The components of the URI, such as its host and its query.
    public let uri: AbsoluteURI

    /// Parses a redirect URI of at most ``AbsoluteURI/byteLimit`` bytes.
    public init(_ text: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .notAURI(error) }
        guard uri.fragment == nil else { throw .hasFragment }
        guard uri.userInformation == nil else { throw .hasUserInformation }
        switch uri.scheme.lowercased() {
        case "https":
            guard let host = uri.host, !host.isEmpty else { throw .noHost }
            kind = .https(host: host)
        case "http":
            guard let host = uri.host, !host.isEmpty else { throw .noHost }
            guard let loopback = LoopbackHost(rawValue: host) else { throw .insecure }
            kind = .loopback(loopback, port: uri.port)
        case let scheme:
            guard !Self.isHandledByBrowsers(scheme: scheme) else { throw .dangerousScheme(scheme) }
            kind = .privateUseScheme(scheme)
        }
        rawValue = text
        self.uri = uri
    }

    /// The URI byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }

    /// Returns the URI with response parameters appended to its query.
    ///
    /// The query that the URI already has is kept (RFC 6749 §3.1.2).
    public func appending(_ parameters: FormParameters) -> String {
        let separator = uri.query == nil ? "?" : uri.query == "" ? "" : "&"
        return rawValue + separator + parameters.encoded
    }

    /// Returns true if a scheme has a meaning for browsers or other programs that makes it unsafe for redirect URIs,
    /// such as `javascript` or `mailto`.
    ///
    /// An authorization response must never be sent to such a URL. The schemes `http` and `https` have rules of their
    /// own and are not among them.
    public static func isHandledByBrowsers(scheme: some StringProtocol) -> Bool {
        dangerousSchemes.contains(scheme.lowercased())
    }

    private static let dangerousSchemes: Set<String> = [
        "about", "blob", "chrome", "chrome-extension", "data", "file", "filesystem", "ftp", "ftps", "gopher", "intent",
        "jar", "javascript", "livescript", "mailto", "mhtml", "mocha", "moz-extension", "ms-appx", "ms-appx-web",
        "ms-browser-extension", "resource", "sms", "tel", "vbscript", "view-source", "ws", "wss", "wyciwyg",
    ]
}

extension RedirectURI: Codable {
    /// Decodes a redirect URI from a string, and throws if it is invalid.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the redirect URI as a string, byte for byte.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
