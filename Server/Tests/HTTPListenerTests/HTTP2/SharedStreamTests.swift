import HTTPListenerTesting
import NIOHTTP2
import Testing

@testable import HTTPListener

/// The memory and the end of a connection with several streams, at a listener in this process.
@Suite("HTTP/2: streams that share a connection", .timeLimit(.minutes(2)))
struct SharedStreamTests {
    private static let form = FrameClient.fields("POST", StreamResponder.form)
    private static let body = "a=b"

    @Test func `requests wait while the client does not open its windows`() async throws {
        let noWindow = [HTTP2Setting(parameter: .initialWindowSize, value: 0)]
        try await StreamServer.run { server in
            try await FrameClient.run(to: server, settings: noWindow) { client in
                let (path, size) = (StreamResponder.largePage, StreamResponder.largePageSize)
                let streams = (0..<StreamLimits.streams).map { 2 * $0 + 1 }
                client.send(streams.map { FrameClient.head($0, FrameClient.fields("GET", path)) })
                let full = StreamLimits.unsentBytes / size + 1
                let most = full + StreamLimits.answers
                try #require(most < streams.count)
                _ = try await client.received.value { $0.responses.count >= full ? true : nil }
                for count in 1...5 {
                    client.send(FrameClient.ping)
                    try await client.received.pings(count)
                }
                #expect(try await client.received.value { $0.responses.count } <= most)

                client.send(
                    [FrameClient.window(0, size * streams.count)] + streams.map { FrameClient.window($0, size) })
                for stream in streams {
                    let response = try await client.received.response(on: stream)
                    #expect(response.status == "200" && response.body.utf8.count == size)
                }
            }
        }
    }

    @Test func `a head that exceeds what all heads of a connection may use is refused`() async throws {
        // The field is sent once; each repetition is one byte (RFC 7541 §6.1).
        let large = Self.form + Array(repeating: ("x-large", String(repeating: "a", count: 3000)), count: 23)
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                // The client acknowledges the settings when it receives them.
                _ = try await client.received.value { $0.settings.isEmpty ? nil : true }
                client.send([1, 3, 5].map { FrameClient.head($0, large, isLast: false) })
                #expect(try await client.received.reset(of: 5) == .refusedStream)
                client.send(FrameClient.data(1, Self.body), FrameClient.data(3, Self.body))
                #expect(try await client.received.response(on: 1).status == "200")
                #expect(try await client.received.response(on: 3).status == "200")
            }
        }
    }

    @Test func `at most eight large bodies of a connection wait for admission`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let form = FrameClient.fields("POST", StreamResponder.largeForm, [("content-length", "100000")])
                let streams = (0...StreamLimits.admissionChecks).map { 2 * $0 + 1 }
                client.send(streams.map { FrameClient.head($0, form, isLast: false) })
                var statuses: [String?: Int] = [:]
                for stream in streams {
                    statuses[try await client.received.response(on: stream).status, default: 0] += 1
                }
                #expect(statuses == ["403": StreamLimits.admissionChecks, "503": 1])
                // The checks have ended.
                client.send(FrameClient.head(101, form, isLast: false))
                #expect(try await client.received.response(on: 101).status == "403")
            }
        }
    }

    @Test func `a late part of a body does not end the connection, however many streams were reset`() async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { client in
                let streams = (0..<StreamLimits.streams).map { 2 * $0 + 1 }
                let fields = Self.form + [("content-length", "300000")]
                client.send(streams.map { FrameClient.head($0, fields, isLast: false) })
                for stream in streams { #expect(try await client.received.reset(of: stream) == .noError) }
                try await client.send(bytes: FrameClient.bytes(type: 0, stream: 1, "a"))
                #expect(try await client.get(StreamResponder.page, on: 201).status == "200")
            }
        }
    }

    // RFC 9113 §6.8
    @Test func `frames of a stream that GOAWAY excludes are ignored, and those behind them are read`() async throws {
        try await Self.whileStopping { client in
            client.send(FrameClient.data(1, Self.body))
            let last = try await client.received.value { $0.goAways.last?.last }
            #expect(last == 3)
            try await client.send(
                bytes: FrameClient.bytes(type: 0, stream: 5, "a") + FrameClient.bytes(type: 0, stream: 5, "b")
                    + FrameClient.bytes(type: 0, flags: 1, stream: 3, Self.body))
            #expect(try await client.received.response(on: 3).status == "200")
            let end = try await client.received.end()
            #expect(end?.code == .noError && end?.last == 3)
        }
    }

    // RFC 9113 §5.4.1
    @Test func `an error of the connection after GOAWAY ends the connection`() async throws {
        try await Self.whileStopping { client in
            client.send(FrameClient.data(1, Self.body))
            _ = try await client.received.value { $0.goAways.last?.last }
            // A PING frame of a wrong size.
            try await client.send(bytes: FrameClient.bytes(type: 6, stream: 0, "abc"))
            let end = try await client.received.end()
            #expect(end?.code == .protocolError && end?.last == 0)
        }
    }

    @Test func `a server that stops closes a connection whose last streams are reset`() async throws {
        try await Self.whileStopping { client in
            let start = ContinuousClock.now
            client.send(FrameClient.reset(1), FrameClient.reset(3))
            let end = try await client.received.end()
            #expect(end?.code == .noError && end?.last == 3)
            // The time of an idle connection is 30 seconds.
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    /// Runs `body` with a client that sends two bodies to a server that stops.
    private static func whileStopping(_ body: (FrameClient) async throws -> Void) async throws {
        try await StreamServer.run { server in
            try await FrameClient.run(to: server) { idle in
                try await FrameClient.run(to: server) { client in
                    #expect(try await idle.get(StreamResponder.page, on: 1).status == "200")
                    client.send(
                        FrameClient.head(1, form, isLast: false), FrameClient.head(3, form, isLast: false),
                        FrameClient.ping)
                    try await client.received.pings(1)
                    await server.stop()
                    _ = try await idle.received.end()
                    try await body(client)
                }
            }
        }
    }
}
