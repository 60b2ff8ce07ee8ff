import AsyncHTTPClient
import CounterfoilProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// HTTP requests to an authorization server, with limits on time and response size, and without redirects.
enum BoundedRequest {
    struct Response {
        let url: String
        let status: Int
        /// The body; empty if the status is not 200.
        let body: [UInt8]
        /// The cache lifetime in seconds, from `Cache-Control`; nil if the response does not state it.
        let lifetime: TimeInterval?
        /// `Retry-After` in seconds; nil if missing.
        let retryAfter: Int?

        /// The failure for a response with an unexpected status.
        var failure: RequestFailure {
            (300...399).contains(status)
                ? RequestFailure("\(url) responded with status \(status); redirects are not followed")
                : RequestFailure("\(url) responded with status \(status)", retryAfter: retryAfter)
        }
    }

    /// Sends a GET request for a JSON document.
    static func get(_ url: String, byteLimit: Int) async throws(RequestFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json, application/jwk-set+json")
        return try await send(request, byteLimit: byteLimit)
    }

    /// Posts a form with an `Authorization` field.
    ///
    /// The request must be idempotent, because it is sent a second time if the server closes the connection
    /// without a response.
    static func post(
        _ form: FormParameters, to url: String, authorization: String, byteLimit: Int
    ) async throws(RequestFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "Authorization", value: authorization)
        request.body = .bytes(ByteBuffer(string: form.encoded))
        return try await send(request, byteLimit: byteLimit)
    }

    /// Sends a request, and turns every error into a ``RequestFailure``.
    private static func send(
        _ request: HTTPClientRequest, byteLimit: Int
    ) async throws(RequestFailure) -> Response {
        do {
            var request = request
            request.headers.add(name: "User-Agent", value: "Counterfoil")
            return try await withTimeout { [request] in
                try await send(request, byteLimit: byteLimit, isSecondTry: false)
            }
        } catch is NIOTooManyBytesError {
            throw RequestFailure("\(request.url) sent a response of more than \(byteLimit) bytes")
        } catch is TimedOut {
            throw RequestFailure("\(request.url) did not respond within \(timeLimit)")
        } catch {
            throw RequestFailure("\(request.url) cannot be reached: \(error)")
        }
    }

    private static func send(
        _ request: HTTPClientRequest, byteLimit: Int, isSecondTry: Bool
    ) async throws -> Response {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && !isSecondTry {
            // RFC 9112 §9.3.1: the server may close an idle connection at the moment at which the client reuses
            // it, so the request is sent a second time.
            return try await send(request, byteLimit: byteLimit, isSecondTry: true)
        }
        let isGood = response.status.code == 200
        return Response(
            url: request.url,
            status: Int(response.status.code),
            body: isGood ? Array(try await response.body.collect(upTo: byteLimit).readableBytesView) : [],
            lifetime: CacheLifetime.seconds(in: response.headers["Cache-Control"]),
            retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) }
        )
    }

    /// The time limit of the whole exchange, including the response body and a second attempt.
    private static let timeLimit: Duration = .seconds(5)

    private struct TimedOut: Error {}

    private static func withTimeout(_ body: @escaping @Sendable () async throws -> Response) async throws -> Response {
        try await withThrowingTaskGroup { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: timeLimit)
                throw TimedOut()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw TimedOut() }
            return first
        }
    }

    /// The HTTP client that all requests of the process share, which is never shut down.
    ///
    /// It replaces `HTTPClient.shared`, which follows redirects.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        // A failed connection attempt is not retried, so that its error is reported before the time limit ends.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}

/// The reason why a request to an authorization server failed, for the log and for operators of the API.
///
/// It contains no secret.
struct RequestFailure: Error, Hashable, CustomStringConvertible {
    let description: String
    /// `Retry-After` of the response in seconds; nil if there is none.
    let retryAfter: Int?

    init(_ description: String, retryAfter: Int? = nil) {
        self.description = description
        self.retryAfter = retryAfter
    }
}
