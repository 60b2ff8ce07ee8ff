import NIOCore

/// The handler that closes a connection to a receiver after a time limit, even if the connection is in use.
final class ConnectionTimeLimit: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let limit: TimeAmount
    private var timer: Scheduled<Void>?

    init(_ limit: TimeAmount) { self.limit = limit }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }
}
