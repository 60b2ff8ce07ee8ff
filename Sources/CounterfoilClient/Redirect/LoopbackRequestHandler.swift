import CounterfoilProtocol
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection to a loopback receiver.
///
/// Every request gets its answer and the connection ends; a request that is not the callback changes nothing.
final class LoopbackRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The most bytes of a request's target; a callback is far shorter.
    static let targetLimit = 32 * 1024
    /// How long a connection may stay without a request.
    static let idleTime = TimeAmount.seconds(30)

    private let address: LoopbackAddress
    private let port: Int
    private let wait: CallbackWait
    private var idle: Scheduled<Void>?
    private var isAnswered = false

    init(address: LoopbackAddress, port: Int, wait: CallbackWait) {
        self.address = address
        self.port = port
        self.wait = wait
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        idle = context.eventLoop.scheduleTask(in: Self.idleTime) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        idle?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The head says all; a body is neither awaited nor read.
        guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
        isAnswered = true
        answer(head, context: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        // A page whose name was made to point here (DNS rebinding) does not get through.
        guard head.headers["host"].map({ $0.lowercased() }) == [address.authority(port: port)] else {
            return respond(.badRequest, .turnedAway, to: head, context: context)
        }
        guard head.uri.utf8.count <= Self.targetLimit else {
            return respond(.uriTooLong, .turnedAway, to: head, context: context)
        }
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == address.path else {
            return respond(.notFound, .notHere, to: head, context: context)
        }
        guard head.method == .GET else {
            return respond(.methodNotAllowed, .turnedAway, to: head, context: context)
        }
        guard let callback = callback(query: target.count == 2 ? String(target[1]) : "") else {
            return respond(.badRequest, .stranger, to: head, context: context)
        }
        switch wait.decide(on: callback) {
        case .stranger: respond(.badRequest, .stranger, to: head, context: context)
        case .over: respond(.gone, .over, to: head, context: context)
        case .accepted(let answer):
            let (status, page): (HTTPResponseStatus, BrowserPage) =
                switch answer {
                case .code: (.ok, .received)
                case .refused: (.ok, .refused)
                case .unsafe: (.badRequest, .unsafe)
                }
            // The person gets the page before the port closes.
            respond(status, page, to: head, context: context).whenComplete { [wait] _ in wait.deliver(callback) }
        }
    }

    /// The parameters of a callback, when the query begins with the one that is registered and can be read.
    private func callback(query: String) -> AuthorizationCallback? {
        if let registered = address.query, !registered.isEmpty {
            guard query == registered || query.hasPrefix(registered + "&") else { return nil }
        }
        guard let redirectURI = try? address.redirectURI(port: port),
            let parameters = try? FormParameters(parsing: query, byteLimit: Self.targetLimit)
        else { return nil }
        return AuthorizationCallback(at: redirectURI, parameters: parameters)
    }

    @discardableResult
    private func respond(
        _ status: HTTPResponseStatus,
        _ page: BrowserPage,
        to request: HTTPRequestHead,
        context: ChannelHandlerContext
    ) -> EventLoopFuture<Void> {
        let body = page.html
        var headers = HTTPHeaders(BrowserPage.headers)
        headers.add(name: "Content-Length", value: "\(body.utf8.count)")
        headers.add(name: "Connection", value: "close")
        if status == .methodNotAllowed { headers.add(name: "Allow", value: "GET") }
        let channel = context.channel
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        if request.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        return written.futureResult
    }
}
