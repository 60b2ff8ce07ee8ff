public import CounterfoilProtocol

/// An address to which this product may send a code or a token: https, or http on the device itself.
///
/// RFC 6749 §3.1 and §3.2, RFC 8252 §7.3. A value of this type is the only thing that a transport takes, so that nothing
/// can be sent anywhere else.
public struct EndpointURL: Sendable, Hashable, CustomStringConvertible {
    /// Why an address is not one to send anything to.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not an absolute URI.
        case notAURI(AbsoluteURI.Refusal)
        /// Neither https nor http on a loopback host.
        case insecure
        /// It has user information or a fragment, or names no host.
        case malformed

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .notAURI(let refusal): "\(refusal)"
            case .insecure: "it must be https; http is allowed only for 127.0.0.1, [::1] and localhost"
            case .malformed: "it must name a host, and have no user information and no fragment"
            }
        }
    }

    /// The address, byte for byte.
    public let rawValue: String
    /// Its parts.
    public let uri: AbsoluteURI
    /// Whether its host never leaves the device.
    public let isLoopback: Bool

    /// Parses an address.
    public init(_ text: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .notAURI(error) }
        guard let host = uri.host, !host.isEmpty, uri.userInformation == nil, uri.fragment == nil else {
            throw .malformed
        }
        let isLoopback = LoopbackHost(rawValue: host.lowercased()) != nil
        switch uri.scheme.lowercased() {
        case "https": break
        case "http" where isLoopback: break
        default: throw .insecure
        }
        rawValue = text
        self.uri = uri
        self.isLoopback = isLoopback
    }

    /// `scheme://host[:port]`, without path and query: what may be shown when nothing else may.
    public var origin: String {
        "\(uri.scheme)://\(uri.host ?? "")" + (uri.port.map { ":\($0)" } ?? "")
    }

    /// The address, byte for byte.
    public var description: String { rawValue }
}
