public import CounterfoilProtocol

/// The address of a document in which an application says what it is; the address itself is its client identifier.
///
/// OAuth Client ID Metadata Document §3. Whoever offers an application publishes one for all of its copies; it lists the
/// redirect URIs that they use, without a port where any will do.
public struct ClientMetadataDocument: Sendable, Hashable, CustomStringConvertible {
    /// Why an address is not one of such a document.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// A scheme other than https.
        case notHTTPS
        /// Nothing but a host, which would speak for everything on it.
        case noPath
        /// Segments `.` or `..`, user information or a fragment: the same document would have several names.
        case malformed

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .notHTTPS: "the address of a client's document must be https"
            case .noPath:
                "the address of a client's document must have a path, as https://app.example.com/client.json has"
            case .malformed:
                "the address of a client's document has no segments . or .., no user information and no fragment"
            }
        }
    }

    /// The address as it is sent in the place of a registered identifier.
    public let clientID: ClientIdentifier

    /// Parses an address.
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

    /// The address.
    public var description: String { clientID.rawValue }
}
