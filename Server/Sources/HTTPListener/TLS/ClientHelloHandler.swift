import NIOCore
import NIOSSL
import NIOTLS

/// Chooses the TLS context of a connection by its first message.
///
/// A client that offers the protocol of the ``TLSValidation`` alone is an authority that validates a host: it gets the
/// context for this host, and the connection ends after the handshake (RFC 8737 §3). Every other client gets the
/// current certificate, or one that it refuses as long as there is none.
final class ClientHelloHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The error for what is sent before there is a TLS context; it would not be protected.
    private struct NotProtected: Error {}

    private enum State { case reading, choosing, chosen }

    private let certificate: CurrentCertificate
    private let validation: TLSValidation
    private var state = State.reading
    private var reader = ClientHelloReader()

    init(_ certificate: CurrentCertificate, validation: TLSValidation) {
        self.certificate = certificate
        self.validation = validation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .chosen else { return context.fireChannelRead(data) }
        let buffer = unwrapInboundIn(data)
        guard state == .reading else {
            // A client sends nothing more before it has an answer.
            guard reader.received.readableBytes + buffer.readableBytes <= 2 * ClientHello.limit else {
                return context.close(promise: nil)
            }
            reader.add(buffer)
            return
        }
        switch reader.read(buffer) {
        case .incomplete: break
        case .invalid:
            // The TLS library answers with the fitting alert.
            useCertificate(context)
        case .complete(let hello):
            if hello.protocols == [validation.applicationProtocol] {
                answerValidation(of: hello.serverName, context)
            } else {
                useCertificate(context)
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if state == .chosen { context.fireChannelReadComplete() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .chosen else {
            promise?.fail(NotProtected())
            return
        }
        context.write(data, promise: promise)
    }

    private func useCertificate(_ context: ChannelHandlerContext) {
        guard let tls = certificate.contextForClients else { return refuse(context, alert: 80) }
        proceed(context, [NIOSSLServerHandler(context: tls)])
    }

    private func answerValidation(of host: String?, _ context: ChannelHandlerContext) {
        guard let host else { return refuse(context, alert: 112) }
        state = .choosing
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let contextOfHost = validation.context
        context.eventLoop.makeFutureWithTask { await contextOfHost(host) }.whenComplete { result in
            let (handler, context) = bound.value
            guard context.channel.isActive else { return }
            if case .success(let tls?) = result {
                handler.proceed(context, [NIOSSLServerHandler(context: tls), ValidationEndHandler()])
            } else {
                handler.refuse(context, alert: 112)
            }
        }
    }

    /// Adds the handlers of TLS after this one, passes on what was received, and goes.
    private func proceed(_ context: ChannelHandlerContext, _ handlers: [any ChannelHandler]) {
        do {
            try context.pipeline.syncOperations.addHandlers(handlers, position: .after(self))
        } catch {
            return context.close(promise: nil)
        }
        state = .chosen
        context.fireChannelRead(wrapInboundOut(reader.received))
        context.fireChannelReadComplete()
        reader = ClientHelloReader()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    /// Ends the handshake with a fatal alert (RFC 8446 §6): 80 is `internal_error`, 112 is `unrecognized_name`.
    private func refuse(_ context: ChannelHandlerContext, alert: UInt8) {
        state = .choosing
        let record = ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, alert])
        context.writeAndFlush(wrapOutboundOut(record), promise: nil)
        context.close(promise: nil)
    }
}

/// Ends the connection of an authority after its handshake, and passes no data on (RFC 8737 §3).
final class ValidationEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
