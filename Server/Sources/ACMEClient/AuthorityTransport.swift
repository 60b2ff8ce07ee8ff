import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import NIOSSL

/// A request to an authority.
package struct AuthorityRequest: Sendable, Hashable {
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", post = "POST" }

    package let method: Method
    package let url: String
    /// The content type that is wanted.
    package let accepted: String
    /// The body of a POST, a ``JWS``.
    package let body: [UInt8]
}

/// The response of an authority.
package struct AuthorityResponse: Sendable, Hashable {
    package let status: Int
    package let nonce: String?
    package let location: String?
    /// The value of `Retry-After`; nil if there is none.
    package let retryAfter: String?
    package let body: [UInt8]

    package init(
        status: Int, nonce: String? = nil, location: String? = nil, retryAfter: String? = nil, body: [UInt8] = []
    ) {
        self.status = status
        self.nonce = nonce
        self.location = location
        self.retryAfter = retryAfter
        self.body = body
    }

    /// The time in seconds that the authority asks to wait (RFC 9110 §10.2.3); nil if it names none.
    package func pause(at now: Date) -> TimeInterval? {
        guard let retryAfter else { return nil }
        if let seconds = UInt32(retryAfter) { return TimeInterval(seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: retryAfter).map { max(0, $0.timeIntervalSince(now)) }
    }

    /// Returns the URL of the resource that a request has created or found.
    func location(from authority: AuthorityURL, step: ACMEError.Step) throws(ACMEError) -> String {
        guard let location, authority.allows(location) else {
            throw .malformed(step, "it has no Location that is https")
        }
        return location
    }
}

/// The connection to an authority.
package protocol AuthorityTransport: Sendable {
    /// Sends a request; throws an error if there is no complete response in time.
    func send(_ request: AuthorityRequest) async throws -> AuthorityResponse
    /// Ends the connections.
    func close() async
}

/// The connection to an authority over https, within limits of time and size, and without redirects.
package struct HTTPAuthority: AuthorityTransport {
    /// The maximum size of a response in bytes.
    private static let byteLimit = 256 << 10
    private static let timeLimit = TimeAmount.seconds(30)

    private let client: HTTPClient
    private let userAgent: String

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - roots: The certificates of the authorities that may have certified this one; nil for those of the system.
    ///   - userAgent: The value of `User-Agent` (RFC 8555 §6.1).
    package init(trusting roots: [NIOSSLCertificate]?, userAgent: String) {
        self.userAgent = userAgent
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let roots { tls.trustRoots = .certificates(roots) }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        configuration.timeout = .init(connect: .seconds(10), read: .seconds(20))
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    package func send(_ request: AuthorityRequest) async throws -> AuthorityResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers.add(name: "User-Agent", value: userAgent)
        outgoing.headers.add(name: "Accept", value: request.accepted)
        outgoing.headers.add(name: "Accept-Language", value: "en")
        if request.method == .post {
            outgoing.headers.add(name: "Content-Type", value: "application/jose+json")
            outgoing.body = .bytes(ByteBuffer(bytes: request.body))
        }
        let response = try await client.execute(outgoing, timeout: Self.timeLimit)
        let body = try await response.body.collect(upTo: Self.byteLimit)
        func first(_ name: String) -> String? { response.headers.first(name: name) }
        return AuthorityResponse(
            status: Int(response.status.code), nonce: first("Replay-Nonce"), location: first("Location"),
            retryAfter: first("Retry-After"), body: Array(body.readableBytesView))
    }

    package func close() async { try? await client.shutdown() }
}
