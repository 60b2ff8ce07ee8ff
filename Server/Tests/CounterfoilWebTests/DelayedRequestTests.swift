import HTTPListenerTesting
import NIOHTTP2
import Testing

@testable import HTTPListener

/// Requests that may have waited while the process was paused.
///
/// The pause is a sign of the future, so that all requests after it come soon after a pause.
@Suite("Requests after a pause of the process", .timeLimit(.minutes(2)))
struct DelayedRequestTests {
    private static let token = FrameClient.fields(
        "POST", "/oauth2/token", [("content-type", "application/x-www-form-urlencoded")])

    private static func pause(_ server: StreamServer) { server.connections.pauses.sign(at: .now + .seconds(60)) }

    @Test func `a token request soon after a pause gets 503, and the connection ends`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                #expect(try await client.get("/livez", on: 1).status == "200")
                Self.pause(server)
                // These answers do not depend on other servers.
                #expect(try await client.get("/livez", on: 3).status == "200")
                #expect(try await client.get("/.well-known/openid-configuration", on: 5).status == "200")
                client.send(
                    FrameClient.head(7, Self.token, isLast: false), FrameClient.data(7, "grant_type=unheard-of"))
                let refused = try await client.received.response(on: 7)
                #expect(refused.status == "503")
                #expect(refused.fields["retry-after"] == "2")
                #expect(refused.body.contains("temporarily_unavailable"))
                let end = try await client.received.end()
                #expect(end?.last == 7 && end?.code == .noError)
            }
        }
    }

    @Test func `a token request whose body arrives after a pause gets 503`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(FrameClient.head(1, Self.token, isLast: false))
                // The server has read the head when it answers the next request.
                #expect(try await client.get("/livez", on: 3).status == "200")
                Self.pause(server)
                client.send(FrameClient.data(1, "grant_type=unheard-of"))
                let refused = try await client.received.response(on: 1)
                #expect(refused.status == "503")
            }
        }
    }
}
