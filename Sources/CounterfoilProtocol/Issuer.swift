/// The identifier of an authorization server: an URL from which every other address follows.
///
/// Wire name `issuer` and `iss`, RFC 8414 §2 and RFC 9207 §2. It is https, or http on a loopback host for development;
/// without query and fragment; in canonical form (lower-case host, no default port, no trailing slash), so that clients
/// that normalise URLs still compare the same bytes.
public struct Issuer: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is not an issuer that this product can be.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// Neither https nor http on a loopback host.
        case insecure
        /// It has a query, a fragment or user information.
        case hasExtras
        /// It is not in canonical form; the value is the canonical one.
        case notCanonical(String)
        /// The path holds an empty, `.` or `..` segment.
        case badPath

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "an issuer must be a URL such as https://id.example.com; \(refusal)"
            case .insecure: "an issuer must be https; http is allowed only for 127.0.0.1, [::1] and localhost"
            case .hasExtras: "an issuer has no user information, no query and no fragment"
            case .notCanonical(let canonical): "write the issuer in its canonical form: \(canonical)"
            case .badPath: "the path of an issuer has no empty, . or .. segments"
            }
        }
    }

    /// The issuer as it stands on the wire.
    public let rawValue: String
    /// Whether its host is a loopback host.
    public let isLoopback: Bool
    /// Whether its scheme is https.
    public let isSecure: Bool
    /// `scheme://host[:port]`, without path.
    public let origin: String
    /// The path, without trailing slash; empty when there is none.
    public let path: String
    /// The host, in lower case.
    public let host: String
    /// The port that a client connects to.
    public let port: Int

    /// Parses an issuer that this product serves.
    public init(_ text: String) throws(Refusal) {
        try self.init(text, canonicalOnly: true)
    }

    /// Parses the issuer of somebody else's server, which may have a trailing slash or a default port.
    ///
    /// The text stays as it is and is compared by its bytes (RFC 9207 §2.4).
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

    /// The issuer as it stands on the wire.
    public var description: String { rawValue }

    /// The address of something under the issuer; the path begins with a slash.
    public func endpoint(_ path: String) -> String { "\(origin)\(self.path)\(path)" }

    /// The addresses of the metadata, in the order in which a client tries them.
    ///
    /// With a path: RFC 8414 §3.1 (inserted), the same for OpenID, OpenID Connect Discovery §4 (appended). Without a path
    /// the last two are one.
    public var metadataURLs: [String] {
        let inserted = [
            "\(origin)/.well-known/oauth-authorization-server\(path)",
            "\(origin)/.well-known/openid-configuration\(path)",
        ]
        return path.isEmpty ? inserted : inserted + ["\(origin)\(path)/.well-known/openid-configuration"]
    }
}

/// The hosts that never leave the device.
///
/// RFC 8252 §7.3 and §8.3. Only these three spellings: other names for the same address are not accepted.
public enum LoopbackHost: String, Sendable, Hashable, CaseIterable {
    /// The IPv4 literal.
    case ipv4 = "127.0.0.1"
    /// The IPv6 literal.
    case ipv6 = "[::1]"
    /// The name, which RFC 8252 §8.3 does not recommend.
    case localhost = "localhost"
}

extension Issuer: Codable {
    /// Decodes the wire form of any server's issuer.
    public init(from decoder: any Decoder) throws {
        try self.init(ofServer: decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the wire form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
