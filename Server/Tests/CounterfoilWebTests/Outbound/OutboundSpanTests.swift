import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import NIOCore
import Testing

/// The spans of requests to other hosts.
struct OutboundSpanTests {
    /// A span that keeps what is noted, and the spans in it.
    private final class RecordedSpan: TraceSpan {
        private struct State {
            var attributes: [TraceAttribute] = []
            var children: [RecordedSpan] = []
            var ends: [Bool] = []
        }

        let name: String
        private let state = Mutex(State())

        init(_ start: SpanStart) {
            name = start.name
            state.withLock { $0.attributes = start.attributes }
        }

        let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
        var attributes: [TraceAttribute] { state.withLock { $0.attributes } }
        var children: [RecordedSpan] { state.withLock { $0.children } }
        /// Whether there was an error, for each time that the span was ended.
        var ends: [Bool] { state.withLock { $0.ends } }

        func child(_ start: SpanStart) -> any TraceSpan {
            let child = RecordedSpan(start)
            state.withLock { $0.children.append(child) }
            return child
        }

        func note(_ attribute: TraceAttribute) { state.withLock { $0.attributes.append(attribute) } }
        func end(isError: Bool) { state.withLock { $0.ends.append(isError) } }
    }

    /// Fetches a file from a host that sends this answer, and returns the span of the request.
    private static func span(answering answer: [[UInt8]]) async throws -> RecordedSpan {
        let root = RecordedSpan(.outbound("GET", to: "root.example"))
        let host = ScriptedHost()
        _ = try await host.run(answering: answer) { port in
            let client = OutboundClient(insecureLoopbackPort: port, timeLimit: .seconds(5)) { _ in [[127, 0, 0, 1]] }
            let request = ClientFileRequest(
                url: try AbsoluteURI(parsing: "https://app.example.net/client.json?secret=1"),
                accepting: "application/json", byteLimit: 64, entityTag: nil, isOfNamedHost: false)
            var context = RequestContext(id: "request", source: "192.0.2.1")
            context.span = root
            return await OutboundClientFiles(named: client, others: client).fetch(request, for: context)
        }
        #expect(root.children.count == 1)
        return try #require(root.children.first)
    }

    private static func answer(_ status: String) -> [[UInt8]] {
        [Array("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)]
    }

    // The span names the host, and no part of the URL that the host could recognize a user by.
    @Test(arguments: [(200, false), (302, false), (404, true), (503, true)])
    func `the status of another host is in the span, and from 400 on it is an error`(
        status: Int, isError: Bool
    ) async throws {
        let span = try await Self.span(answering: Self.answer("\(status) Answer"))
        #expect(span.ends == [isError])
        #expect(span.attributes.contains(.status(status)))
        #expect(span.attributes.contains(.errorType("\(status)")) == isError)
        #expect(span.attributes.allSatisfy { !"\($0)".contains("client.json") && !"\($0)".contains("secret") })
    }

    @Test func `a host that closes the connection leaves the type of the error in the span`() async throws {
        let span = try await Self.span(answering: [])
        #expect(span.ends == [true])
        #expect(!span.attributes.contains { $0.name == "http.response.status_code" })
        #expect(span.attributes.contains { $0.name == "error.type" })
    }
}
