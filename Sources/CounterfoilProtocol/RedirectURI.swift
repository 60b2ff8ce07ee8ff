/// The address to which the authorization response goes.
///
/// Wire name `redirect_uri`, RFC 6749 §3.1.2 and RFC 8252 §7: an absolute URI without fragment, kept byte for byte. What it
/// is allowed to be for an application is decided at registration; this type says what it is.
public struct RedirectURI: Sendable, Hashable, CustomStringConvertible {
    /// The three ways of RFC 8252 §7 to reach an application.
    public enum Kind: Sendable, Hashable {
        /// A port on the device itself (RFC 8252 §7.3); the port is nil when none is written.
        case loopback(LoopbackHost, port: Int?)
        /// A scheme of the application (RFC 8252 §7.1).
        case privateUseScheme(String)
        /// An https address: claimed by a native application (RFC 8252 §7.2), or of a web application.
        case https(host: String)
    }

    /// Why a text is not a redirect URI.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// It has a fragment (RFC 6749 §3.1.2).
        case hasFragment
        /// It has user information, which only serves to mislead.
        case hasUserInformation
        /// An http or https address without a host.
        case noHost
        /// http to a host that is not the device itself.
        case insecure
        /// A scheme that browsers run, read or render by themselves.
        case dangerousScheme(String)

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .hasFragment: "it has a fragment (#…), which a redirect URI cannot have"
            case .hasUserInformation: "it has user information before an @, which a redirect URI cannot have"
            case .noHost: "it names no host"
            case .insecure: "http is allowed only for 127.0.0.1, [::1] and localhost; use https"
            case .dangerousScheme(let scheme):
                "the scheme \(scheme): is handled by browsers themselves and can never be one"
            }
        }
    }

    /// The URI as it stands on the wire.
    public let rawValue: String
    /// Which of the three kinds it is.
    public let kind: Kind
    /// Its parts.
    public let uri: AbsoluteURI

    /// Parses a redirect URI.
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

    /// The URI as it stands on the wire.
    public var description: String { rawValue }

    /// The URI with response parameters added to its query, which is kept (RFC 6749 §3.1.2).
    public func appending(_ parameters: FormParameters) -> String {
        let separator = uri.query == nil ? "?" : uri.query == "" ? "" : "&"
        return rawValue + separator + parameters.encoded
    }

    /// Whether a scheme is one that browsers run, read or render by themselves, so that nothing may ever be sent there.
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
    /// Decodes the wire form.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the wire form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
