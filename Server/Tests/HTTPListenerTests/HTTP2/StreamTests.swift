import HTTPListenerTesting
import NIOHTTP2
import Testing

@testable import HTTPListener

/// HTTP/2 (RFC 9113) at a listener in this process, over TLS.
@Suite("HTTP/2: requests, limits and the end of a connection", .timeLimit(.minutes(2)))
struct StreamTests {
    private static let form = FrameClient.fields("POST", StreamResponder.form)
    private static let page = StreamResponder.page

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
                    FrameClient.head(1, FrameClient.fields("GET", Self.page)),
                    FrameClient.head(3, Self.form, isLast: false),
                    FrameClient.head(5, FrameClient.fields("HEAD", Self.page)),
                    FrameClient.data(3, "a=", isLast: false), FrameClient.data(3, "b"))
                let page = try await client.received.response(on: 1)
                let form = try await client.received.response(on: 3)
                let head = try await client.received.response(on: 5)
                #expect([page.status, form.status, head.status] == ["200", "200", "200"])
                #expect(form.body == "a=b")
                #expect(head.body.isEmpty)
                #expect(head.fields["content-length"] == "4")
                for response in [page, form, head] {
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
                client.send(streams.map { FrameClient.head($0, FrameClient.fields("GET", Self.page)) })
                var statuses: Set<String?> = []
                for stream in streams { statuses.insert(try await client.received.response(on: stream).status) }
                #expect(statuses == ["200"])
            }
        }
    }

    @Test func `a body that is too large is refused while it arrives, with or without its length`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                client.send(FrameClient.head(1, Self.form + [("content-length", "300000")], isLast: false))
                let stated = try await client.received.response(on: 1)
                #expect(stated.status == "413")
                // RFC 9113 §8.1: the server needs nothing more.
                #expect(try await client.received.reset(of: 1) == .noError)
                client.send(
                    FrameClient.head(3, Self.form, isLast: false),
                    FrameClient.data(3, String(repeating: "a", count: 40_000), isLast: false))
                #expect(try await client.received.response(on: 3).status == "413")
                #expect(try await client.received.reset(of: 3) == .noError)
                #expect(try await client.get(Self.page, on: 5).status == "200")
                #expect(server.connections.snapshot.bodyBytes == 0)
            }
        }
    }

    // RFC 9113 §8.1.1
    @Test func `a malformed request ends its stream, and the connection continues`() async throws {
        let get = FrameClient.fields("GET", Self.page)
        let malformed: [[(String, String)]] = [
            get.filter { $0.0 != ":path" }, get.filter { $0.0 != ":method" }, get.filter { $0.0 != ":scheme" },
            get + [(":method", "GET")], [(":method", "GET")] + get, [("accept", "*/*")] + get, get + [(":new", "a")],
            get + [("X-Upper", "a")], get + [("connection", "close")], get + [("keep-alive", "5")],
            get + [("transfer-encoding", "chunked")], get + [("upgrade", "websocket")], get + [("te", "gzip")],
            get + [("host", "other.example.com")], get + [("accept", " */*")], get + [("accept", "a\r\nb: c")],
            get + [("content-length", "+0")], get.map { $0.0 == ":path" ? ($0.0, "page") : $0 },
            get.map { $0.0 == ":path" ? ($0.0, "/page a") : $0 }, get.map { $0.0 == ":scheme" ? ($0.0, "http") : $0 },
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
                    let fields = Self.form + [("content-length", "3")]
                    client.send(FrameClient.head(stream, fields, isLast: false), FrameClient.data(stream, body))
                    #expect(try await client.received.reset(of: stream) == .protocolError)
                    stream += 2
                }
                #expect(try await client.get(Self.page, on: stream).status == "200")
            }
        }
    }

    // RFC 9113 §8.3.1
    @Test func `the authority is checked as Host is, which can take its place`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                func host(_ stream: Int, _ authority: String?, _ host: String?) async throws -> String? {
                    var fields = [(":method", "GET"), (":scheme", "https"), (":path", Self.page)]
                    if let authority { fields.append((":authority", authority)) }
                    if let host { fields.append(("host", host)) }
                    client.send(FrameClient.head(stream, fields))
                    return try await client.received.response(on: stream).fields["server"]
                }
                let usual = try await host(1, "id.example.com", nil)
                #expect(usual == "id.example.com")
                #expect(try await host(3, nil, "id.example.com") == "id.example.com")
                #expect(try await host(5, "id.example.com", "ID.example.com") == "id.example.com")
            }
        }
    }

    // CVE-2023-44487
    @Test func `a client that resets its streams rapidly is disconnected`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let streams = (0...StreamLimits.resets).map { 2 * $0 + 1 }
                client.send(
                    streams.flatMap { [FrameClient.head($0, Self.form, isLast: false), FrameClient.reset($0)] })
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
                    [FrameClient.head(1, Self.form, isLast: false)]
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
                #expect(try await client.get(Self.page, on: 1).status == "200")
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
                    let response = try await client.get(Self.page, on: stream)
                    #expect(response.status == "200")
                    client.send(FrameClient.window(0, 20), FrameClient.window(0, 20))
                }
                let last = try await client.get(Self.page, on: 2 * StreamLimits.controlFrames + 3)
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
                    #expect(try await idle.get(Self.page, on: 1).status == "200")
                    #expect(try await busy.get(Self.page, on: 1).status == "200")
                    busy.send(FrameClient.head(3, Self.form, isLast: false), FrameClient.ping)
                    try await busy.received.pings(1)
                    await server.stop()
                    let end = try await idle.received.end()
                    #expect(end?.code == .noError && end?.last == 1)
                    busy.send(FrameClient.data(3, "a=b"))
                    #expect(try await busy.received.response(on: 3).status == "200")
                    let last = try await busy.received.end()
                    #expect(last?.code == .noError && last?.last == 3)
                }
            }
        }
    }

    @Test func `a connection whose responder answers once closes after its first response`() async throws {
        try await StreamServer.run(answersOnce: true) { server in
            try await FrameClient.run(to: server) { client in
                let response = try await client.get(Self.page, on: 1)
                #expect(response.status == "200")
                #expect(try await client.received.end()?.code == .noError)
            }
        }
    }
}
