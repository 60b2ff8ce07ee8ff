import HTTPTypes
import IPAddresses
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Assembles the requests of a connection, passes each to the responder on the event loop, and writes the responses to
/// pipelined requests in order.
///
/// With HTTP/2, each stream has a handler of its own, for one request (RFC 9113 §8.1). What is said here of closing the
/// connection then happens to the stream, in `StreamHandler`.
///
/// - A body is buffered up to the limit of its request. If the responder has to admit large bodies, only a small part
///   is buffered until it has.
/// - A request whose body is refused is answered immediately, and the rest of the body is read and discarded. If the
///   connection were closed at once, a client that is still writing would lose the response. If the refused body is
///   large or its length is unknown, the connection is closed after the response.
/// - While a client does not read its responses, nothing more is read from it.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Reading {
        case nothing
        /// A large body waits for admission, and is not read meanwhile.
        case judging
        case body(RoutedRequest, ByteBuffer)
        /// The rest of a refused body is being discarded, at most `limit` bytes.
        case rest(limit: Int)
    }

    /// The event that ends a connection on which no request has begun.
    struct EndIdle {}

    /// The reason why no further requests arrive: the client closed its output, or sent a malformed request, which gets
    /// a status.
    private enum End {
        case closed
        case malformed(HTTPResponse.Status)
    }

    private let responder: any Responder
    private let address: IPAddress?
    private let connection: OpenConnection
    /// The place of the request in the limits of its HTTP/2 connection; nil for HTTP/1.1.
    private let stream: StreamSlot?
    private let idleTimer: IdleTimer
    private var reading = Reading.nothing
    /// The beginning of the current request; nil if there is none.
    private var beginning: PauseWatch.Beginning?
    private var isAnswering = false
    /// The parts of pipelined requests that wait while one is being answered.
    private var early = CircularBuffer<HTTPRequestPart>()
    /// The beginnings of these requests.
    private var earlyBeginnings = CircularBuffer<PauseWatch.Beginning>()
    private var readIsHeld = false
    /// Whether the connection is closed after the next response.
    private var closesNext = false
    /// Whether the last response of the connection has been written.
    private var isOver = false
    private var end: End?
    /// Whether all responses are handed to the kernel and the output is closed.
    private var outputIsClosed = false
    /// The bytes of the current body that count against the budget.
    private var counted = 0
    private var executor: EventLoopTasks?
    /// The timer that closes the connection of a client that does not read its responses.
    private var unreadAnswers: Scheduled<Void>?

    /// The time that a client has to read its responses when the channel is no longer writable.
    ///
    /// If the channel is still not writable after this time, the connection is closed.
    private static let readingTime = TimeAmount.seconds(30)
    /// The maximum announced length, in bytes, of a refused body; after a longer one, the connection is closed.
    private static let smallRest = 1 << 20
    /// The maximum number of bytes of a refused body that are discarded so that the client can read the response.
    ///
    /// If more bytes arrive, the connection is closed.
    private static let largestRest = 16 << 20

    init(
        _ responder: any Responder, address: IPAddress?, connection: OpenConnection, stream: StreamSlot? = nil
    ) {
        self.responder = responder
        self.address = address
        self.connection = connection
        self.stream = stream
        idleTimer = IdleTimer(connection)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        executor = EventLoopTasks(loop: context.eventLoop)
        if stream == nil { idleTimer.start(context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if early.isEmpty, mayTake(part, context) { return take(part, context) }
        guard !isOver else { return }
        if case .head = part { earlyBeginnings.append(connection.pauses.begin()) }
        early.append(part)
    }

    /// Returns whether a part can be processed now.
    private func mayTake(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) -> Bool {
        switch (reading, part) {
        case (.rest, .body), (.rest, .end): true
        case (.judging, _): false
        default: !isOver && !isAnswering && context.channel.isWritable
        }
    }

    /// Reads from the socket, or postpones reading while it is paused (see `isHeld`), so that memory is not filled with
    /// requests that cannot be answered yet.
    func read(context: ChannelHandlerContext) {
        if isHeld(context) { readIsHeld = true } else { context.read() }
    }

    /// Returns whether reading is paused.
    ///
    /// Reading is paused while a pipelined request waits, while the last request of the connection is being answered,
    /// or while the client does not read its responses. In the first two cases, reading continues if a refused body
    /// must be discarded.
    private func isHeld(_ context: ChannelHandlerContext) -> Bool {
        // What is discarded needs no memory, and a stream has no further request.
        if stream != nil, isOver { return false }
        if !context.channel.isWritable { return true }
        switch reading {
        case .rest: return false
        case .judging: return !early.isEmpty
        case .nothing, .body: return isAnswering && (!early.isEmpty || closesNext && stream == nil)
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
            proceed(context)
        } else {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            unreadAnswers = context.eventLoop.scheduleTask(in: Self.readingTime) { bound.value.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        unreadAnswers?.cancel()
        idleTimer.cancel()
        if let stream, stream.isWaiting { isAnswering = false }
        // While a request is being answered, its body is still in memory; `write` later subtracts its bytes from the
        // budget.
        if !isAnswering {
            dropBody()
            stream?.leave()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is EndIdle {
            guard case .nothing = reading, !isAnswering, !isOver, early.isEmpty else { return }
            // A new connection has nothing to send, and perhaps no TLS yet.
            if connection.current.phase == .silent { context.close(promise: nil) } else { closeOutput(context) }
            return
        }
        if case ChannelEvent.inputClosed = event {
            end = end ?? .closed
            proceed(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error, reading) {
        case (is SlowRequestHandler.BodyTooSlow, .body(let request, _)) where !isAnswering:
            // The frames of a stream that is not read would fill memory until the response is there.
            reading = stream == nil ? .nothing : .rest(limit: Self.largestRest)
            closesNext = true
            answer(.late, to: request, context)
        case (is HTTPParserError, _):
            end = .malformed(.badRequest)
            proceed(context)
        case (let refused as RequestHeadHandler.Refused, _):
            end = .malformed(refused.status)
            proceed(context)
        default:
            context.close(promise: nil)
        }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (part, reading) {
        case (.head(let head), _):
            beginning = earlyBeginnings.popFirst() ?? connection.pauses.begin()
            enter(.reading)
            var request = responder.routed(head, from: address)
            request.hasOpenBody = stream?.hasOpenBody ?? false
            begin(request, context)
        case (.body(let bytes), .body(let request, var body)):
            guard bytes.readableBytes <= request.bodyLimit - body.readableBytes else {
                return refuse(request, as: .tooLarge, context)
            }
            let freeBytes = stream?.freeBytes ?? BodyBudget.freeBytes
            let uncounted = body.readableBytes + bytes.readableBytes - freeBytes - counted
            if uncounted > 0 {
                guard connection.take(uncounted) else { return refuse(request, as: .overloaded, context) }
                counted += uncounted
            }
            // `reading` must not hold a second reference to the buffer, because the append would then copy the buffer.
            reading = .nothing
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            reading = .body(request, body)
        case (.end, .body(let request, let body)):
            reading = .nothing
            answer(.whole(Array(buffer: body)), to: request, context)
        case (.body(let bytes), .rest(let limit)):
            guard bytes.readableBytes <= limit else { return context.close(promise: nil) }
            reading = .rest(limit: limit - bytes.readableBytes)
        case (.end, .rest):
            reading = .nothing
            if !isOver { proceed(context) } else if outputIsClosed { context.close(promise: nil) }
        case (.body, .nothing), (.body, .judging), (.end, .nothing), (.end, .judging): break
        }
    }

    /// Starts a request.
    ///
    /// A body whose announced length is too large is refused. A large body is read when it is admitted.
    private func begin(_ request: RoutedRequest, _ context: ChannelHandlerContext) {
        let announced = request.announcedLength
        if let announced, announced > request.bodyLimit { return refuse(request, as: .tooLarge, context) }
        guard request.bodyLimit > BodyBudget.freeBytes, announced ?? .max > BodyBudget.freeBytes,
            let admitsLargeBody = request.admitsLargeBody
        else {
            reading = .body(request, ByteBuffer())
            return
        }
        if let stream, !stream.beginAdmissionCheck() { return refuse(request, as: .overloaded, context) }
        reading = .judging
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        Task(executorPreference: executor) {
            let isAdmitted = await admitsLargeBody()
            loop.execute {
                let (handler, context) = bound.value
                handler.judged(request, isAdmitted: isAdmitted, context)
            }
        }
    }

    private func judged(_ request: RoutedRequest, isAdmitted: Bool, _ context: ChannelHandlerContext) {
        stream?.endAdmissionCheck()
        guard context.channel.isActive else { return }
        if isAdmitted {
            reading = .body(request, ByteBuffer())
        } else {
            // The response does not depend on a body that is not admitted, so it is sent immediately.
            refuse(request, as: .whole([]), context)
        }
        proceed(context)
    }

    /// Answers a request and discards the rest of its body.
    private func refuse(_ request: RoutedRequest, as received: ReceivedRequest, _ context: ChannelHandlerContext) {
        reading = .rest(limit: Self.largestRest)
        if request.announcedLength ?? .max > Self.smallRest { closesNext = true }
        dropBody()
        answer(received, to: request, context)
    }

    private func dropBody() {
        if counted > 0 { connection.giveBack(counted) }
        counted = 0
    }

    private func answer(_ received: ReceivedRequest, to request: RoutedRequest, _ context: ChannelHandlerContext) {
        isAnswering = true
        if request.asksToClose { closesNext = true }
        guard let stream else {
            enter(.answering)
            return respond(to: request, received, context)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        stream.whenItsTurn {
            let (handler, context) = bound.value
            handler.respond(to: request, received, context)
        }
    }

    private func respond(
        to request: RoutedRequest, _ received: ReceivedRequest, _ context: ChannelHandlerContext
    ) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let delay = request.isRefusedAfterPause ? beginning.map { Delay(beginning: $0, connection: connection) } : nil
        Task(executorPreference: executor) {
            let (head, body) = await request.answer(delay?.judged(received) ?? received)
            let write: @Sendable () -> Void = {
                let (handler, context) = bound.value
                handler.write(head, body, context)
            }
            if loop.inEventLoop { write() } else { loop.execute(write) }
        }
    }

    /// The time for which a request may have waited.
    private struct Delay: Sendable {
        let beginning: PauseWatch.Beginning
        let connection: OpenConnection

        /// Returns the request, or its refusal if it may have waited during a pause of the process.
        ///
        /// With a refusal, the connection ends with the response.
        func judged(_ received: ReceivedRequest) -> ReceivedRequest {
            guard connection.pauses.mayHaveWaited(beginning) else { return received }
            connection.closeAfterResponse()
            return .delayed
        }
    }

    /// Notes the phase of the connection; one with streams has the phases of all of them together.
    private func enter(_ phase: OpenConnection.Phase) { if stream == nil { connection.enter(phase) } }

    private func write(_ head: HTTPResponse, _ body: [UInt8], _ context: ChannelHandlerContext) {
        isAnswering = false
        dropBody()
        stream?.leave()
        guard context.channel.isActive else { return }
        enter(.idle)
        if connection.closesAfterResponse { closesNext = true }
        var head = head
        // RFC 9113 §8.2.2: HTTP/2 has no such field.
        if closesNext, stream == nil { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if let stream {
            isOver = true
            forgetEarly()
            stream.answered()
            return readOn(context)
        }
        idleTimer.start(context)
        guard closesNext else { return proceed(context) }
        if case .rest = reading {} else { forgetEarly() }
        closeOutput(context)
    }

    private func forgetEarly() {
        early.removeAll()
        earlyBeginnings.removeAll()
    }

    /// Closes the output after the last response; then closes the connection, unless a refused body is being discarded.
    ///
    /// The connection is closed only when the kernel has all responses, because an earlier close would lose bytes. If
    /// both directions were closed at once, a client that is still sending would not read the response (RFC 9112 §9.6).
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

    /// Processes waiting parts and resumes reading, or closes the connection if no further request arrives.
    private func proceed(_ context: ChannelHandlerContext) {
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
        case .malformed(let status):
            closesNext = true
            write(HTTPResponse(status: status, headerFields: [.contentLength: "0"]), [], context)
        case nil: readOn(context)
        }
    }
}
