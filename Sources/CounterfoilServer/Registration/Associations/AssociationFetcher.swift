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
    public typealias Failure = OutboundFailure
}
