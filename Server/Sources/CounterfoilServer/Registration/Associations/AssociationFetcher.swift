public import CounterfoilProtocol
public import CounterfoilStore

/// A fetcher of association files from hosts that developers have chosen.
///
/// An implementation must connect only to IP addresses that ``OutboundNetworks`` allows and must not follow
/// redirects. It must limit the size of the response and the time of the request.
public protocol AssociationFetcher: Sendable {
    /// Fetches the file at an https URL, and reports a failed request in the result instead of throwing an error.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - request: The request that needs the file; nil if none does.
    func fetch(_ url: AbsoluteURI, for request: RequestContext?) async -> AssociationFetch
}

/// The result of fetching an association file.
public enum AssociationFetch: Sendable, Hashable {
    /// The host sent a response with this status; the body is empty unless the status is 200.
    case answered(status: Int, contentType: String?, body: [UInt8])
    /// The request failed, or its response cannot be used.
    case failed(Failure)

    /// The reason why the request got no usable response.
    public typealias Failure = OutboundFailure
}
