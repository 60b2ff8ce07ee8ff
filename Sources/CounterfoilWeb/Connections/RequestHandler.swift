import CounterfoilServer
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Gathers each request of a connection, has it answered on the event loop, and answers requests that come early in their order.
///
/// A body is kept up to the limit of its endpoint. What comes after that is answered at once and read to its end without being
/// kept, because a client that still writes would lose the answer with the connection. While a client does not read its answers,
/// nothing more is taken from it.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What of the connection is being read.
    private enum Reading {
        case nothing
        case body(HTTPRequest, ByteBuffer, limit: Int)
        /// The rest of a body that is answered already.
        case rest
    }

    /// Why no request comes after those that have come.
    private enum End {
        case closed, malformed
    }

    private let responder: AuthorizationServerResponder
    private let address: IPAddress?
    private let requests: RequestsInProgress
    private var reading = Reading.nothing
    private var isAnswering = false
    /// The next requests, while one is being answered.
    private var early = CircularBuffer<HTTPRequestPart>()
    private var readIsHeld = false
    /// Whether the connection ends with the next answer.
    private var closesNext = false
    /// Whether its last answer has been given.
    private var isOver = false
    private var end: End?
    private var executor: EventLoopTasks?
    /// Ends the connection of a client that does not read its answers.
    private var unreadAnswers: Scheduled<Void>?

    /// How long a client may take to read what was written for it, before more is taken from it.
    private static let readingTime = TimeAmount.seconds(30)

    init(_ responder: AuthorizationServerResponder, address: IPAddress?, requests: RequestsInProgress) {
        self.responder = responder
        self.address = address
        self.requests = requests
    }

    func handlerAdded(context: ChannelHandlerContext) { executor = EventLoopTasks(loop: context.eventLoop) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .body, .end:
            if case .rest = reading { return take(part, context) }
            fallthrough
        case .head:
            if isOver { return }
            if isAnswering || !early.isEmpty || !context.channel.isWritable {
                early.append(part)
            } else {
                take(part, context)
            }
        }
    }

    /// What a client sends before its answer stays in its own memory.
    func read(context: ChannelHandlerContext) {
        if isHeld(context) { readIsHeld = true } else { context.read() }
    }

    /// Whether enough has come: a request waits for its turn, no other one will have a turn, or answers wait to be read.
    private func isHeld(_ context: ChannelHandlerContext) -> Bool {
        if !context.channel.isWritable { return true }
        if case .rest = reading { return false }
        return isAnswering && (!early.isEmpty || closesNext)
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard readIsHeld else { return }
        readIsHeld = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            unreadAnswers?.cancel()
            unreadAnswers = nil
            goOn(context)
        } else {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            unreadAnswers = context.eventLoop.scheduleTask(in: Self.readingTime) { bound.value.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) { unreadAnswers?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            end = end ?? .closed
            goOn(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, reading) {
        case (is SlowRequestHandler.BodyTooSlow, .body(let head, _, _)) where !isAnswering:
            reading = .nothing
            closesNext = true
            answer(.late(head), context)
        case (is HTTPParserError, _):
            end = .malformed
            goOn(context)
        default:
            context.close(promise: nil)
        }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (part, reading) {
        case (.head(let head), _):
            reading = .body(head, ByteBuffer(), limit: responder.bodyLimit(of: head))
        case (.body(let bytes), .body(let head, var body, let limit)):
            guard bytes.readableBytes <= limit - body.readableBytes else {
                reading = .rest
                return answer(.tooLarge(head, limit: limit), context)
            }
            // Nobody else may hold the bytes while they grow.
            reading = .nothing
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            reading = .body(head, body, limit: limit)
        case (.end, .body(let head, let body, _)):
            reading = .nothing
            answer(.whole(head, Array(buffer: body)), context)
        case (.end, .rest):
            reading = .nothing
            if isOver { context.close(promise: nil) } else { goOn(context) }
        case (.body, .nothing), (.body, .rest), (.end, .nothing): break
        }
    }

    private func answer(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        isAnswering = true
        if Self.asksToClose(request.head) { closesNext = true }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (responder, address, requests, loop) = (responder, address, requests, context.eventLoop)
        requests.begin()
        Task(executorPreference: executor) {
            let (head, body) = await responder.respond(to: request, from: address)
            requests.end()
            let write: @Sendable () -> Void = {
                let (handler, context) = bound.value
                handler.write(head, body, context)
            }
            if loop.inEventLoop { write() } else { loop.execute(write) }
        }
    }

    /// RFC 9112 §9.6.
    private static func asksToClose(_ head: HTTPRequest) -> Bool {
        head.headerFields[values: .connection].contains { value in
            value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" } == "close" }
        }
    }

    private func write(_ head: HTTPResponse, _ body: [UInt8], _ context: ChannelHandlerContext) {
        isAnswering = false
        guard context.channel.isActive else { return }
        var head = head
        if closesNext { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil) }
        guard closesNext else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return goOn(context)
        }
        isOver = true
        early.removeAll()
        // A client that still writes would not come to read the answer if everything were closed (RFC 9112 §9.6).
        let mode = if case .rest = reading { CloseMode.output } else { CloseMode.all }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(mode: mode, promise: nil)
        }
    }

    /// Takes the next request, when it is there already, or ends when there will be none.
    private func goOn(_ context: ChannelHandlerContext) {
        if case .rest = reading {
            if isOver, end != nil { context.close(promise: nil) }
            if !isHeld(context) { readOn(context) }
            return
        }
        if isOver { return }
        while !isAnswering, context.channel.isWritable, let part = early.popFirst() { take(part, context) }
        if isAnswering || !context.channel.isWritable { return }
        switch end {
        case .closed: context.close(promise: nil)
        case .malformed:
            closesNext = true
            write(HTTPResponse(status: .badRequest, headerFields: [.contentLength: "0"]), [], context)
        case nil: readOn(context)
        }
    }
}

/// A request as it came in.
enum ReceivedRequest: Sendable {
    /// All of it.
    case whole(HTTPRequest, [UInt8])
    /// Its body is larger than its endpoint takes.
    case tooLarge(HTTPRequest, limit: Int)
    /// Its body did not arrive in time.
    case late(HTTPRequest)

    var head: HTTPRequest {
        switch self {
        case .whole(let head, _), .tooLarge(let head, _), .late(let head): head
        }
    }

    var body: [UInt8] {
        switch self {
        case .whole(_, let body): body
        case .tooLarge, .late: []
        }
    }
}

/// Runs tasks on an event loop.
private final class EventLoopTasks: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
