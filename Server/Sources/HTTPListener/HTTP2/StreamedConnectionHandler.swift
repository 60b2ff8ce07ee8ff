import NIOCore
import NIOHTTP2

/// Ends an HTTP/2 connection, and applies the limits that its streams share.
///
/// A connection ends with GOAWAY (RFC 9113 §6.8). The streams that have begun are finished, and a client can repeat the
/// requests that came later, because the frame says that they were not processed. The connection ends in these cases:
///
/// - There was no stream for some time, or no first request.
/// - The server stops, makes room for another connection, or answers only once.
/// - The client has closed its output, or does not read.
/// - The client has made an error that concerns the whole connection, or sends too many control frames.
final class StreamedConnectionHandler: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The event that tells the client of the end of a connection that is closed immediately afterwards.
    struct EndNow {}

    /// The time that a client has to take the last frames.
    private static let closingTime = TimeAmount.seconds(5)

    private let connection: OpenConnection
    private let firstRequestTime: TimeAmount
    private var context: ChannelHandlerContext?
    private var counts = StreamCounts()
    private var phase = OpenConnection.Phase.silent
    private var waiting: [StreamSlot] = []
    private var controlFrames = EventCounter(limit: StreamLimits.controlFrames, period: StreamLimits.period)
    /// The number of WINDOW_UPDATE frames that the client can send for responses and that are not counted.
    private var windowUpdates = 0
    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    private var readIsHeld = false
    /// Whether GOAWAY was sent.
    private var isEnding = false
    /// Whether GOAWAY was sent because of an error.
    private var hasFailed = false
    /// Whether an error of the connection follows that the library could not send, because GOAWAY was sent already.
    private var errorIsUnsent = false
    private var isClosing = false
    private var idleTimer: Scheduled<Void>?
    private var unreadTimer: Scheduled<Void>?
    private var closingTimer: Scheduled<Void>?

    init(_ connection: OpenConnection, firstRequestTime: TimeAmount) {
        self.connection = connection
        self.firstRequestTime = firstRequestTime
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        startIdleTimer(firstRequestTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for timer in [idleTimer, unreadTimer, closingTimer] { timer?.cancel() }
    }

    // MARK: - Frames

    /// Counts a frame that costs work but is no request, and ends the connection if there are too many.
    func countControlFrame() {
        guard let context, !hasFailed, controlFrames.exceeds(at: .now()) else { return }
        // The last stream 0 ends all streams.
        sendGoAway(.enhanceYourCalm, lastStream: .rootStream, context)
        close(context)
    }

    /// Counts a frame that opens a window, unless the client needs it to receive responses (RFC 9113 §6.9).
    func countWindowUpdate() {
        if windowUpdates > 0 { windowUpdates -= 1 } else { countControlFrame() }
    }

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .goAway(_, let code, _) where code != .noError: hasFailed = true
        case .headers, .data: windowUpdates += StreamLimits.windowUpdatesPerFrame
        default: break
        }
    }

    /// Reads from the socket, unless the client does not read, so that memory is not filled with its requests.
    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable { context.read() } else { readIsHeld = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        unreadTimer?.cancel()
        unreadTimer = nil
        if !context.channel.isWritable {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            unreadTimer = context.eventLoop.scheduleTask(in: StreamLimits.responseTime) {
                bound.value.close(promise: nil)
            }
        } else if readIsHeld {
            readIsHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is RequestHandler.EndIdle: end()
        case is EndNow:
            if !isEnding { sendGoAway(.noError, lastStream: lastStream, context) }
        case ChannelEvent.inputClosed:
            end()
            context.fireUserInboundEventTriggered(event)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOHTTP2Errors.RaisedGoawayLastStreamID {
            errorIsUnsent = true
            return
        }
        defer { errorIsUnsent = false }
        if hasFailed {
            close(context)
        } else if errorIsUnsent {
            // RFC 9113 §6.8: frames of streams that GOAWAY excludes may still arrive, and earlier streams are finished.
            if error is NIOHTTP2Errors.NoSuchStream { return skipFrame(context) }
            sendGoAway(.protocolError, lastStream: .rootStream, context)
            close(context)
        } else if !(error is any NIOHTTP2Error), !(error is NIOHTTP2Errors.StreamError) {
            context.close(promise: nil)
        }
        // Any other error has ended one stream.
    }

    /// Lets the library process the frames behind one that it has refused.
    ///
    /// The library stops at an error of the connection, and continues only when more bytes arrive.
    private func skipFrame(_ context: ChannelHandlerContext) {
        countControlFrame()
        guard !isClosing else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (handler, context) = bound.value
            guard handler.context != nil, !handler.isClosing, let library = try? Self.library(of: context) else {
                return
            }
            library.handler.channelRead(context: library.context, data: NIOAny(ByteBuffer()))
            library.handler.channelReadComplete(context: library.context)
        }
    }

    /// Returns the handler of the HTTP/2 library.
    private static func library(
        of context: ChannelHandlerContext
    ) throws -> (handler: NIOHTTP2Handler, context: ChannelHandlerContext) {
        let handler = try context.pipeline.syncOperations.handler(type: NIOHTTP2Handler.self)
        return (handler, try context.pipeline.syncOperations.context(handler: handler))
    }

    // MARK: - Streams

    /// Notes a new stream.
    func opened(_ stream: HTTP2StreamID) {
        openStreams += 1
        lastStream = max(lastStream, stream)
        idleTimer?.cancel()
    }

    /// Notes that a stream is closed.
    func closedStream() {
        openStreams -= 1
        guard openStreams == 0, let context else { return }
        if isEnding {
            close(context)
        } else if connection.closesAfterResponse {
            // The last stream was reset, so no response ends the connection.
            end()
        } else {
            startIdleTimer(StreamLimits.idleTime, context)
        }
    }

    /// Counts a request; nil if there are too many.
    func admit(headBytes: Int) -> StreamCounts.Part? {
        defer { updatePhase() }
        return counts.admit(headBytes: headBytes)
    }

    /// Counts a large body that waits for admission; returns false if there are too many.
    func beginAdmissionCheck() -> Bool { counts.beginAdmissionCheck() }

    /// Ends the count of such a body.
    func endAdmissionCheck() { counts.endAdmissionCheck() }

    /// Ends the count of a request.
    func remove(_ part: StreamCounts.Part, wasAnswering: Bool) {
        counts.remove(part, wasAnswering: wasAnswering)
        updatePhase()
        answerNext()
    }

    /// Adds a request that waits for its turn.
    func enqueue(_ slot: StreamSlot) {
        waiting.append(slot)
        answerNext()
    }

    /// Removes a request whose stream is closed before its turn.
    func dequeue(_ slot: StreamSlot) { waiting.removeAll { $0 === slot } }

    /// Notes that the answer to a request begins.
    func noteAnswer() {
        counts.beginAnswer()
        updatePhase()
    }

    /// Counts bytes of responses; a negative number ends the count.
    func addUnsent(_ bytes: Int) {
        counts.addUnsent(bytes)
        if bytes < 0 { answerNext() }
    }

    /// Notes that a response is written, after which the connection may have to end.
    func answered() {
        if connection.closesAfterResponse { end() }
    }

    private func answerNext() {
        while counts.mayAnswer, !waiting.isEmpty { waiting.removeFirst().begin() }
    }

    private func updatePhase() {
        guard phase != counts.phase, phase != .silent || counts.phase != .idle else { return }
        phase = counts.phase
        connection.enter(phase)
    }

    // MARK: - The end

    private func startIdleTimer(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        idleTimer?.cancel()
        idleTimer = context.eventLoop.scheduleTask(in: time) { bound.value.end() }
    }

    /// Accepts no further streams, and closes the connection when the last one is closed.
    private func end() {
        guard let context, !isEnding else { return }
        sendGoAway(.noError, lastStream: lastStream, context)
        if openStreams == 0 { close(context) }
    }

    private func sendGoAway(
        _ code: HTTP2ErrorCode, lastStream: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        isEnding = true
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    /// Closes the connection when the kernel has all frames, and discards what arrives meanwhile.
    private func close(_ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        isEnding = true
        if let library = try? Self.library(of: context) {
            // An error would mean that the pipeline is gone.
            try? context.pipeline.syncOperations.addHandler(DiscardHandler(), position: .before(library.handler))
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        closingTimer = context.eventLoop.scheduleTask(in: Self.closingTime) { bound.value.close(promise: nil) }
        context.close(mode: .output).whenComplete { _ in bound.value.close(promise: nil) }
    }
}

/// Discards the bytes that a client sends to a connection that is being closed.
private final class DiscardHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
