import NIOCore
import NIOHTTP1

/// Ends a connection of HTTP/1.0 with its first answer, which its client may be waiting for (RFC 9112 §9.3).
///
/// What follows sees no version, so the request says what one of HTTP/1.1 would say. Keeping a connection is left to that.
final class FormerVersionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), (head.version.major, head.version.minor) < (1, 1) else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
