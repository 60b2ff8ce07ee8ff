/// The reason why an outbound request to a host that a developer has named got no usable response.
public enum OutboundFailure: Error, Sendable, Hashable {
    /// The URL is not an https URL with a host name and an allowed port.
    case unsuitableURL
    /// The host name does not exist.
    case unknownHost
    /// The name has an IP address that is neither public nor in a network that the owner has allowed.
    case notPublic
    /// No connection could be established.
    case unreachable
    /// The certificate is not valid for the host.
    case untrusted
    /// The request timed out.
    case timedOut
    /// The body is larger than the limit of the request.
    case tooLarge
    /// Too many such requests are in flight.
    case busy
}
