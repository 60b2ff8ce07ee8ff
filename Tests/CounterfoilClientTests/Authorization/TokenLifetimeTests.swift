import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of when the lifetimes that a server names begin.
@Suite(.timeLimit(.minutes(2)))
struct TokenLifetimeTests {
    /// A transport whose requests to one URL take a minute of its clock.
    private final class SlowTransport: HTTPTransport {
        let time = Mutex(Date())
        private let slow: String

        init(_ slow: String) { self.slow = slow }

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            if request.endpoint.rawValue == slow { time.withLock { $0 += 60 } }
            return try await StandardTransport().send(request)
        }
    }

    /// Returns the code with which the scripted server answers an attempt.
    private static func code(
        of attempt: consuming AuthorizationAttempt, at redirectURI: RedirectURI
    ) async throws -> ValidatedCode {
        let response = try await StandardTransport().send(TransportRequest(EndpointURL(attempt.authorizationURL)))
        let location = try #require(response.head.headerFields[.location])
        let query = String(location.drop { $0 != "?" }.dropFirst())
        return try attempt.complete(
            with: AuthorizationCallback(at: redirectURI, parameters: try FormParameters(parsing: query)))
    }

    // RFC 6749 §5.1: the server means the time of its response, however long the keys take.
    @Test func `the lifetime of a token begins before the keys are fetched`() async throws {
        var script = ServerScript()
        script.tokens.expiresIn = .raw("300")
        try await ScriptedAuthorizationServer.run(script) { server in
            let transport = SlowTransport(server.url(of: .keys))
            let start = transport.time.withLock { $0 }
            let redirectURI = try RedirectURI("http://127.0.0.1:49152/callback")
            let attempt = AuthorizationAttempt(
                at: try await MetadataDiscovery(transport: .standard).configuration(of: server.issuer),
                clientID: try #require(ClientIdentifier("lightbox")),
                redirectURI: redirectURI, scope: try Scope(lenient: "openid"))
            let code = try await Self.code(of: attempt, at: redirectURI)
            let exchange = AuthorizationCodeExchange(transport: transport) { transport.time.withLock { $0 } }
            let credentials = try await exchange.exchange(code)
            #expect(transport.time.withLock { $0 } == start + 60)
            #expect(credentials.expires == start + 300)
        }
    }

    // RFC 8628 §3.2
    @Test func `showing a device code does not prolong its life`() async throws {
        var script = ServerScript()
        script.device.replaced = [WireMember("expires_in", 1)]
        script.device.interval = 0
        script.device.polls = Array(repeating: .pending, count: 1000)
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = DeviceSignIn(issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            await #expect(throws: SignInError.codeExpired) {
                _ = try await signIn.run { _ in
                    // The code expires while the user reads it.
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    // RFC 9449 §4.2, RFC 3986 §6.2.3
    @Test func `the proof for an origin without a path names its root`() throws {
        for (url, proved) in [
            ("https://api.example.com", "https://api.example.com/"),
            ("https://API.example.com:443?page=2", "https://api.example.com/"),
            ("https://api.example.com:8443/photos/", "https://api.example.com:8443/photos/"),
        ] { #expect(try EndpointURL(url).proofURI == proved) }
    }
}
