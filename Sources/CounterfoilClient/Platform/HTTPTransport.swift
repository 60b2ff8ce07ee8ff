public import HTTPTypes

/// What carries a request of this product to a server and the answer back.
///
/// Implementations never follow a redirect (a code or token would go where nobody asked), verify TLS with the trust of the
/// system, keep no cookies, and stop reading at the limit.
public protocol HTTPTransport: Sendable {
    /// Sends a request and reads the whole answer, whatever its status.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse
}

/// A request to an endpoint.
public struct TransportRequest: Sendable {
    /// Where it goes.
    public let endpoint: EndpointURL
    /// The method, `GET` unless said otherwise.
    public var method: HTTPRequest.Method
    /// The header fields; `Host` and `Content-Length` are the transport's.
    public var headerFields: HTTPFields
    /// The body; empty when there is none.
    public var body: [UInt8]
    /// The most bytes of an answer's body that are read.
    public var byteLimit: Int
    /// How long the whole exchange may take.
    public var timeout: Duration

    /// Makes a request.
    public init(
        _ endpoint: EndpointURL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: [UInt8] = [],
        byteLimit: Int = 256 * 1024,
        timeout: Duration = .seconds(30)
    ) {
        self.endpoint = endpoint
        self.method = method
        self.headerFields = headerFields
        self.body = body
        self.byteLimit = byteLimit
        self.timeout = timeout
    }
}

/// The answer to a request.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// The whole body.
    public let body: [UInt8]

    /// Makes an answer.
    public init(head: HTTPResponse, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// The status code, for callers that need nothing else of the head.
    public var statusCode: Int { head.status.code }

    /// The media type without parameters, in lower case; empty when the server names none.
    public var mediaType: String {
        let value = head.headerFields[.contentType] ?? ""
        return value.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    }
}

/// Why no answer came.
public enum TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server could not be reached, or the connection broke.
    case unreachable(origin: String, reason: String)
    /// The server's certificate is not one that this system trusts for that name.
    case untrusted(origin: String, reason: String)
    /// The time ran out.
    case timedOut(origin: String)
    /// The answer is longer than the limit, in bytes.
    case tooLarge(origin: String, limit: Int)
    /// The task that asked was cancelled.
    case cancelled

    /// What happened, safe to show.
    public var description: String {
        switch self {
        case .unreachable(let origin, let reason): "\(origin) cannot be reached: \(reason)"
        case .untrusted(let origin, let reason): "the TLS certificate of \(origin) is not trusted: \(reason)"
        case .timedOut(let origin): "\(origin) did not answer in time"
        case .tooLarge(let origin, let limit): "the answer of \(origin) is longer than \(limit) bytes"
        case .cancelled: "it was cancelled"
        }
    }
}

#if canImport(Darwin)
    extension HTTPTransport where Self == URLSessionTransport {
        /// The transport that suits this platform.
        public static var standard: URLSessionTransport { URLSessionTransport() }
    }
#else
    extension HTTPTransport where Self == AsyncHTTPClientTransport {
        /// The transport that suits this platform.
        public static var standard: AsyncHTTPClientTransport { AsyncHTTPClientTransport() }
    }
#endif
