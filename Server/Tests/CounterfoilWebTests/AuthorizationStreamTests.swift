import HTTPListenerTesting
import NIOHTTP2
import Testing

/// An authorization server behind the listener, with HTTP/2.
@Suite("Requests of streams", .timeLimit(.minutes(2)))
struct AuthorizationStreamTests {
    private static let metadata = "/.well-known/openid-configuration"

    @Test func `every response has the security fields and its time`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(
                    FrameClient.head(1, FrameClient.fields("HEAD", Self.metadata)),
                    FrameClient.head(
                        3,
                        FrameClient.fields(
                            "POST", "/oauth2/token", [("content-type", "application/x-www-form-urlencoded")]),
                        isLast: false),
                    FrameClient.data(3, "grant_type=unheard-of"))
                let metadata = try await client.received.response(on: 1)
                let token = try await client.received.response(on: 3)
                #expect([metadata.status, token.status] == ["200", "400"])
                #expect(token.body.contains("unsupported_grant_type"))
                #expect(metadata.body.isEmpty)
                #expect(Int(metadata.fields["content-length"] ?? "") ?? 0 > 100)
                for response in [metadata, token] {
                    #expect(response.fields["strict-transport-security"] == "max-age=63072000")
                    #expect(response.fields["date"] != nil)
                }
            }
        }
    }

    // RFC 9113 §8.3.1
    @Test func `with a second origin, a request for another host is misdirected`() async throws {
        try await StreamServer.run(callbackOrigin: "https://apps.example.com") { server in
            try await FrameClient.run(to: server) { client in
                func status(_ stream: Int, _ field: String, _ host: String) async throws -> String? {
                    client.send(
                        FrameClient.head(
                            stream,
                            [(":method", "GET"), (":scheme", "https"), (":path", Self.metadata), (field, host)]))
                    return try await client.received.response(on: stream).status
                }
                let usual = try await status(1, ":authority", "id.example.com")
                #expect(usual == "200")
                #expect(try await status(3, "host", "id.example.com") == "200")
                #expect(try await status(5, ":authority", "other.example.com") == "421")
                #expect(try await status(7, "host", "other.example.com") == "421")
            }
        }
    }

    @Test func `a server that waits for its store answers once, and then closes the connection`() async throws {
        try await StreamServer.run(isOpen: false) { server in
            try await FrameClient.run(to: server) { client in
                let response = try await client.get(Self.metadata, on: 1)
                #expect(response.status == "503")
                #expect(try await client.received.end()?.code == .noError)
            }
        }
    }
}
