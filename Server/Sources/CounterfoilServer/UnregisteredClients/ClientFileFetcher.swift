@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilStore

/// A fetcher of what clients publish about themselves: their documents, keys and logos.
///
/// An implementation must connect only to public IP addresses, and to those that ``OutboundNetworks`` allows if the
/// owner has named the host (``ClientFileRequest/isOfNamedHost``). It must not follow redirects, and it must limit the
/// size of the response and the time of the request.
public protocol ClientFileFetcher: Sendable {
    /// Fetches a file, and reports a failed request in the result instead of throwing an error.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - request: The request that needs the file first; nil if none does.
    func fetch(_ file: ClientFileRequest, for request: RequestContext?) async -> ClientFileFetch
}

/// A request for a file that a client publishes.
public struct ClientFileRequest: Sendable, Hashable {
    /// The https URL of the file.
    public let url: AbsoluteURI
    /// The media types that the request accepts, as the value of `Accept`.
    public let accepting: String
    /// The maximum size of the body in bytes; a larger one is not read to its end.
    public let byteLimit: Int
    /// The value of `If-None-Match`, an entity tag of an earlier response; nil for none (RFC 9110 §13.1.2).
    public let entityTag: String?
    /// Whether the owner's policy names the host of the URL (`UnregisteredClientPolicy.allowedHosts`).
    ///
    /// Only then can the host be in a private network that the operator allows.
    public let isOfNamedHost: Bool

    /// Creates a request.
    public init(
        url: AbsoluteURI, accepting: String, byteLimit: Int, entityTag: String? = nil, isOfNamedHost: Bool = false
    ) {
        self.url = url
        self.accepting = accepting
        self.byteLimit = byteLimit
        self.entityTag = entityTag
        self.isOfNamedHost = isOfNamedHost
    }

    /// Returns the request for a file unless it still has an entity tag; nil for none.
    func revalidating(_ entityTag: String?) -> ClientFileRequest {
        ClientFileRequest(
            url: url, accepting: accepting, byteLimit: byteLimit, entityTag: entityTag, isOfNamedHost: isOfNamedHost)
    }
}

/// The result of fetching a file that a client publishes.
public enum ClientFileFetch: Sendable, Hashable {
    /// The host sent a response.
    case answered(Response)
    /// The request failed, or its response cannot be used.
    case failed(OutboundFailure)

    /// A response to a ``ClientFileRequest``.
    public struct Response: Sendable, Hashable {
        /// The status code.
        public let status: Int
        /// The value of `Content-Type`; nil unless the response has this field exactly once.
        public let contentType: String?
        /// The value of `ETag`; nil unless the response has this field exactly once.
        public let entityTag: String?
        /// The values of `Cache-Control`, joined by commas; nil if there are none.
        public let cacheControl: String?
        /// The body; empty unless the status is 200.
        public let body: [UInt8]

        /// Creates a response.
        public init(
            status: Int, contentType: String? = nil, entityTag: String? = nil, cacheControl: String? = nil,
            body: [UInt8] = []
        ) {
            self.status = status
            self.contentType = contentType
            self.entityTag = entityTag
            self.cacheControl = cacheControl
            self.body = body
        }
    }
}
