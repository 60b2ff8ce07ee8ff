@_spi(Counterfoil) public import CounterfoilProtocol

/// A URL to which the client may send a code or a token: https, or http on a loopback host.
///
/// RFC 6749 §3.1 and §3.2, RFC 8252 §7.3. A transport takes only values of this type, so nothing can be sent to
/// any other URL.
public struct EndpointURL: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a URL cannot be an endpoint.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL is not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// The URL is neither https nor http on a loopback host.
        case insecure
        /// The URL has user information or a fragment, or has no host.
        case malformed
        /// The URL of an API is longer than 64 KiB.
        case tooLong

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .insecure: "it must be https; http is allowed only for 127.0.0.1, [::1] and localhost"
            case .malformed: "it must name a host, and have no user information and no fragment"
            case .tooLong: "it is longer than \(EndpointURL.apiByteLimit) bytes"
            }
        }
    }

    /// The URL as it was parsed, without normalization.
    public let rawValue: String
    /// The parsed form of ``rawValue``, with scheme, host, port, path and query.
    public let uri: AbsoluteURI
    /// Whether the host is 127.0.0.1, `[::1]` or localhost.
    public let isLoopback: Bool

    /// Parses a URL; throws unless it is https, or http on a loopback host, without user information and fragment.
    public init(_ text: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .notAURI(error) }
        try self.init(uri)
    }

    /// The maximum length of the URL of an API in bytes, which is larger than that of the endpoint of a server.
    static let apiByteLimit = 64 * 1024

    /// Parses the URL of an API, which may be longer than an endpoint of a server and contain characters such as `|`.
    ///
    /// Characters that RFC 3986 does not allow are percent-encoded behind the authority, as browsers do. Control
    /// characters and the backslash are refused.
    init(api text: String) throws(Refusal) {
        guard text.utf8.count <= Self.apiByteLimit else { throw .tooLong }
        let encoded = Self.percentEncoded(text)
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: encoded, byteLimit: 3 * Self.apiByteLimit) } catch { throw .notAURI(error) }
        try self.init(uri)
    }

    private init(_ uri: AbsoluteURI) throws(Refusal) {
        guard let host = uri.host, !host.isEmpty, uri.userInformation == nil, uri.fragment == nil else {
            throw .malformed
        }
        let isLoopback = LoopbackHost(rawValue: host.lowercased()) != nil
        switch uri.scheme.lowercased() {
        case "https": break
        case "http" where isLoopback: break
        default: throw .insecure
        }
        rawValue = uri.rawValue
        self.uri = uri
        self.isLoopback = isLoopback
    }

    /// Encodes characters behind the authority that a URI cannot contain.
    private static func percentEncoded(_ text: String) -> String {
        let (scheme, rest) = (text.prefix { $0 != ":" }, text.drop { $0 != ":" })
        guard rest.hasPrefix("://"),
            let path = rest.dropFirst(3).firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" || $0 == "\\" })
        else { return text }
        var encoded = "\(scheme)\(rest[..<path])"
        for byte in text[path...].utf8 {
            switch byte {
            case 0x80..., UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            default: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return encoded
    }

    /// `scheme://host[:port]`, without path and query.
    ///
    /// The origin is safe to show to users and in logs, even if the path or the query is confidential.
    public var origin: String {
        "\(uri.scheme)://\(uri.host ?? "")" + (uri.port.map { ":\($0)" } ?? "")
    }

    /// The URL exactly as it was parsed, without normalization.
    public var description: String { rawValue }
}
