import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// HTTP/1.1 with every request judged on the event loop that its connection belongs to.
///
/// An answer takes a fraction of a millisecond, of which going to another thread and back, or handing each part of a request over
/// to a task that waits for it, would be a large share. What takes long (password hashes, look-ups of names, waiting for the
/// disk) happens on threads of its own.
struct ConnectionChannel {
    /// How long a connection may be silent between two requests: slow and silent ones cost a descriptor for so long and no more.
    private static let idleTimeout = Duration.seconds(30)

    /// A connection that is above a limit.
    private struct Refused: Error {}

    let responder: AuthorizationServerResponder
    let requests: RequestsInProgress
    let connections: OpenConnections

    /// Counts a connection and puts its handlers in place; fails, and closes it, when it is above a limit.
    func setUp(_ channel: any Channel, logger: Logger) -> EventLoopFuture<Void> {
        let address = channel.remoteAddress.flatMap(IPAddress.init)
        guard let connection = connections.admit(ClosableChannel(channel: channel), from: address) else {
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.remove(connection) }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 64 * 1024
            limits.maxHeaderListSize = 96 * 1024
            limits.maxHeaderFieldCount = 200
            try pipeline.configureHTTPServerPipeline(
                // The handler of requests answers them in order, and malformed ones as well.
                withPipeliningAssistance: false,
                withErrorHandling: false,
                // The fields of HTTPTypes are valid by their type.
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(LastRequestHandler())
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(SlowRequestHandler(head: .seconds(20), body: .seconds(15)))
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger))
            try pipeline.addHandler(
                RequestHandler(responder, address: address, connection: connection, requests: requests))
        }
    }
}
