public import HTTPTypes

/// An HTTP client that sends requests to servers and returns their responses.
///
/// Implementations never follow a redirect, because it could send a code or token to another host. They verify TLS
/// certificates against the trust store of the system, store no cookies, send a ``UserAgent``, and stop reading at
/// ``TransportRequest/byteLimit``.
public protocol HTTPTransport: Sendable {
    /// Sends a request and reads the whole response, whatever its status.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse

    /// Sends a request, and returns when the head of the response has arrived.
    ///
    /// ``TransportRequest/timeout`` limits the time until then, and `idleTimeout` each later wait for a byte.
    /// ``TransportRequest/byteLimit`` does not apply. By default, the function reads the whole response with
    /// ``send(_:)``, so that its body does not arrive in parts.
    func stream(
        _ request: TransportRequest, idleTimeout: Duration
    ) async throws(TransportFailure) -> StreamedResponse
}

extension HTTPTransport {
    /// Reads the whole response with ``send(_:)``.
    public func stream(
        _ request: TransportRequest, idleTimeout: Duration
    ) async throws(TransportFailure) -> StreamedResponse {
        let response = try await send(request)
        return StreamedResponse(
            head: response.head, body: StreamedBody(response.body, from: request.endpoint.origin))
    }
}

/// A request to an endpoint, with limits on the time and on the length of the response.
public struct TransportRequest: Sendable {
    /// The URL to which the request is sent: https, or http on a loopback host.
    public let endpoint: EndpointURL
    /// The method; `GET` by default.
    public var method: HTTPRequest.Method
    /// The header fields, without `Host` and `Content-Length`, which the transport adds.
    public var headerFields: HTTPFields
    /// The body; empty if there is none.
    public var body: RequestBody
    /// The maximum length of the response body, in bytes; 256 KiB by default.
    public var byteLimit: Int
    /// Whether the response body is read; if false, the response has an empty body and returns after its head.
    package var readsBody = true
    /// The time limit of the whole exchange, including the response body; 30 seconds by default.
    ///
    /// If the body is read from a file, the time starts again with each part of it, and does not run while a pipe is
    /// silent.
    public var timeout: Duration

    /// Creates a request; by default a `GET` without a body, limited to 256 KiB of response body and 30 seconds.
    public init(
        _ endpoint: EndpointURL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: RequestBody = RequestBody(),
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

/// The response to a ``TransportRequest``, whatever its status, with the complete body.
public struct TransportResponse: Sendable {
    /// The status and the header fields.
    public let head: HTTPResponse
    /// The response body, at most ``TransportRequest/byteLimit`` bytes; empty if there is none.
    public let body: [UInt8]

    /// Creates a response; only implementations of ``HTTPTransport`` need it.
    public init(head: HTTPResponse, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// The HTTP status code, which can be 3xx, because transports do not follow redirects.
    public var statusCode: Int { head.status.code }

    /// The media type without parameters, in lower case; empty if the server sends none.
    public var mediaType: String { head.mediaType }
}

/// The reason why a request has no response.
public enum TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client could not connect to the server, or the connection broke.
    case unreachable(origin: String, reason: String)
    /// The server's TLS certificate is not valid for the host name, or no trusted authority issued it.
    case untrusted(origin: String, reason: String)
    /// The response did not arrive completely in time; ``TransportRequest/timeout`` is the limit.
    case timedOut(origin: String)
    /// The response body is longer than ``TransportRequest/byteLimit``; the value `limit` is in bytes.
    case tooLarge(origin: String, limit: Int)
    /// The request was not sent, because it could not be signed; the reason is safe to show to users.
    case notSigned(reason: String)
    /// The request was not sent, because a setting of the environment, such as `HTTPS_PROXY`, is not usable.
    ///
    /// The reason is safe to show to users.
    case misconfigured(reason: String)
    /// The body could not be read from its file, so the request was not sent completely.
    case bodyUnreadable(reason: String)
    /// The task that sent the request was cancelled.
    case cancelled

    /// A description of the problem, safe to show to users.
    public var description: String {
        switch self {
        case .unreachable(let origin, let reason): "\(origin) cannot be reached: \(reason)"
        case .untrusted(let origin, let reason): "the TLS certificate of \(origin) is not trusted: \(reason)"
        case .timedOut(let origin): "\(origin) did not respond in time"
        case .tooLarge(let origin, let limit): "the response of \(origin) is longer than \(limit) bytes"
        case .notSigned(let reason), .misconfigured(let reason): reason
        case .bodyUnreadable(let reason): "the body of the request could not be read: \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }
}

#if canImport(Darwin)
    /// The type of the default transport, for tests.
    package typealias StandardTransport = URLSessionTransport

    extension HTTPTransport where Self == URLSessionTransport {
        /// The default transport on Apple platforms: URLSession without cookies, cache and redirects.
        public static var standard: URLSessionTransport { URLSessionTransport() }

        /// Returns the default transport with a `User-Agent` that names the application.
        public static func standard(userAgent: UserAgent) -> URLSessionTransport {
            URLSessionTransport(userAgent: userAgent)
        }
    }
#else
    /// The type of the default transport, for tests.
    package typealias StandardTransport = AsyncHTTPClientTransport

    extension HTTPTransport where Self == AsyncHTTPClientTransport {
        /// The default transport on all platforms except Apple's: AsyncHTTPClient with one connection pool.
        public static var standard: AsyncHTTPClientTransport { AsyncHTTPClientTransport() }

        /// Returns the default transport with a `User-Agent` that names the application.
        public static func standard(userAgent: UserAgent) -> AsyncHTTPClientTransport {
            AsyncHTTPClientTransport(userAgent: userAgent)
        }
    }
#endif
