#if os(Linux)
    import CounterfoilProtocol
    import NIOCore

    /// The handler for one connection to the socket of a ``CustomSchemeReceiver``.
    ///
    /// The desktop starts a second process of the program with a callback URL, and this process opens the connection.
    /// The handler reads one line with the URL and writes one line with the verdict of the waiting receiver.
    final class HandoffConnection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        /// The maximum lifetime of a connection, in which the line must arrive.
        static let timeLimit = TimeAmount.seconds(10)

        private let redirectURI: RedirectURI
        private let wait: CallbackWait
        private var line: [UInt8] = []
        private var isAnswered = false

        init(redirectURI: RedirectURI, wait: CallbackWait) {
            self.redirectURI = redirectURI
            self.wait = wait
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isAnswered else { return }
            line += Array(unwrapInboundIn(data).readableBytesView)
            guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
                if line.count > CallbackURL.byteLimit { context.close(promise: nil) }
                return
            }
            judge(String(decoding: line[..<end], as: UTF8.self), context: context)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is ReceiverConnections.ShutdownEvent else {
                return context.fireUserInboundEventTriggered(event)
            }
            if !isAnswered { _ = answer(.ended, context: context) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private func judge(_ url: String, context: ChannelHandlerContext) {
            guard let callback = try? CallbackURL(url).callback(at: redirectURI) else {
                _ = answer(.unrelated, context: context)
                return
            }
            switch wait.decide(on: callback) {
            case .unrelated: _ = answer(.unrelated, context: context)
            case .ended: _ = answer(.ended, context: context)
            case .accepted:
                answer(.accepted, context: context).whenComplete { [wait] _ in wait.deliver(callback) }
            }
        }

        private func answer(_ verdict: RedirectHandoff.Verdict, context: ChannelHandlerContext) -> EventLoopFuture<Void>
        {
            isAnswered = true
            line = []
            let channel = context.channel
            let written = context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\(verdict.rawValue)\n")))
            written.whenComplete { _ in channel.close(promise: nil) }
            return written
        }
    }
#endif
