/// The identifier of an authorization server: a URL from which clients derive the URLs of its metadata.
///
/// The metadata member `issuer`, RFC 8414 §2, and the parameter `iss`, RFC 9207 §2. The scheme is https, or
/// http on a loopback host for development. An issuer has no query and no fragment.
///
/// A server of this package requires an issuer in canonical form: lower-case host, no default port, no trailing
/// slash. A client that normalizes such an issuer does not change it.
public struct Issuer: Sendable, Hashable, CustomStringConvertible {
    /// The reason why ``Issuer/init(_:)`` or ``Issuer/init(ofServer:)`` rejects a string.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The string is not an absolute URI with a host; the associated value is the reason.
        case notAURI(AbsoluteURI.Refusal)
        /// The scheme is neither https nor http on a loopback host.
        case insecure
        /// The URL has a query, a fragment or user information.
        case hasExtras
        /// The URL is not in canonical form; the associated value is the canonical form.
        case notCanonical(String)
        /// The path contains an empty, `.` or `..` segment.
        case badPath

        /// An explanation with a remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "an issuer must be a URL such as https://id.example.com; \(refusal)"
            case .insecure: "an issuer must be https; http is allowed only for 127.0.0.1, [::1] and localhost"
            case .hasExtras: "an issuer must not have user information, a query or a fragment"
            case .notCanonical(let canonical): "write the issuer in its canonical form: \(canonical)"
            case .badPath: "the path of an issuer must not have empty, . or .. segments"
            }
        }
    }

    /// The issuer byte for byte as it was parsed, the form in which issuers are compared.
    public let rawValue: String
    /// Whether the host is one of ``LoopbackHost``, as on a development machine.
    public let isLoopback: Bool
    /// Whether the scheme is https; false only for http on a loopback host.
    public let isSecure: Bool
    /// `scheme://host[:port]`, without a default port.
    public let origin: String
    /// The path, without a trailing slash; empty if there is none.
    public let path: String
    /// The host in lower case.
    public let host: String
    /// The explicit port, or the default port of the scheme.
    public let port: Int

    /// Parses an issuer, and throws if it is not in canonical form, which a server of this package requires.
    public init(_ text: String) throws(Refusal) {
        try self.init(text, canonicalOnly: true)
    }

    /// Parses the issuer of any server; a trailing slash, a default port and an upper-case host are accepted.
    ///
    /// The text is kept unchanged, because issuers are compared byte for byte (RFC 9207 §2.4).
    public init(ofServer text: String) throws(Refusal) {
        try self.init(text, canonicalOnly: false)
    }

    private init(_ text: String, canonicalOnly: Bool) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .notAURI(error) }
        let scheme = uri.scheme.lowercased()
        guard let writtenHost = uri.host, !writtenHost.isEmpty else { throw .notAURI(.badAuthority) }
        let host = writtenHost.lowercased()
        guard scheme == "https" || (scheme == "http" && LoopbackHost(rawValue: host) != nil) else { throw .insecure }
        guard uri.userInformation == nil, uri.query == nil, uri.fragment == nil else { throw .hasExtras }
        let path = uri.path.hasSuffix("/") ? String(uri.path.dropLast()) : uri.path
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { throw .badPath }
        let defaultPort = scheme == "https" ? 443 : 80
        let port = uri.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
        let canonical = "\(scheme)://\(host)\(port)\(path)"
        guard !canonicalOnly || canonical == text else { throw .notCanonical(canonical) }
        rawValue = text
        isLoopback = LoopbackHost(rawValue: host) != nil
        isSecure = scheme == "https"
        origin = "\(scheme)://\(host)\(port)"
        self.path = path
        self.host = host
        self.port = uri.port ?? defaultPort
    }

    /// The issuer byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }

    /// Returns the URL of a path below the issuer; the path must begin with a slash.
    public func endpoint(_ path: String) -> String { "\(origin)\(self.path)\(path)" }

    /// The metadata URLs, in the order in which a client tries them.
    ///
    /// 1. `/.well-known/oauth-authorization-server`, inserted before the path of the issuer (RFC 8414 §3.1).
    /// 2. `/.well-known/openid-configuration`, inserted in the same way.
    /// 3. `/.well-known/openid-configuration`, appended to the path (OpenID Connect Discovery §4). For an
    ///    issuer without a path, this URL would equal the second one and is omitted.
    public var metadataURLs: [String] {
        let inserted = [
            "\(origin)/.well-known/oauth-authorization-server\(path)",
            "\(origin)/.well-known/openid-configuration\(path)",
        ]
        return path.isEmpty ? inserted : inserted + ["\(origin)\(path)/.well-known/openid-configuration"]
    }
}

/// The hosts that refer to the device on which a program runs.
///
/// RFC 8252 §7.3 and §8.3. Other spellings of these hosts, such as `127.1`, are rejected.
public enum LoopbackHost: String, Sendable, Hashable, CaseIterable {
    /// The IPv4 loopback literal, which RFC 8252 §8.3 prefers to `localhost`.
    case ipv4 = "127.0.0.1"
    /// The IPv6 loopback literal, in the brackets that a URL requires.
    case ipv6 = "[::1]"
    /// The host name `localhost`, which RFC 8252 §8.3 does not recommend.
    case localhost = "localhost"
}

extension Issuer: Codable {
    /// Decodes an issuer from a string by the rules of ``init(ofServer:)``.
    public init(from decoder: any Decoder) throws {
        try self.init(ofServer: decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the issuer as a string, byte for byte.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
