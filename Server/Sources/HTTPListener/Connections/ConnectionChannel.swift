import IPAddresses
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypesHTTP1
import NIOHTTPTypesHTTP2
import NIOSSL

/// The pipeline of a connection, with TLS if the server has a certificate.
///
/// With TLS, ALPN chooses between HTTP/1.1 and HTTP/2. Without, a connection speaks HTTP/1.1. Each stream of HTTP/2 has
/// a pipeline of its own, with the handlers of requests that an HTTP/1.1 connection has.
///
/// Requests are answered on the event loop of their connection.
///
/// Creating a response takes a fraction of a millisecond. A change of thread, or a task that awaits each part of a
/// request, would make it noticeably longer. Long operations (password hashes, DNS lookups, disk syncs) run on other
/// threads.
struct ConnectionChannel {
    /// The time for the TLS handshake and the head of the first request.
    private static let firstRequestTime = TimeAmount.seconds(20)
    /// The time for the body of a request.
    private static let bodyTime = TimeAmount.seconds(15)

    /// The error for a connection that exceeds a limit.
    private struct Refused: Error {}

    /// A counted connection.
    private struct Accepted: Sendable {
        let responder: any Responder
        let address: IPAddress?
        let connection: OpenConnection
    }

    let responder: CurrentResponder
    let connections: OpenConnections
    let certificate: CurrentCertificate?

    /// Counts a connection and adds its handlers.
    ///
    /// If the connection exceeds a limit, the future fails and the connection is closed. A connection at a Unix socket
    /// has no TLS: it is one of a proxy on this machine.
    func setUp(_ channel: any Channel, isUnixSocket: Bool) -> EventLoopFuture<Void> {
        let address = IPAddress(ofPeerOf: channel, isUnixSocket: isUnixSocket)
        let certificate = isUnixSocket ? nil : certificate
        guard let connection = connections.admit(ClosableChannel(channel: channel), from: address) else {
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.remove(connection) }
        let responder = responder.current
        if responder.answersOnce { connection.closeAfterResponse() }
        let accepted = Accepted(responder: responder, address: address, connection: connection)
        return channel.eventLoop.makeCompletedFuture {
            guard let certificate else {
                return try Self.addHTTP1(
                    to: channel, accepted, isSecure: false, firstRequestTime: Self.firstRequestTime)
            }
            let pipeline = channel.pipeline.syncOperations
            if let validation = certificate.validation {
                try pipeline.addHandler(ClientHelloHandler(certificate, validation: validation))
            } else if let context = certificate.context {
                try pipeline.addHandler(NIOSSLServerHandler(context: context))
            } else {
                throw Refused()
            }
            try pipeline.addHandler(ClosedInputHandler())
            try pipeline.addHandler(
                ProtocolChoiceHandler(time: Self.firstRequestTime) { choice, time in
                    switch choice {
                    case .http1:
                        try Self.addHTTP1(to: channel, accepted, isSecure: true, firstRequestTime: time)
                    case .http2: try Self.addHTTP2(to: channel, accepted, firstRequestTime: time)
                    }
                })
        }
    }

    private static func addHTTP1(
        to channel: any Channel, _ accepted: Accepted, isSecure: Bool, firstRequestTime: TimeAmount
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = HeadLimits.fieldSize
        limits.maxHeaderListSize = HeadLimits.listSize
        limits.maxHeaderFieldCount = HeadLimits.fieldCount
        try pipeline.configureHTTPServerPipeline(
            // `RequestHandler` orders the responses and handles malformed requests itself.
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // `HTTPFields` cannot contain an invalid name or value, so a second validation is redundant.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(RequestHeadHandler())
        try pipeline.addHandler(LastRequestHandler())
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
        try pipeline.addHandler(SlowRequestHandler(head: firstRequestTime, body: bodyTime))
        try pipeline.addHandler(
            RequestHandler(accepted.responder, address: accepted.address, connection: accepted.connection))
    }

    private static func addHTTP2(
        to channel: any Channel, _ accepted: Accepted, firstRequestTime: TimeAmount
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let handler = StreamedConnectionHandler(accepted.connection, firstRequestTime: firstRequestTime)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        try pipeline.addHandler(FrameCountHandler(handler))
        // The streams are served by their handlers, so nothing iterates over them.
        _ = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: nil, frameDelegate: handler, configuration: StreamLimits.configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture { try addStream(stream, to: bound.value, accepted) }
        }
        try pipeline.addHandler(handler)
    }

    private static func addStream(
        _ stream: any Channel, to connection: StreamedConnectionHandler, _ accepted: Accepted
    ) throws {
        let pipeline = stream.pipeline.syncOperations
        connection.opened(try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) ?? .rootStream)
        let bound = NIOLoopBound(connection, eventLoop: stream.eventLoop)
        stream.closeFuture.whenComplete { _ in bound.value.closedStream() }
        let slot = StreamSlot(in: connection)
        try pipeline.addHandler(StreamHandler(slot))
        try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
        try pipeline.addHandler(SlowRequestHandler(head: nil, body: bodyTime))
        try pipeline.addHandler(
            RequestHandler(
                accepted.responder, address: accepted.address, connection: accepted.connection, stream: slot))
    }
}
