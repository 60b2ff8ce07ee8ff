import CounterfoilProtocol
import NIOCore
import NIOHTTP1

/// The handler for one connection to a loopback receiver.
///
/// It responds to the first request and closes the connection. Only the expected callback ends the wait.
final class LoopbackRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum length of a request target, in bytes; a callback is far shorter.
    static let targetLimit = 32 * 1024
    /// The maximum lifetime of a connection, in which the request must arrive.
    static let timeLimit = TimeAmount.seconds(30)
    /// The maximum time for the peer to close a connection after the response.
    static let lingerTime = TimeAmount.seconds(2)

    private let uri: LoopbackRedirectURI
    private let port: Int
    private let wait: CallbackWait
    private var isAnswered = false

    init(uri: LoopbackRedirectURI, port: Int, wait: CallbackWait) {
        self.uri = uri
        self.port = port
        self.wait = wait
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The head of the request is sufficient; the handler ignores a body.
        guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
        isAnswered = true
        let reply = reply(to: head)
        let written = write(reply, toHEAD: head.method == .HEAD, context: context)
        // Deliver the callback only after the page was sent, because the delivery makes the client close the port.
        if let callback = reply.callback { written.whenComplete { [wait] _ in wait.deliver(callback) } }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ReceiverConnections.ShutdownEvent else { return context.fireUserInboundEventTriggered(event) }
        // The browser may be sending a request at this moment. It will read this page as the response.
        guard !isAnswered else { return }
        isAnswered = true
        _ = write(Reply(status: .serviceUnavailable, page: .aborted), toHEAD: false, context: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private struct Reply {
        let status: HTTPResponseStatus
        let page: BrowserPage
        /// The accepted callback; nil for any other request.
        var callback: AuthorizationCallback?
    }

    private func reply(to head: HTTPRequestHead) -> Reply {
        // By DNS rebinding, a web page can make its own host name resolve to loopback and send requests here.
        // `Host` then contains that host name. Reject such requests.
        guard head.headers["host"].map({ $0.lowercased() }) == [uri.authority(port: port)] else {
            return Reply(status: .badRequest, page: .rejected)
        }
        guard head.uri.utf8.count <= Self.targetLimit else { return Reply(status: .uriTooLong, page: .rejected) }
        let target = originForm(of: head.uri).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == uri.path else { return Reply(status: .notFound, page: .notFound) }
        guard head.method == .GET else { return Reply(status: .methodNotAllowed, page: .rejected) }
        guard let callback = callback(query: target.count == 2 ? String(target[1]) : "") else {
            return Reply(status: .badRequest, page: .unrelated)
        }
        switch wait.decide(on: callback) {
        case .unrelated: return Reply(status: .badRequest, page: .unrelated)
        case .ended(.answered): return Reply(status: .gone, page: .ended)
        case .ended(.aborted): return Reply(status: .gone, page: .aborted)
        case .accepted(.code): return Reply(status: .ok, page: .received, callback: callback)
        case .accepted(.signedOut): return Reply(status: .ok, page: .signedOut, callback: callback)
        case .accepted(.refused): return Reply(status: .ok, page: .refused, callback: callback)
        case .accepted(.unsafe): return Reply(status: .badRequest, page: .unsafe, callback: callback)
        }
    }

    /// Removes the origin from a target in absolute form (RFC 9112 §3.2.2).
    private func originForm(of target: String) -> Substring {
        let origin = "http://\(uri.authority(port: port))/"
        return target.hasPrefix(origin) ? target.dropFirst(origin.count - 1) : Substring(target)
    }

    /// Parses the query of a callback; nil if it does not begin with the registered query or is malformed.
    private func callback(query: String) -> AuthorizationCallback? {
        if let registered = uri.query, !registered.isEmpty {
            guard query == registered || query.hasPrefix(registered + "&") else { return nil }
        }
        guard let redirectURI = try? uri.redirectURI(port: port),
            let parameters = try? FormParameters(parsing: query, byteLimit: Self.targetLimit)
        else { return nil }
        return AuthorizationCallback(at: redirectURI, parameters: parameters)
    }

    private func write(
        _ reply: Reply, toHEAD isHead: Bool, context: ChannelHandlerContext
    ) -> EventLoopFuture<Void> {
        let body = reply.page.html
        var headers = HTTPHeaders(BrowserPage.headers)
        headers.add(name: "Content-Length", value: "\(body.utf8.count)")
        headers.add(name: "Connection", value: "close")
        if reply.status == .methodNotAllowed { headers.add(name: "Allow", value: "GET") }
        let head = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        }
        let channel = context.channel
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        // If unread input remained at the close, the system would reset the connection, and the page could be
        // lost. Therefore close only the output first. The input is closed when the peer closes its side, or
        // after a time limit.
        written.whenComplete { outcome in
            guard case .success = outcome else { return channel.close(promise: nil) }
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
        }
        return written
    }
}
