import NIOCore
import NIOPosix

/// A connection to a local port that sends exactly the bytes of a test.
struct RawConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received = ByteBuffer()

    /// Connects until `body` returns.
    ///
    /// - Parameters:
    ///   - source: The local IP address of the connection.
    ///   - receiveBuffer: The size of the kernel's receive buffer, in bytes.
    static func run<Result: Sendable>(
        port: Int, from source: String = "127.0.0.1", receiveBuffer: Int? = nil,
        _ body: @Sendable (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .bind(to: try SocketAddress(ipAddress: source, port: 0))
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBuffer))
                .channelOption(.maxMessagesPerRead, value: 1)
        }
        return try await use(try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: wrap), body)
    }

    /// Connects to a Unix socket until `body` returns.
    static func run<Result: Sendable>(
        unixSocket path: String, _ body: @Sendable (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
        return try await use(
            try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrap), body)
    }

    @Sendable private static func wrap(
        _ channel: any Channel
    ) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> {
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    private static func use<Result: Sendable>(
        _ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ body: @Sendable (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            return try await body(&connection)
        }
    }

    /// Sends a request and returns everything until the server closes the connection.
    static func exchange(_ request: String, port: Int, from source: String = "127.0.0.1") async throws -> String {
        try await run(port: port, from: source) { connection in
            try await connection.send(request)
            return try await connection.everything()
        }
    }

    /// Returns the status of a response, or nil if it has none.
    static func status(of answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) : nil
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    /// Sends text unchanged.
    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Ends sending; receiving is still possible.
    func finish() { outbound.finish() }

    /// Receives until the server closes the connection, or resets it after its response.
    mutating func everything(pausing pause: Duration? = nil) async throws -> String {
        do {
            while var bytes = try await inbound.next() {
                received.writeBuffer(&bytes)
                if let pause { try await Task.sleep(for: pause) }
            }
        } catch let error as IOError {
            guard received.readableBytes > 0 else { throw error }
        }
        return String(buffer: received)
    }

    /// Receives until a text has arrived, and returns what has arrived since the last call.
    mutating func take(until text: String) async throws -> String {
        defer { received.clear() }
        return try await receive(until: text)
    }

    /// Receives until a text has arrived.
    mutating func receive(until text: String) async throws -> String {
        while !String(buffer: received).contains(text), var bytes = try await inbound.next() {
            received.writeBuffer(&bytes)
        }
        return String(buffer: received)
    }
}
