import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of responses that arrive while the program reads them, over real connections.
@Suite(.timeLimit(.minutes(2)))
struct StreamedResponseTests {
    /// Runs a closure with a session and the URL of an API that answers with a script.
    private static func run(
        _ answer: ScriptedAnswer?, options: NativeSignIn.Options = .init(),
        _ body: @escaping @Sendable (TokenSession, ScriptedAuthorizationServer) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, in: store, options: options)
            if let answer { server.change { $0.interruptions = [Interruption(at: .api, answer)] } }
            try await body(TokenSession(ofAnyClientIn: store), server)
        }
    }

    private static func request(at server: ScriptedAuthorizationServer) throws -> TransportRequest {
        try TransportRequest(api: server.url(of: .api))
    }

    private static func stream(_ text: String, type: String = "text/event-stream") -> ScriptedAnswer {
        ScriptedAnswer(
            headerFields: [.init("Content-Type", "\(type); charset=utf-8")], body: .text(text), delivery: .unfinished)
    }

    // The server never ends this response.
    @Test func `events arrive before the response ends, and the rest is not waited for`() async throws {
        try await Self.run(
            Self.stream(": hello\n\nid: 7\ndata: one\n\nevent: note\ndata: two\ndata: lines\n\ndata: half")
        ) {
            session, server in
            let response = try await session.stream(Self.request(at: server))
            #expect(response.statusCode == 200)
            #expect(response.mediaType == "text/event-stream")
            var events: [ServerSentEvent] = []
            for try await event in response.events() {
                events.append(event)
                if events.count == 2 { break }
            }
            #expect(
                events == [
                    ServerSentEvent(data: "one", lastEventID: "7"),
                    ServerSentEvent(type: "note", data: "two\nlines", lastEventID: "7"),
                ])
            #expect(server.requests(to: .api).first?.authorization?.hasPrefix("Bearer ") == true)
        }
    }

    @Test func `a stream that stays silent ends with an error`() async throws {
        try await Self.run(Self.stream("data: one\n\n")) { session, server in
            let response = try await session.stream(Self.request(at: server), idleTimeout: .milliseconds(200))
            var events = response.events().makeAsyncIterator()
            #expect(try await events.next()?.data == "one")
            await #expect(throws: TransportFailure.timedOut(origin: server.origin)) { _ = try await events.next() }
            await #expect(throws: TransportFailure.timedOut(origin: server.origin)) { _ = try await events.next() }
        }
    }

    @Test func `cancelling the task ends the wait`() async throws {
        try await Self.run(Self.stream("data: one\n\n")) { session, server in
            let response = try await session.stream(Self.request(at: server))
            let (arrivals, arrival) = AsyncStream.makeStream(of: String.self)
            let reading = Task {
                for try await event in response.events() { arrival.yield(event.data) }
            }
            #expect(await arrivals.first { _ in true } == "one")
            reading.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await reading.value }
        }
    }

    @Test func `a second reader at the same time gets an error`() async throws {
        try await Self.run(Self.stream("data: one\n\n")) { session, server in
            let response = try await session.stream(Self.request(at: server))
            var chunks = response.body.makeAsyncIterator()
            _ = try await chunks.next()
            let outcomes = await withTaskGroup(of: TransportFailure?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            for try await _ in response.body {}
                            return nil
                        } catch { return error as? TransportFailure }
                    }
                }
                // The one that reads waits for ever; it ends with the group.
                let first = await group.next()
                group.cancelAll()
                return first
            }
            #expect(outcomes == .cancelled)
        }
    }

    @Test func `a body that is too long for memory is read in parts`() async throws {
        let size = 8 << 20
        try await Self.run(.spaces(size)) { session, server in
            let response = try await session.stream(Self.request(at: server))
            var count = 0
            for try await chunk in response.body {
                #expect(!chunk.isEmpty)
                count += chunk.count
            }
            #expect(count == size)
            let again = try await session.stream(Self.request(at: server))
            await #expect(throws: TransportFailure.tooLarge(origin: server.origin, limit: 1000)) {
                _ = try await again.collected(upTo: 1000)
            }
        }
    }

    @Test func `a long line and a long event are refused`() async throws {
        try await Self.run(Self.stream("data: " + String(repeating: "a", count: 5000))) { session, server in
            var events = try await session.stream(Self.request(at: server)).events(byteLimit: 4000).makeAsyncIterator()
            await #expect(throws: TransportFailure.tooLarge(origin: server.origin, limit: 4000)) {
                _ = try await events.next()
            }
        }
        try await Self.run(Self.stream(String(repeating: "data: abcdefgh\n", count: 1000))) { session, server in
            var events = try await session.stream(Self.request(at: server)).events(byteLimit: 4000).makeAsyncIterator()
            await #expect(throws: TransportFailure.tooLarge(origin: server.origin, limit: 4000)) {
                _ = try await events.next()
            }
        }
    }

    @Test func `a rejected token is refreshed before the stream begins`() async throws {
        try await Self.run(nil) { session, server in
            server.change {
                $0.interruptions = [Interruption(at: .api, times: 1, ScriptedAnswer(status: 401))]
                $0.api.answerType = "application/x-ndjson"
                $0.api.answer = "{\"a\":1}\r\n{\"b\":2}\n\n{\"c\":3}"
            }
            var lines: [String] = []
            for try await line in try await session.stream(Self.request(at: server)).lines() { lines.append(line) }
            #expect(lines == ["{\"a\":1}", "{\"b\":2}", "", "{\"c\":3}"])
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    // RFC 9449 §9
    @Test func `a stream is requested with a proof, and again with the nonce of the API`() async throws {
        var options = NativeSignIn.Options()
        options.bindsTokens = true
        try await Self.run(nil, options: options) { session, server in
            server.change { $0.dpop.apiNonce = .lasting }
            let response = try await session.stream(Self.request(at: server))
            #expect(response.statusCode == 200)
            #expect(server.requests(to: .api).count == 2)
        }
    }

    @Test(arguments: [
        (["data: a\n", "\n"], [ServerSentEvent(data: "a")]),
        (["\u{FEFF}data:a\r", "\n\r\n"], [ServerSentEvent(data: "a")]),
        (["data: a\r\rdata:  b\r\r"], [ServerSentEvent(data: "a"), ServerSentEvent(data: " b")]),
        (["data\ndata\n\n"], [ServerSentEvent(data: "\n")]),
        (["event: x\n\ndata: y\n\n"], [ServerSentEvent(data: "y")]),
        (
            ["id: 1\ndata: a\n\nid\ndata: b\n\n"],
            [ServerSentEvent(data: "a", lastEventID: "1"), ServerSentEvent(data: "b")]
        ),
        (["id: 1\0\nretry: 5\nother: x\ndata: a\n\n"], [ServerSentEvent(data: "a")]),
        ([":\n:\n\n", "data: without an end"], []),
        (["data: \u{E5}\n\n"], [ServerSentEvent(data: "\u{E5}")]),
        (["data:\u{301}\n\n"], [ServerSentEvent(data: "\u{301}")]),
    ])
    func `event streams are parsed as browsers parse them`(chunks: [String], events: [ServerSentEvent]) throws {
        var (splitter, parser) = (LineSplitter(byteLimit: 100), ServerSentEventParser())
        var parsed: [ServerSentEvent] = []
        // Each byte alone, and then in these chunks.
        for parts in [chunks.joined().utf8.map { [$0] }, chunks.map { Array($0.utf8) }] {
            (splitter, parser, parsed) = (LineSplitter(byteLimit: 100), ServerSentEventParser(), [])
            for part in parts {
                splitter.append(part)
                while let line = try splitter.next() {
                    if let event = parser.event(endingWith: line) { parsed.append(event) }
                }
            }
            #expect(parsed == events)
        }
    }
}
