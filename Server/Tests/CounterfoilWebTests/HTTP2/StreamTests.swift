import HTTPTypes
import NIOHTTP2
import Testing

@testable import CounterfoilWeb

/// HTTP/2 (RFC 9113) at a server in this process, over TLS.
@Suite("HTTP/2: requests, limits and the end of a connection", .timeLimit(.minutes(2)))
struct StreamTests {
    private static let form = [("content-type", "application/x-www-form-urlencoded")]
    private static let token = FrameClient.fields("POST", "/oauth2/token", form)
    private static let metadata = "/.well-known/openid-configuration"

    // RFC 7301 §3.2
    @Test(arguments: [(["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1"), ([], nil)] as [([String], String?)])
    func `ALPN chooses the protocol, and a client without ALPN gets HTTP/1.1`(
        offered: [String], chosen: String?
    ) async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server, offering: offered) { client in
                let negotiated = try await client.received.value { $0.negotiated }
                #expect(negotiated == chosen)
            }
        }
    }

    @Test func `requests on streams at once are answered on one connection`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(
                    FrameClient.head(1, FrameClient.fields("GET", "/livez")),
                    FrameClient.head(3, Self.token, isLast: false),
                    FrameClient.head(5, FrameClient.fields("HEAD", Self.metadata)),
                    FrameClient.data(3, "grant_type=", isLast: false), FrameClient.data(3, "unheard-of"))
                let health = try await client.received.response(on: 1)
                let token = try await client.received.response(on: 3)
                let metadata = try await client.received.response(on: 5)
                #expect([health.status, token.status, metadata.status] == ["200", "400", "200"])
                #expect(token.body.contains("unsupported_grant_type"))
                #expect(metadata.body.isEmpty)
                #expect(Int(metadata.fields["content-length"] ?? "") ?? 0 > 100)
                for response in [health, token, metadata] {
                    #expect(response.fields["strict-transport-security"] == "max-age=63072000")
                    #expect(response.fields["date"] != nil)
                    // RFC 9113 §8.2.2
                    #expect(response.fields["connection"] == nil && response.fields["transfer-encoding"] == nil)
                }
                #expect(server.connections.snapshot.open == 1)
                let settings = try await client.received.value { $0.settings.isEmpty ? nil : $0.settings }
                #expect(settings[.maxConcurrentStreams] == 64)
            }
        }
    }

    @Test func `a client with as many streams as it may open gets every response`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let streams = (0..<StreamLimits.streams).map { 2 * $0 + 1 }
                client.send(streams.map { FrameClient.head($0, FrameClient.fields("GET", "/livez")) })
                var statuses: Set<String?> = []
                for stream in streams { statuses.insert(try await client.received.response(on: stream).status) }
                #expect(statuses == ["200"])
            }
        }
    }

    @Test func `a body that is too large is refused while it arrives, with or without its length`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(FrameClient.head(1, Self.token + [("content-length", "300000")], isLast: false))
                let stated = try await client.received.response(on: 1)
                #expect(stated.status == "413")
                // RFC 9113 §8.1: the server needs nothing more.
                #expect(try await client.received.reset(of: 1) == .noError)
                client.send(
                    FrameClient.head(3, Self.token, isLast: false),
                    FrameClient.data(3, String(repeating: "a", count: 40_000), isLast: false))
                #expect(try await client.received.response(on: 3).status == "413")
                #expect(try await client.received.reset(of: 3) == .noError)
                #expect(try await client.get("/livez", on: 5).status == "200")
                #expect(server.connections.snapshot.bodyBytes == 0)
            }
        }
    }

    // RFC 9113 §8.1.1
    @Test func `a malformed request ends its stream, and the connection continues`() async throws {
        let get = FrameClient.fields("GET", "/livez")
        let malformed: [[(String, String)]] = [
            get.filter { $0.0 != ":path" }, get.filter { $0.0 != ":method" }, get.filter { $0.0 != ":scheme" },
            get + [(":method", "GET")], [(":method", "GET")] + get, [("accept", "*/*")] + get, get + [(":new", "a")],
            get + [("X-Upper", "a")], get + [("connection", "close")], get + [("keep-alive", "5")],
            get + [("transfer-encoding", "chunked")], get + [("upgrade", "websocket")], get + [("te", "gzip")],
            get + [("host", "other.example.com")], get + [("accept", " */*")], get + [("accept", "a\r\nb: c")],
            get + [("content-length", "+0")], get.map { $0.0 == ":path" ? ($0.0, "livez") : $0 },
            get.map { $0.0 == ":path" ? ($0.0, "/livez a") : $0 }, get.map { $0.0 == ":scheme" ? ($0.0, "http") : $0 },
            get.map { $0.0 == ":authority" ? ($0.0, "alice@id.example.com") : $0 },
            // RFC 9113 §8.3.1: https has a mandatory authority.
            get.filter { $0.0 != ":authority" }, get.map { $0.0 == ":authority" ? ($0.0, "") : $0 },
            get.filter { $0.0 != ":authority" } + [("host", "alice@id.example.com")],
            get.filter { $0.0 != ":authority" } + [("host", "")],
            [(":method", "CONNECT"), (":authority", "id.example.com:443")],
            // RFC 8441 §4
            get.map { $0.0 == ":method" ? ($0.0, "CONNECT") : $0 } + [(":protocol", "websocket")],
            get + (0..<HeadLimits.fieldCount).map { ("x-\($0)", "a") },
        ]
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                var stream = 1
                for fields in malformed {
                    client.send(FrameClient.head(stream, fields))
                    let response = try await client.received.response(on: stream)
                    #expect(response.reset == .protocolError && response.status == nil, "\(fields)")
                    stream += 2
                }
                // RFC 9113 §8.1.1: the body does not have the stated length.
                for body in ["ab", "abcd"] {
                    let fields = Self.token + [("content-length", "3")]
                    client.send(FrameClient.head(stream, fields, isLast: false), FrameClient.data(stream, body))
                    #expect(try await client.received.reset(of: stream) == .protocolError)
                    stream += 2
                }
                #expect(try await client.get("/livez", on: stream).status == "200")
            }
        }
    }

    // RFC 9113 §8.3.1
    @Test func `the authority is checked as Host is, which can take its place`() async throws {
        // With a second origin, each request must name one of the two.
        try await StreamServer.run(callbackOrigin: "https://apps.example.com") { server in
            try await FrameClient.run(to: server) { client in
                func status(_ stream: Int, _ authority: String?, _ host: String?) async throws -> String? {
                    var fields = [(":method", "GET"), (":scheme", "https"), (":path", Self.metadata)]
                    if let authority { fields.append((":authority", authority)) }
                    if let host { fields.append(("host", host)) }
                    client.send(FrameClient.head(stream, fields))
                    return try await client.received.response(on: stream).status
                }
                let usual = try await status(1, "id.example.com", nil)
                #expect(usual == "200")
                #expect(try await status(3, nil, "id.example.com") == "200")
                #expect(try await status(5, "id.example.com", "ID.example.com") == "200")
                #expect(try await status(7, "other.example.com", nil) == "421")
                #expect(try await status(9, nil, "other.example.com") == "421")
            }
        }
    }

    // CVE-2023-44487
    @Test func `a client that resets its streams rapidly is disconnected`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let streams = (0...StreamLimits.resets).map { 2 * $0 + 1 }
                client.send(
                    streams.flatMap { [FrameClient.head($0, Self.token, isLast: false), FrameClient.reset($0)] })
                let end = try await client.received.end()
                #expect(end?.code == .enhanceYourCalm)
            }
        }
    }

    @Test func `a client that sends too many control frames or empty frames is disconnected`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(Array(repeating: FrameClient.ping, count: StreamLimits.controlFrames + 1))
                let end = try await client.received.end()
                #expect(end?.code == .enhanceYourCalm)
            }
            try await FrameClient.run(to: server) { client in
                client.send(
                    [FrameClient.head(1, Self.token, isLast: false)]
                        + Array(repeating: FrameClient.data(1, "", isLast: false), count: 3))
                let end = try await client.received.end()
                #expect(end?.code == .enhanceYourCalm)
            }
        }
    }

    // RFC 9113 §5.5 lets a server ignore frames of unknown types, which are cheap for the client, too.
    @Test(
        arguments: [
            (type: 2, stream: 1, payload: "\0\0\0\0\u{1}"), (7, 0, "\0\0\0\0\0\0\0\0"), (8, 0, "\0\0\0\u{1}"),
            (10, 0, "\0\u{1}ab"), (16, 0, "\0\0\0\u{1}u=1"), (0x42, 0, "unknown"), (0x42, 9, ""),
        ] as [(type: UInt8, stream: UInt8, payload: String)])
    func `a client that sends too many frames of any type is disconnected`(
        type: UInt8, stream: UInt8, payload: String
    ) async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let frame = FrameClient.bytes(type: type, stream: stream, payload)
                // A few WINDOW_UPDATE frames belong to the response.
                let frames = Array(repeating: frame, count: StreamLimits.controlFrames + 10).flatMap(\.self)
                // The connection has begun, so the frames come after the preface.
                #expect(try await client.get("/livez", on: 1).status == "200")
                try await client.send(bytes: frames)
                let end = try await client.received.end()
                #expect(end?.code == .enhanceYourCalm)
            }
        }
    }

    // RFC 9113 §6.9
    @Test func `a client that opens its windows for each response stays connected`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                for number in 0...StreamLimits.controlFrames {
                    let stream = 2 * number + 1
                    let response = try await client.get("/livez", on: stream)
                    #expect(response.status == "200")
                    client.send(FrameClient.window(0, 20), FrameClient.window(0, 20))
                }
                let last = try await client.get("/livez", on: 2 * StreamLimits.controlFrames + 3)
                #expect(last.status == "200")
            }
        }
    }

    // RFC 9113 §6.8
    @Test func `a server that stops finishes the streams that have begun, and then closes the connection`() async throws
    {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { idle in
                try await FrameClient.run(to: server) { busy in
                    #expect(try await idle.get("/livez", on: 1).status == "200")
                    #expect(try await busy.get("/livez", on: 1).status == "200")
                    busy.send(FrameClient.head(3, Self.token, isLast: false), FrameClient.ping)
                    try await busy.received.pings(1)
                    await server.stop()
                    let end = try await idle.received.end()
                    #expect(end?.code == .noError && end?.last == 1)
                    busy.send(FrameClient.data(3, "grant_type=unheard-of"))
                    #expect(try await busy.received.response(on: 3).status == "400")
                    let last = try await busy.received.end()
                    #expect(last?.code == .noError && last?.last == 3)
                }
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
