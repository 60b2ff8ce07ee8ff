import CounterfoilServer
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Gathers each request of a connection, has it answered on the event loop, and answers requests that come early in their order.
///
/// A body is kept up to the limit of its endpoint, and up to a small size until the session is known that the endpoint needs. A
/// body that is refused is answered at once, and the rest of it is discarded, because a client that still writes would lose the
/// answer with the connection; after a large rest the connection ends. While a client does not read its answers, nothing more is
/// taken from it.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What of the connection is being read.
    private enum Reading {
        case nothing
        /// The session that a large body needs is being looked up; the body waits.
        case judging
        case body(RoutedHead, ByteBuffer)
        /// The rest of a body that is answered already, of which so many bytes are discarded.
        case rest(limit: Int)
    }

    /// Why no request comes after those that have come.
    private enum End {
        case closed, malformed
    }

    private let responder: AuthorizationServerResponder
    private let address: IPAddress?
    private let connection: OpenConnection
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
    /// Whether the kernel has every answer of a connection that ends.
    private var outputIsClosed = false
    /// The bytes of the body that count against the budget.
    private var counted = 0
    private var executor: EventLoopTasks?
    /// Ends the connection of a client that does not read its answers.
    private var unreadAnswers: Scheduled<Void>?

    /// How long a client may take to read what was written for it, before more is taken from it.
    private static let readingTime = TimeAmount.seconds(30)
    /// The largest rest of a refused body after which the connection goes on.
    private static let smallRest = 1 << 20
    /// The largest rest of a refused body that is read, so that its sender can read the answer.
    private static let largestRest = 16 << 20

    init(
        _ responder: AuthorizationServerResponder, address: IPAddress?, connection: OpenConnection,
        requests: RequestsInProgress
    ) {
        self.responder = responder
        self.address = address
        self.connection = connection
        self.requests = requests
    }

    func handlerAdded(context: ChannelHandlerContext) { executor = EventLoopTasks(loop: context.eventLoop) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if early.isEmpty, mayTake(part, context) { return take(part, context) }
        if !isOver { early.append(part) }
    }

    /// Whether a part has its turn.
    private func mayTake(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) -> Bool {
        switch (reading, part) {
        case (.rest, .body), (.rest, .end): true
        case (.judging, _): false
        default: !isOver && !isAnswering && context.channel.isWritable
        }
    }

    /// What a client sends before its answer stays in its own memory.
    func read(context: ChannelHandlerContext) {
        if isHeld(context) { readIsHeld = true } else { context.read() }
    }

    /// Whether enough has come: a request waits for its turn, no other one will have a turn, or answers wait to be read.
    private func isHeld(_ context: ChannelHandlerContext) -> Bool {
        if !context.channel.isWritable { return true }
        switch reading {
        case .rest: return false
        case .judging: return !early.isEmpty
        case .nothing, .body: return isAnswering && (!early.isEmpty || closesNext)
        }
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

    func handlerRemoved(context: ChannelHandlerContext) {
        unreadAnswers?.cancel()
        // One that is being answered is still held.
        if !isAnswering { dropBody() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            end = end ?? .closed
            goOn(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, reading) {
        case (is SlowRequestHandler.BodyTooSlow, .body(let head, _)) where !isAnswering:
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
            connection.enter(.reading)
            begin(responder.routed(head), context)
        case (.body(let bytes), .body(let head, var body)):
            guard bytes.readableBytes <= head.bodyLimit - body.readableBytes else {
                return refuse(.tooLarge(head), context)
            }
            let uncounted = body.readableBytes + bytes.readableBytes - BodyBudget.freeBytes - counted
            if uncounted > 0 {
                guard connection.take(uncounted) else { return refuse(.overloaded(head), context) }
                counted += uncounted
            }
            // Nobody else may hold the bytes while they grow.
            reading = .nothing
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            reading = .body(head, body)
        case (.end, .body(let head, let body)):
            reading = .nothing
            answer(.whole(head, Array(buffer: body)), context)
        case (.body(let bytes), .rest(let limit)):
            guard bytes.readableBytes <= limit else { return context.close(promise: nil) }
            reading = .rest(limit: limit - bytes.readableBytes)
        case (.end, .rest):
            reading = .nothing
            if !isOver { goOn(context) } else if outputIsClosed { context.close(promise: nil) }
        case (.body, .nothing), (.body, .judging), (.end, .nothing), (.end, .judging): break
        }
    }

    /// Begins a request: refuses a body that is announced as too large, and looks for the session that a large one needs.
    private func begin(_ head: RoutedHead, _ context: ChannelHandlerContext) {
        let announced = head.announcedLength
        if let announced, announced > head.bodyLimit { return refuse(.tooLarge(head), context) }
        guard head.bodyLimit > BodyBudget.freeBytes, announced ?? .max > BodyBudget.freeBytes, head.bodyNeedsSession
        else {
            reading = .body(head, ByteBuffer())
            return
        }
        reading = .judging
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (responder, address, loop) = (responder, address, context.eventLoop)
        Task(executorPreference: executor) {
            let isAdmitted = await responder.admitsLargeBody(of: head, from: address)
            loop.execute {
                let (handler, context) = bound.value
                handler.judged(head, isAdmitted: isAdmitted, context)
            }
        }
    }

    private func judged(_ head: RoutedHead, isAdmitted: Bool, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if isAdmitted {
            reading = .body(head, ByteBuffer())
        } else {
            // The endpoint answers without the body as it would with it.
            refuse(.whole(head, []), context)
        }
        goOn(context)
    }

    /// Answers a request of which the rest of the body is discarded.
    private func refuse(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        reading = .rest(limit: Self.largestRest)
        if request.head.announcedLength ?? .max > Self.smallRest { closesNext = true }
        dropBody()
        answer(request, context)
    }

    private func dropBody() {
        if counted > 0 { connection.giveBack(counted) }
        counted = 0
    }

    private func answer(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        isAnswering = true
        connection.enter(.answering)
        if request.head.asksToClose { closesNext = true }
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

    private func write(_ head: HTTPResponse, _ body: [UInt8], _ context: ChannelHandlerContext) {
        isAnswering = false
        dropBody()
        guard context.channel.isActive else { return }
        connection.enter(.idle)
        if connection.isEvicted { closesNext = true }
        var head = head
        if closesNext { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        guard closesNext else { return goOn(context) }
        if case .rest = reading {} else { early.removeAll() }
        closeOutput(context)
    }

    /// Ends the connection as soon as the kernel has every answer: bytes that wait to be sent are lost with a closed connection.
    ///
    /// A client that is still sending would not read the answer if both directions were closed at once (RFC 9112 §9.6).
    private func closeOutput(_ context: ChannelHandlerContext) {
        isOver = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.close(mode: .output).whenComplete { _ in
            let (handler, context) = bound.value
            handler.outputIsClosed = true
            if case .rest = handler.reading, handler.end == nil { return }
            context.close(promise: nil)
        }
    }

    /// Takes the next request, when it is there already, or ends when there will be none.
    private func goOn(_ context: ChannelHandlerContext) {
        while let part = early.first, mayTake(part, context) {
            early.removeFirst()
            take(part, context)
        }
        switch reading {
        case .rest:
            if outputIsClosed, end != nil { context.close(promise: nil) }
            if !isHeld(context) { readOn(context) }
            return
        case .judging: return
        case .nothing, .body: break
        }
        if isOver || isAnswering || !context.channel.isWritable { return }
        switch end {
        case .closed: closeOutput(context)
        case .malformed:
            closesNext = true
            write(HTTPResponse(status: .badRequest, headerFields: [.contentLength: "0"]), [], context)
        case nil: readOn(context)
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
