import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A GET of a small document: bounded in size and time, redirects not followed.
enum BoundedGet {
    /// What came.
    struct Answer {
        let url: String
        let status: Int
        let body: [UInt8]
        /// For how many seconds the sender says that it stays the same; nil when it does not say.
        let lifetime: TimeInterval?

        /// The words for an answer that is not what was hoped for.
        var failure: KeySetFailure {
            (300...399).contains(status)
                ? KeySetFailure("\(url) answered \(status); redirects are not followed")
                : KeySetFailure("\(url) answered \(status)")
        }
    }

    /// Gets a document; whatever goes wrong on the way becomes a ``KeySetFailure``.
    static func get(_ url: String, byteLimit: Int) async throws(KeySetFailure) -> Answer {
        do {
            return try await withTimeout { try await answer(to: url, byteLimit: byteLimit) }
        } catch is NIOTooManyBytesError {
            throw KeySetFailure("\(url) answered with more than \(byteLimit) bytes")
        } catch is TimedOut {
            throw KeySetFailure("\(url) did not answer within \(timeLimit)")
        } catch {
            throw KeySetFailure("\(url) cannot be reached: \(error)")
        }
    }

    private static func answer(to url: String, byteLimit: Int) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json, application/jwk-set+json")
        request.headers.add(name: "User-Agent", value: "Counterfoil")
        let response = try await client.execute(request, deadline: .distantFuture)
        let isGood = response.status.code == 200
        return Answer(
            url: url,
            status: Int(response.status.code),
            body: isGood ? Array(try await response.body.collect(upTo: byteLimit).readableBytesView) : [],
            lifetime: CacheLifetime.seconds(in: response.headers["Cache-Control"])
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
        // A dead host has to become an answer within the time limit, not be tried again and again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
