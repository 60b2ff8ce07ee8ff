import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// One request to a health endpoint.
struct HealthProbe {
    /// The outcome of a request.
    enum Outcome {
        /// Status 200.
        case healthy(String)
        /// Another status, with the beginning of the answer.
        case unhealthy(UInt, String)
        /// No answer in time.
        case unreachable(String)
    }

    private let url: String
    private let isLoopback: Bool
    private let seconds: Int

    /// Creates a probe, or nil if the URL is not one of http or https with a host.
    init?(url: String, seconds: Int) {
        guard let components = URLComponents(string: url), ["http", "https"].contains(components.scheme),
            let host = components.host, !host.isEmpty, components.user == nil, components.password == nil
        else { return nil }
        self.url = url
        self.isLoopback = ["localhost", "::1", "[::1]"].contains(host) || host.hasPrefix("127.")
        self.seconds = seconds
    }

    /// Sends the request, and waits for the answer.
    ///
    /// No redirect is followed: a redirect is not the answer of a health endpoint.
    func outcome() async -> Outcome {
        var tls = TLSConfiguration.makeClientConfiguration()
        if isLoopback { tls.certificateVerification = .none }
        // The answer is there: a server that does not answer the end of the connection delays nothing.
        tls.shutdownTimeout = .milliseconds(100)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout = .init(connect: .seconds(Int64(seconds)), read: .seconds(Int64(seconds)))
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let outcome: Outcome
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(Int64(seconds)))
            let answer = try await Self.text(of: response.body)
            outcome = response.status == .ok ? .healthy(answer) : .unhealthy(response.status.code, answer)
        } catch let error as HTTPClientError {
            outcome = .unreachable(error.shortDescription)
        } catch {
            outcome = .unreachable("\(error)")
        }
        try? await client.shutdown()
        return outcome
    }

    /// The beginning of the first line, in printable ASCII, because it goes to a terminal.
    private static func text(of body: HTTPClientResponse.Body) async throws -> String {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes += part.readableBytesView
            if bytes.count >= longestAnswer { break }
        }
        let line = bytes.prefix(longestAnswer).prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }

    private static let longestAnswer = 1000
}
