import NIOCore
import NIOHPACK
import NIOHTTP2

/// Checks the request of an HTTP/2 stream, and ends the stream after the response.
///
/// - A malformed request ends its stream with an error, and later handlers do not see it (RFC 9113 §8.1.1).
/// - A request that exceeds a limit of the connection is refused, and the client can send it again (RFC 9113 §8.7).
/// - If the response is complete before the request, the stream is reset without an error, so that the client stops
///   sending the body (RFC 9113 §8.1).
/// - A client that does not take the response in time loses the stream, whatever its window is.
final class StreamHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Request {
        case expected, arriving, complete, refused
    }

    private let slot: StreamSlot
    private var request = Request.expected
    private var responseTimer: Scheduled<Void>?

    init(_ slot: StreamSlot) { self.slot = slot }

    func handlerRemoved(context: ChannelHandlerContext) { responseTimer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var payload = unwrapInboundIn(data)
        switch request {
        case .expected:
            guard case .headers(var head) = payload, let fields = RequestFields(head.headers) else {
                return refuse(.protocolError, context)
            }
            let hasOpenBody = !head.endStream && !fields.statesLength
            guard slot.admit(headBytes: fields.size, hasOpenBody: hasOpenBody) else {
                return refuse(.refusedStream, context)
            }
            head.headers = fields.fields
            payload = .headers(head)
            request = .arriving
        case .arriving, .complete:
            switch payload {
            case .headers, .data: break
            // The library has processed all others.
            default: return
            }
        case .refused: return
        }
        if Self.endsStream(payload) { request = .complete }
        context.fireChannelRead(wrapInboundOut(payload))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var payload = unwrapOutboundIn(data)
        switch payload {
        case .headers(var head):
            head.headers = ResponseFieldCompression.applied(to: head.headers)
            payload = .headers(head)
        case .data(let part): slot.wrote(part.data.readableBytes)
        default: break
        }
        guard Self.endsStream(payload) else {
            return context.write(wrapOutboundOut(payload), promise: promise)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        responseTimer = context.eventLoop.scheduleTask(in: StreamLimits.responseTime) {
            bound.value.1.close(promise: nil)
        }
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.finish(context)
        }
        context.write(wrapOutboundOut(payload), promise: sent)
    }

    /// Ends the stream when the kernel has the response.
    private func finish(_ context: ChannelHandlerContext) {
        responseTimer?.cancel()
        slot.sent()
        if request == .arriving, context.channel.isActive { reset(.noError, context) }
    }

    private func refuse(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        request = .refused
        slot.refused()
        reset(code, context)
    }

    private func reset(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    private static func endsStream(_ payload: HTTP2Frame.FramePayload) -> Bool {
        switch payload {
        case .headers(let head): head.endStream
        case .data(let part): part.endStream
        default: false
        }
    }
}
