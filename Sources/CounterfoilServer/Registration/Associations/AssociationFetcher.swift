public import CounterfoilProtocol

/// Gets a small public file from a host that somebody else has named.
///
/// An implementation connects only to addresses that ``OutboundNetworks`` allows, follows no redirect, and bounds size and time.
public protocol AssociationFetcher: Sendable {
    /// Gets the file at an https URL.
    func fetch(_ url: AbsoluteURI) async -> AssociationFetch
}

/// What came of getting a file.
public enum AssociationFetch: Sendable, Hashable {
    /// The host answered. The body is empty unless the status is 200.
    case answered(status: Int, contentType: String?, body: [UInt8])
    /// It did not, or not so that the answer could be used.
    case failed(Failure)

    /// Why there is no answer.
    public enum Failure: Sendable, Hashable {
        /// Not an https URL of a host name at the usual port.
        case unsuitableURL
        /// The name is not known.
        case unknownHost
        /// The name leads to an address that is neither public nor in a network that the owner has allowed.
        case notPublic
        /// No connection came about.
        case unreachable
        /// The certificate is not that of the host.
        case untrusted
        /// It took longer than it may.
        case timedOut
        /// The body is larger than ``AssociationCheck/byteLimit``.
        case tooLarge
        /// Too many such files are being fetched.
        case busy
    }
}
