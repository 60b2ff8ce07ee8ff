import CounterfoilProtocol

/// The origin of an API to which an access token may be sent: scheme, host and port, such as
/// `https://photos.example.com`.
///
/// RFC 9110 §4.3.1. Two origins are equal if they name the same scheme, host and port, whatever their case, and
/// whether they name the default port of https or not.
public struct APIOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The origin in lower case, without the default port of its scheme.
    public let rawValue: String
    /// Whether the scheme is http, which is possible only on a loopback host.
    let isPlain: Bool

    /// The reason why ``APIOrigin/init(_:)`` rejects a text.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is malformed, or is neither https nor http on a loopback host.
        case badURL(EndpointURL.Refusal)
        /// The text has a path or a query, which an origin cannot have.
        case notOnlyOrigin

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .badURL(let refusal): "an API origin cannot be used: \(refusal)"
            case .notOnlyOrigin:
                "an API origin must have no path and no query; write it as in https://photos.example.com"
            }
        }
    }

    /// Parses an origin: https, or http on a loopback host, with an optional port and without path and query.
    public init(_ text: String) throws(Refusal) {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(text) } catch { throw .badURL(error) }
        guard endpoint.uri.path.isEmpty || endpoint.uri.path == "/", endpoint.uri.query == nil else {
            throw .notOnlyOrigin
        }
        self.init(of: endpoint)
    }

    /// Creates the origin of a URL.
    public init(of endpoint: EndpointURL) {
        let scheme = endpoint.uri.scheme.lowercased()
        let usual = scheme == "http" ? 80 : 443
        let port = endpoint.uri.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        isPlain = scheme == "http"
        rawValue = "\(scheme)://\((endpoint.uri.host ?? "").lowercased())\(port)"
    }

    /// The origin, the same as ``rawValue``.
    public var description: String { rawValue }
}

extension APIOrigin: Codable {
    /// Decodes an origin from a single string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do { try self.init(try container.decode(String.self)) } catch let refusal as Refusal {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(refusal)")
        }
    }

    /// Encodes the origin as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension Sequence<Resource> {
    /// The origins of the resource identifiers that are URLs; other identifiers, such as a URN, have none.
    var origins: Set<APIOrigin> { Set(compactMap { try? EndpointURL($0.rawValue) }.map { APIOrigin(of: $0) }) }
}
