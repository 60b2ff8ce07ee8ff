import NIOCore
import NIOHTTP1

/// Marks the requests after which nothing more is read from a connection, so that it ends with their answer (RFC 9112 §9.6).
///
/// One of HTTP/1.0: its client may be waiting for the end (RFC 9112 §9.3), and what follows in the pipeline sees no version. One that
/// asks for another protocol (RFC 9110 §7.8) or for a tunnel: the parser takes nothing for a request after it, and a connection
/// that stayed open would be given the requests of others by a proxy and answer none.
final class LastRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), Self.isLast(head) else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private static func isLast(_ head: HTTPRequestHead) -> Bool {
        (head.version.major, head.version.minor) < (1, 1) || head.method == .CONNECT
            || head.headers.contains(name: "Upgrade")
    }
}
