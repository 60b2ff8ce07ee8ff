import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOSSL

/// The pipeline of an HTTP/1.1 connection, with TLS if the server has a certificate.
///
/// Requests are answered on the event loop of their connection.
///
/// Creating a response takes a fraction of a millisecond. A change of thread, or a task that awaits each part of a
/// request, would make it noticeably longer. Long operations (password hashes, DNS lookups, disk syncs) run on other
/// threads.
struct ConnectionChannel {
    /// The time after which an idle connection is closed.
    ///
    /// It bounds how long a silent client holds a descriptor.
    private static let idleTimeout = Duration.seconds(30)

    /// The error for a connection that exceeds a limit.
    private struct Refused: Error {}

    let responder: CurrentResponder
    let connections: OpenConnections
    let certificate: CurrentCertificate?

    /// Counts a connection and adds its handlers.
    ///
    /// If the connection exceeds a limit, the future fails and the connection is closed. A connection at a Unix socket
    /// has no TLS: it is one of a proxy on this machine.
    func setUp(_ channel: any Channel, isUnixSocket: Bool, logger: Logger) -> EventLoopFuture<Void> {
        let address = IPAddress(ofPeerOf: channel, isUnixSocket: isUnixSocket)
        let certificate = isUnixSocket ? nil : certificate
        guard let connection = connections.admit(ClosableChannel(channel: channel), from: address) else {
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.remove(connection) }
        let responder = responder.current
        if responder.answersOnce { connection.closeAfterResponse() }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let certificate {
                if let challenges = certificate.challenges {
                    try pipeline.addHandler(ClientHelloHandler(certificate, challenges: challenges))
                } else if let context = certificate.context {
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                } else {
                    throw Refused()
                }
                try pipeline.addHandler(ClosedInputHandler())
            }
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 64 * 1024
            limits.maxHeaderListSize = 96 * 1024
            limits.maxHeaderFieldCount = 200
            try pipeline.configureHTTPServerPipeline(
                // `RequestHandler` orders the responses and handles malformed requests itself.
                withPipeliningAssistance: false,
                withErrorHandling: false,
                // `HTTPFields` cannot contain an invalid name or value, so a second validation is redundant.
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(LastRequestHandler())
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: certificate != nil))
            try pipeline.addHandler(SlowRequestHandler(head: .seconds(20), body: .seconds(15)))
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger))
            try pipeline.addHandler(
                RequestHandler(responder, address: address, connection: connection))
        }
    }
}
