@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// A collector of OpenTelemetry that keeps the spans that it gets by OTLP over HTTP.
final class SpanCollector: Sendable {
    /// The reaction to a post.
    enum Answer: Sendable {
        case status(HTTPResponseStatus)
        /// The connection stays open without a response.
        case silence
    }

    private struct State {
        var spans: [CollectedSpan] = []
        var resource: [String: String] = [:]
        var bytes: [UInt8] = []
        var heads: [HTTPRequestHead] = []
        var unreadable: [String] = []
    }

    private let answer: Answer
    private let state = Mutex(State())

    init(_ answer: Answer = .status(.ok)) { self.answer = answer }

    var spans: [CollectedSpan] { state.withLock { $0.spans } }
    /// The attributes of the process that sent the spans.
    var resource: [String: String] { state.withLock { $0.resource } }
    /// The bodies of all posts, as text for a search.
    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
    var heads: [HTTPRequestHead] { state.withLock { $0.heads } }
    /// The errors of posts that could not be read.
    var unreadable: [String] { state.withLock { $0.unreadable } }

    /// Waits for the first span that meets a condition.
    func span(_ what: String, where isWanted: (CollectedSpan) -> Bool) async throws -> CollectedSpan {
        try await Waiting.until("the span of \(what)") { spans.first(where: isWanted) }
    }

    /// Listens until `body` returns and passes it the URL of the collector.
    func run<Result: Sendable>(_ body: @Sendable (String) async throws -> Result) async throws -> Result {
        try await LocalListener.run({
            [
                HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
                Connection(self),
            ]
        }) { port in try await body("http://127.0.0.1:\(port)") }
    }

    private func take(_ head: HTTPRequestHead, _ body: ByteBuffer) {
        let bytes = Array(body.readableBytesView)
        let posted = Result { try PostedSpans(bytes) }
        state.withLock { state in
            state.heads.append(head)
            state.bytes += bytes
            switch posted {
            case .success(let posted):
                state.spans += posted.spans
                state.resource.merge(posted.resource) { _, latest in latest }
            case .failure(let error): state.unreadable.append("\(error)")
            }
        }
    }

    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let collector: SpanCollector
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()

        init(_ collector: SpanCollector) { self.collector = collector }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = ByteBuffer()
            case .body(var part): body.writeBuffer(&part)
            case .end:
                if let head { collector.take(head, body) }
                guard case .status(let status) = collector.answer else { return }
                let fields = HTTPHeaders([("Content-Type", "application/x-protobuf"), ("Content-Length", "0")])
                context.write(
                    wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))),
                    promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
