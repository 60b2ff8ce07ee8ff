public import CounterfoilProtocol

/// The URL of a client metadata document, which is also the client identifier.
///
/// OAuth Client ID Metadata Document §3. The publisher of a client hosts one document for all installations. The
/// document lists the redirect URIs of the client. A loopback URI without a port allows every port (RFC 8252 §7.3).
public struct ClientMetadataDocument: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a URL was rejected as a client identifier (OAuth Client ID Metadata Document §3).
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL is not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// The scheme is not https, or the URL has no host.
        case notHTTPS
        /// The URL has no path, so the document would represent the whole host and not one client.
        case noPath
        /// The URL has a segment `.` or `..`, user information or a fragment, or is longer than 2048 bytes.
        ///
        /// With such segments, user information or a fragment, several URLs would name one document.
        case malformed

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .notHTTPS: "the URL of a client's metadata document must be https"
            case .noPath:
                "the URL of a client's metadata document must have a path, such as https://app.example.com/client.json"
            case .malformed:
                "the URL of a client's metadata document must have no segments . or .., no user information and no fragment"
            }
        }
    }

    /// The URL as a client identifier.
    public let clientID: ClientIdentifier

    /// Parses the URL of a client metadata document: https, with a host and a path, at most 2048 bytes.
    public init(_ address: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: address) } catch { throw .notAURI(error) }
        guard uri.scheme == "https", let host = uri.host, !host.isEmpty else { throw .notHTTPS }
        guard uri.path.count > 1 else { throw .noPath }
        let segments = uri.path.split(separator: "/", omittingEmptySubsequences: false)
        guard uri.userInformation == nil, uri.fragment == nil, !segments.contains("."), !segments.contains(".."),
            let clientID = ClientIdentifier(address)
        else { throw .malformed }
        self.clientID = clientID
    }

    /// The URL, which is also the client identifier.
    public var description: String { clientID.rawValue }
}
