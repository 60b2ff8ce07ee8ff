import AsyncHTTPClient
import CounterfoilProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// A small question to an authorization server and its answer: bounded in size and time, redirects not followed.
enum BoundedExchange {
    /// What came.
    struct Answer {
        let url: String
        let status: Int
        let body: [UInt8]
        /// For how many seconds the sender says that it stays the same; nil when it does not say.
        let lifetime: TimeInterval?
        /// `Retry-After` in seconds; nil when the sender does not say.
        let retryAfter: Int?

        /// The words for an answer that is not what was hoped for.
        var failure: ExchangeFailure {
            (300...399).contains(status)
                ? ExchangeFailure("\(url) answered \(status); redirects are not followed")
                : ExchangeFailure("\(url) answered \(status)", retryAfter: retryAfter)
        }
    }

    /// Gets a document.
    static func get(_ url: String, byteLimit: Int) async throws(ExchangeFailure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json, application/jwk-set+json")
        return try await answer(to: request, byteLimit: byteLimit)
    }

    /// Posts a form, with what says who sends it; it must be one that may arrive twice.
    static func post(
        _ form: FormParameters, to url: String, authorization: String, byteLimit: Int
    ) async throws(ExchangeFailure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "Authorization", value: authorization)
        request.body = .bytes(ByteBuffer(string: form.encoded))
        return try await answer(to: request, byteLimit: byteLimit)
    }

    /// Whatever goes wrong on the way becomes an ``ExchangeFailure``.
    private static func answer(
        to request: HTTPClientRequest, byteLimit: Int
    ) async throws(ExchangeFailure) -> Answer {
        do {
            var request = request
            request.headers.add(name: "User-Agent", value: "Counterfoil")
            return try await withTimeout { [request] in
                try await answer(to: request, byteLimit: byteLimit, isSecondTry: false)
            }
        } catch is NIOTooManyBytesError {
            throw ExchangeFailure("\(request.url) answered with more than \(byteLimit) bytes")
        } catch is TimedOut {
            throw ExchangeFailure("\(request.url) did not answer within \(timeLimit)")
        } catch {
            throw ExchangeFailure("\(request.url) cannot be reached: \(error)")
        }
    }

    private static func answer(
        to request: HTTPClientRequest, byteLimit: Int, isSecondTry: Bool
    ) async throws -> Answer {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && !isSecondTry {
            // RFC 9112 §9.3.1: the other side may close a connection that waits just as it is used again.
            return try await answer(to: request, byteLimit: byteLimit, isSecondTry: true)
        }
        let isGood = response.status.code == 200
        return Answer(
            url: request.url,
            status: Int(response.status.code),
            body: isGood ? Array(try await response.body.collect(upTo: byteLimit).readableBytesView) : [],
            lifetime: CacheLifetime.seconds(in: response.headers["Cache-Control"]),
            retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) }
        )
    }

    /// The whole exchange, slow trickles included, ends within this time.
    private static let timeLimit: Duration = .seconds(5)

    private struct TimedOut: Error {}

    private static func withTimeout(_ body: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
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

    /// One for the process, never shut down: the shared client of the library would follow redirects.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        // A dead host has to become an answer within the time limit, not be tried again and again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}

/// Why an authorization server could not be asked, for the log and for whoever configures the API; holds no secret.
struct ExchangeFailure: Error, Hashable, CustomStringConvertible {
    let description: String
    /// After how many seconds the server wants to be asked again; nil when it does not say.
    let retryAfter: Int?

    init(_ description: String, retryAfter: Int? = nil) {
        self.description = description
        self.retryAfter = retryAfter
    }
}
