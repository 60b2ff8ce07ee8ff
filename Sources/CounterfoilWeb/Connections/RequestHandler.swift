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
        case body(HTTPRequest, ByteBuffer, limit: Int)
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
    /// Answers that are not yet handed to the kernel.
    private var unsent = 0
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
            connection.enter(.reading)
            begin(head, context)
        case (.body(let bytes), .body(let head, var body, let limit)):
            guard bytes.readableBytes <= limit - body.readableBytes else {
                return refuse(.tooLarge(head, limit: limit), context)
            }
            let uncounted = body.readableBytes + bytes.readableBytes - BodyBudget.freeBytes - counted
            if uncounted > 0 {
                guard connection.take(uncounted) else { return refuse(.overloaded(head), context) }
                counted += uncounted
            }
            // Nobody else may hold the bytes while they grow.
            reading = .nothing
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            reading = .body(head, body, limit: limit)
        case (.end, .body(let head, let body, _)):
            reading = .nothing
            answer(.whole(head, Array(buffer: body)), context)
        case (.body(let bytes), .rest(let limit)):
            guard bytes.readableBytes <= limit else { return context.close(promise: nil) }
            reading = .rest(limit: limit - bytes.readableBytes)
        case (.end, .rest):
            reading = .nothing
            if !isOver { goOn(context) } else if unsent == 0 { context.close(promise: nil) }
        case (.body, .nothing), (.body, .judging), (.end, .nothing), (.end, .judging): break
        }
    }

    /// Begins a request: refuses a body that is announced as too large, and looks for the session that a large one needs.
    private func begin(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        let limit = responder.bodyLimit(of: head)
        let announced = Self.announcedLength(of: head)
        if let announced, announced > limit { return refuse(.tooLarge(head, limit: limit), context) }
        guard limit > BodyBudget.freeBytes, announced ?? .max > BodyBudget.freeBytes,
            responder.bodyNeedsSession(head)
        else {
            reading = .body(head, ByteBuffer(), limit: limit)
            return
        }
        reading = .judging
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (responder, address, loop) = (responder, address, context.eventLoop)
        Task(executorPreference: executor) {
            let isAdmitted = await responder.admitsLargeBody(of: head, from: address)
            loop.execute {
                let (handler, context) = bound.value
                handler.judged(head, isAdmitted: isAdmitted, limit: limit, context)
            }
        }
    }

    private func judged(_ head: HTTPRequest, isAdmitted: Bool, limit: Int, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if isAdmitted {
            reading = .body(head, ByteBuffer(), limit: limit)
        } else {
            // The endpoint answers without the body as it would with it.
            refuse(.whole(head, []), context)
        }
        goOn(context)
    }

    /// The length of a body that a head announces (RFC 9112 §6.3); nil when it is not known.
    private static func announcedLength(of head: HTTPRequest) -> Int? {
        if head.headerFields.contains(.transferEncoding) { return nil }
        return head.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0
    }

    /// Answers a request of which the rest of the body is discarded.
    private func refuse(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        reading = .rest(limit: Self.largestRest)
        if Self.announcedLength(of: request.head) ?? .max > Self.smallRest { closesNext = true }
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
        dropBody()
        guard context.channel.isActive else { return }
        connection.enter(.idle)
        if connection.isEvicted { closesNext = true }
        var head = head
        if closesNext { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil) }
        let closes = closesNext
        if closes {
            isOver = true
            if case .rest = reading {} else { early.removeAll() }
        }
        unsent += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            let (handler, context) = bound.value
            handler.wasSent(context)
        }
        if !closes { goOn(context) }
    }

    /// Ends the connection when its last answer is with the kernel: what waits to be sent is lost with a connection that is closed.
    private func wasSent(_ context: ChannelHandlerContext) {
        unsent -= 1
        guard isOver, unsent == 0 else { return }
        // A client that still writes would not come to read the answer if everything were closed (RFC 9112 §9.6).
        let mode = if case .rest = reading, end == nil { CloseMode.output } else { CloseMode.all }
        context.close(mode: mode, promise: nil)
    }

    /// Takes the next request, when it is there already, or ends when there will be none.
    private func goOn(_ context: ChannelHandlerContext) {
        while let part = early.first, mayTake(part, context) {
            early.removeFirst()
            take(part, context)
        }
        switch reading {
        case .rest:
            if isOver, unsent == 0, end != nil { context.close(promise: nil) }
            if !isHeld(context) { readOn(context) }
            return
        case .judging: return
        case .nothing, .body: break
        }
        if isOver || isAnswering || !context.channel.isWritable { return }
        switch end {
        case .closed:
            isOver = true
            if unsent == 0 { context.close(promise: nil) }
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
    /// Too many bytes of bodies are held already.
    case overloaded(HTTPRequest)

    var head: HTTPRequest {
        switch self {
        case .whole(let head, _), .tooLarge(let head, _), .late(let head), .overloaded(let head): head
        }
    }

    var body: [UInt8] {
        switch self {
        case .whole(_, let body): body
        case .tooLarge, .late, .overloaded: []
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
