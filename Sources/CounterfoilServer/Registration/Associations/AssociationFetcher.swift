public import CounterfoilProtocol

/// Fetches a small public file from a host that a developer has named.
///
/// An implementation connects only to addresses that ``OutboundNetworks`` allows, follows no redirect, and
/// bounds size and time.
public protocol AssociationFetcher: Sendable {
    /// Fetches the file at an https URL.
    func fetch(_ url: AbsoluteURI) async -> AssociationFetch
}

/// The result of fetching a file.
public enum AssociationFetch: Sendable, Hashable {
    /// The host responded. The body is empty unless the status is 200.
    case answered(status: Int, contentType: String?, body: [UInt8])
    /// There is no usable response.
    case failed(Failure)

    /// The reason why there is no usable response.
    public enum Failure: Sendable, Hashable {
        /// The URL is not an https URL with a host name and the default port.
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
        /// The body is larger than ``AssociationCheck/byteLimit``.
        case tooLarge
        /// Too many such files are being fetched.
        case busy
    }
}
