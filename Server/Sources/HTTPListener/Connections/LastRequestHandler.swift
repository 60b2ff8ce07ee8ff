import NIOCore
import NIOHTTP1

/// Adds `Connection: close` to requests after which the connection must be closed (RFC 9112 §9.6).
///
/// - HTTP/1.0 requests: the client may wait for the end of the connection (RFC 9112 §9.3), and later handlers
///   do not see the version.
/// - Requests with `Upgrade` (RFC 9110 §7.8) or CONNECT: the parser does not parse further requests. A proxy
///   could reuse an open connection for requests of other clients, which would get no response.
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
        head.isOld || head.method == .CONNECT || head.headers.contains(name: "Upgrade")
    }
}
