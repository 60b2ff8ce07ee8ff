import NIOCore
import NIOTLS

/// Waits for the TLS handshake of a connection, and adds the handlers of the protocol that ALPN has chosen (RFC 7301).
///
/// It closes a connection whose handshake is late. The time that the handshake took is subtracted from that of the
/// first request.
final class ProtocolChoiceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The name of HTTP/2 over TLS (RFC 9113 §3.2).
    static let http2 = "h2"
    /// The protocols that the server offers, in the order of its preference.
    static let offered = [http2, "http/1.1"]

    /// The protocol of a connection.
    enum Choice {
        case http1, http2
    }

    private let time: TimeAmount
    private let start = NIODeadline.now()
    private let addHandlers: (Choice, _ firstRequestTime: TimeAmount) throws -> Void
    private var deadline: Scheduled<Void>?

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - time: The time for the handshake and the first request.
    ///   - addHandlers: A function that adds the handlers of the protocol at the end of the pipeline.
    init(time: TimeAmount, addHandlers: @escaping (Choice, _ firstRequestTime: TimeAmount) throws -> Void) {
        self.time = time
        self.addHandlers = addHandlers
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated):
            do {
                // A client that offers neither protocol, or no ALPN, gets HTTP/1.1.
                let choice: Choice = negotiated == Self.http2 ? .http2 : .http1
                try addHandlers(choice, start + time - .now())
            } catch {
                return context.close(promise: nil)
            }
            context.fireUserInboundEventTriggered(event)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case is RequestHandler.EndIdle, ChannelEvent.inputClosed:
            context.close(promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
