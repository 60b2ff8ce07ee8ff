import NIOCore

/// Closes connections of a source that has enough of them, before anything else is done for them.
///
/// It stops accepting while more sockets are open than the limit and its allowance, and notes when the process has no descriptor left.
///
/// Refused connections are closed on other threads than the one that accepts, which could otherwise be faster and use up the
/// descriptors.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    private let connections: OpenConnections
    private var open = 0
    private var isWaiting = false

    init(_ connections: OpenConnections) { self.connections = connections }

    private var hasRoom: Bool { open < connections.limits.total + ConnectionLimits.closingAllowance }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        open += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (handler, context) = bound.value
            handler.closed(context)
        }
        if connections.refusesMore(from: channel.remoteAddress.flatMap(IPAddress.init)) {
            channel.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }

    func read(context: ChannelHandlerContext) {
        if hasRoom { context.read() } else { isWaiting = true }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError { connections.noteRefusal(.descriptors) }
        context.fireErrorCaught(error)
    }

    private func closed(_ context: ChannelHandlerContext) {
        open -= 1
        guard isWaiting, hasRoom else { return }
        isWaiting = false
        context.read()
    }
}
