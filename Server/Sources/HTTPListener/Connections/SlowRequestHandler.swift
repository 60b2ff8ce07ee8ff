import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Enforces time limits for the arrival of requests.
///
/// If the first head of a connection is late, the handler responds with 408 and closes the connection. For later
/// heads, the idle timeout of the connection is the limit; bytes of an incomplete head do not extend it. If a body is
/// late, the handler fires the error ``BodyTooSlow``. A stream of HTTP/2 begins with its head, so there is no time for
/// this one.
final class SlowRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    /// The error for a body that did not arrive in time.
    struct BodyTooSlow: Error {}

    private let headLimit: TimeAmount?
    private let bodyLimit: TimeAmount
    private var headDeadline: Scheduled<Void>?
    private var bodyDeadline: Scheduled<Void>?
    private var isInBody = false

    init(head: TimeAmount?, body: TimeAmount) {
        headLimit = head
        bodyLimit = body
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { awaitHead(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    func channelActive(context: ChannelHandlerContext) {
        awaitHead(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            headDeadline?.cancel()
            isInBody = true
        case .body: break
        case .end:
            bodyDeadline?.cancel()
            bodyDeadline = nil
            isInBody = false
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most bodies arrive together with their heads and need no timer.
        if isInBody, bodyDeadline == nil { awaitBody(context) }
        context.fireChannelReadComplete()
    }

    private func awaitHead(_ context: ChannelHandlerContext) {
        guard let headLimit, headDeadline == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        headDeadline = context.eventLoop.scheduleTask(in: headLimit) {
            let (handler, context) = bound.value
            handler.refuse(context)
        }
    }

    private func awaitBody(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        bodyDeadline = context.eventLoop.scheduleTask(in: bodyLimit) {
            bound.value.fireErrorCaught(BodyTooSlow())
        }
    }

    private func cancel() {
        headDeadline?.cancel()
        bodyDeadline?.cancel()
    }

    private func refuse(_ context: ChannelHandlerContext) {
        let head = HTTPResponse(status: .requestTimeout, headerFields: [.connection: "close", .contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}
