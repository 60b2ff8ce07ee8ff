import NIOCore

/// Drops what arrives on a TLS connection after this side has closed it.
///
/// The TLS handler still decrypts while it waits for the other side. A request that arrives then would be carried out,
/// and its response could not be sent. The client would send it again.
final class ClosedInputHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isClosed = false

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all { isClosed = true }
        context.close(mode: mode, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isClosed { context.fireChannelRead(data) }
    }
}
