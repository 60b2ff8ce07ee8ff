@_spi(Counterfoil) import CounterfoilProtocol
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix

/// An HTTP/1.1 server on a free port of a loopback address.
@_spi(Counterfoil) public struct LoopbackServer: Sendable {
    /// Responds to one request with the methods of its exchange; an error that it throws closes the connection.
    public typealias Responder = @Sendable (HTTPExchange) async throws -> Void

    /// The port on which the server listens.
    public let port: Int
    private let listener: any Channel
    private let connections: OpenConnections

    /// Starts a server, which runs until ``stop()``.
    public init(address: String, respond: @escaping Responder) async throws {
        let connections = OpenConnections()
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.add(channel) else { throw ChannelError.ioOnClosedChannel }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(RequestReader(respond: respond))
                }
            }
            .bind(host: address, port: 0).get()
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        self.port = port
        self.connections = connections
    }

    /// Closes the listening socket and every connection, and waits until they are closed.
    public func stop() async {
        try? await listener.close()
        await connections.closeAll()
    }
}

/// The connections that clients have opened; after `closeAll`, a new one is refused.
private final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]?>([:])

    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { $0?[id] = nil } }
        return channels.withLock {
            guard $0 != nil else { return false }
            $0?[id] = channel
            return true
        }
    }

    func closeAll() async {
        for channel in (channels.withLock { $0.take() } ?? [:]).values {
            channel.close(promise: nil)
            try? await channel.closeFuture.get()
        }
    }
}

/// Collects each request of one connection and passes it to the responder; the pipeline of NIO lets the next request
/// through after the response.
private final class RequestReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let respond: LoopbackServer.Responder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(respond: @escaping LoopbackServer.Responder) { self.respond = respond }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part):
            // One byte more than the limit shows that the body is too long.
            body += part.readableBytesView.prefix(RecordedRequest.byteLimit + 1 - body.count)
        case .end:
            guard let head = head.take() else { return }
            let exchange = HTTPExchange(head: head, body: body, channel: context.channel)
            Task { [respond] in
                do { try await respond(exchange) } catch { exchange.channel.close(promise: nil) }
            }
        }
    }
}

/// One request, and the connection that waits for its response.
@_spi(Counterfoil) public struct HTTPExchange: Sendable {
    private let head: HTTPRequestHead
    /// The body of the request.
    public let body: [UInt8]
    fileprivate let channel: any Channel

    fileprivate init(head: HTTPRequestHead, body: [UInt8], channel: any Channel) {
        self.head = head
        self.body = body
        self.channel = channel
    }

    /// The method, the path and the header fields; nil if the method is no token of HTTP.
    public var request: HTTPRequest? { try? HTTPRequest(head, secure: false, splitCookie: false) }

    /// Whether the connection is open.
    var isOpen: Bool { channel.isActive }

    /// Sends a complete response, in as few packets as it takes.
    public func send(_ status: Int, _ fields: HTTPFields = [:], body: [UInt8] = []) async throws {
        write(status, fields, length: body.count)
        if head.method != .HEAD, !body.isEmpty { channel.write(Self.part(body), promise: nil) }
        try await end()
    }

    /// Sends the head of a response; without a length, the body is chunked.
    func begin(_ status: Int, _ fields: HTTPFields, length: Int? = nil) {
        write(status, fields, length: length)
        channel.flush()
    }

    /// Sends a part of the body, which a response to HEAD does not have (RFC 9110 §9.3.2).
    func send(_ bytes: some Sequence<UInt8>) async throws {
        if head.method != .HEAD { try await channel.writeAndFlush(Self.part(bytes)) }
    }

    /// Ends the response, and closes the connection if the client asked for it (RFC 9112 §9.6).
    func end() async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        if !head.isKeepAlive { try await close() }
    }

    /// Closes the connection.
    func close() async throws { try await channel.close() }

    /// Waits until the client closes the connection or the server stops.
    func waitForEnd() async throws { try await channel.closeFuture.get() }

    private func write(_ status: Int, _ fields: HTTPFields, length: Int?) {
        var headers = HTTPHeaders(fields)
        if let length { headers.replaceOrAdd(name: "Content-Length", value: String(length)) }
        if !head.isKeepAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let response = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        channel.write(HTTPServerResponsePart.head(response), promise: nil)
    }

    private static func part(_ bytes: some Sequence<UInt8>) -> HTTPServerResponsePart {
        .body(.byteBuffer(ByteBuffer(bytes: bytes)))
    }
}
