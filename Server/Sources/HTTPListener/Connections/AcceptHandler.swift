import IPAddresses
import NIOCore

/// Closes connections of a source that has reached its limit as soon as they are accepted.
///
/// Such a connection uses no resource except its socket. The handler pauses accepting while the number of open sockets
/// at all listeners together has reached the limit plus `ConnectionLimits.closingAllowance`. The number includes
/// refused connections that other threads are still closing. Without the pause, the accepting thread could accept
/// faster than they close, and use up the descriptors. The handler also counts the connections that could not be
/// accepted because the process had no descriptor left.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// An event that stops or resumes accepting connections.
    enum Accepting {
        case stop
        case resume
    }

    private let connections: OpenConnections
    private let isUnixSocket: Bool
    private var isStopped = false

    init(_ connections: OpenConnections, isUnixSocket: Bool) {
        self.connections = connections
        self.isUnixSocket = isUnixSocket
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? Accepting else { return context.fireUserInboundEventTriggered(event) }
        isStopped = event == .stop
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        connections.openedSocket()
        channel.closeFuture.whenComplete { [connections] _ in connections.closedSocket() }
        let address = IPAddress(ofPeerOf: channel, isUnixSocket: isUnixSocket)
        if connections.refusesMore(from: address) {
            channel.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }

    func read(context: ChannelHandlerContext) {
        guard !isStopped else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let hasRoom = connections.hasRoomForSocket {
            loop.execute {
                let (handler, context) = bound.value
                if context.channel.isActive { handler.read(context: context) }
            }
        }
        if hasRoom { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError { connections.noteRefusal(.descriptors) }
        context.fireErrorCaught(error)
    }
}
