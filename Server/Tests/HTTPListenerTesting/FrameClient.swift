import NIOConcurrencyHelpers
import NIOCore
import NIOHPACK
package import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import TestSupport

/// An HTTP/2 client over TLS that sends any frames.
package struct FrameClient: Sendable {
    private let channel: any Channel
    package let received: ReceivedFrames

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - protocols: The protocols that the client offers. If `h2` is not the first, it sends no frames.
    ///   - settings: The settings that the client sends.
    package init(
        to server: StreamServer, offering protocols: [String] = ["h2"],
        settings: [HTTP2Setting] = nioDefaultSettings
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([
            try NIOSSLCertificate(bytes: Array(try server.authority.pem.utf8), format: .pem)
        ])
        tls.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: tls)
        let received = ReceivedFrames()
        self.received = received
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        try NIOSSLClientHandler(context: context, serverHostname: StreamServer.host))
                    if protocols.first == "h2" {
                        try pipeline.addHandler(
                            NIOHTTP2Handler(
                                mode: .client, initialSettings: settings, headerBlockValidation: .disabled,
                                contentLengthValidation: .disabled))
                    }
                    try pipeline.addHandler(FrameRecorder(received))
                }
            }
            .connect(host: "127.0.0.1", port: server.port).get()
    }

    /// Runs `body` with a connection, which is closed afterwards.
    package static func run<Result>(
        to server: StreamServer, offering protocols: [String] = ["h2"],
        settings: [HTTP2Setting] = nioDefaultSettings, _ body: (FrameClient) async throws -> Result
    ) async throws -> Result {
        let client = try await FrameClient(to: server, offering: protocols, settings: settings)
        do {
            let result = try await body(client)
            try? await client.channel.close().get()
            return result
        } catch {
            try? await client.channel.close().get()
            throw error
        }
    }

    /// The fields of a request.
    package static func fields(_ method: String, _ path: String, _ others: [(String, String)] = []) -> [(
        String, String
    )] {
        [(":method", method), (":scheme", "https"), (":authority", StreamServer.host), (":path", path)] + others
    }

    package static func head(_ stream: Int, _ fields: [(String, String)], isLast: Bool = true) -> HTTP2Frame {
        HTTP2Frame(
            streamID: HTTP2StreamID(stream),
            payload: .headers(.init(headers: HPACKHeaders(fields), endStream: isLast)))
    }

    package static func data(_ stream: Int, _ text: String, isLast: Bool = true) -> HTTP2Frame {
        HTTP2Frame(
            streamID: HTTP2StreamID(stream),
            payload: .data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: isLast)))
    }

    package static func reset(_ stream: Int) -> HTTP2Frame {
        HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .rstStream(.cancel))
    }

    package static func window(_ stream: Int, _ size: Int) -> HTTP2Frame {
        HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .windowUpdate(windowSizeIncrement: size))
    }

    package static let ping = HTTP2Frame(
        streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 1), ack: false))

    /// Sends frames, in one write.
    package func send(_ frames: HTTP2Frame...) { send(frames) }

    package func send(_ frames: [HTTP2Frame]) {
        for frame in frames { channel.write(frame, promise: nil) }
        channel.flush()
    }

    /// The bytes of a frame (RFC 9113 §4.1).
    package static func bytes(type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: String) -> [UInt8] {
        [0, 0, UInt8(payload.utf8.count), type, flags, 0, 0, 0, stream] + payload.utf8
    }

    /// Sends bytes that the HTTP/2 library of the client would not send, in one write.
    package func send(bytes: [UInt8]) async throws {
        try await channel.eventLoop.submit { [channel] in
            let library = try channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            library.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        }.get()
    }

    /// Sends a request without a body, and returns the response.
    package func get(_ path: String, on stream: Int) async throws -> ReceivedFrames.Response {
        send(Self.head(stream, Self.fields("GET", path)))
        return try await received.response(on: stream)
    }
}

/// The frames that a client has received on an HTTP/2 connection.
package final class ReceivedFrames: Sendable {
    /// The response on one stream.
    package struct Response: Sendable {
        package var fields: [String: String] = [:]
        package var body = ""
        package var isComplete = false
        package var reset: HTTP2ErrorCode?

        package var status: String? { fields[":status"] }
    }

    package struct State: Sendable {
        package var negotiated: String??
        package var settings: [HTTP2SettingsParameter: Int] = [:]
        package var responses: [Int: Response] = [:]
        package var goAways: [(last: Int, code: HTTP2ErrorCode)] = []
        package var pings = 0
        package var isClosed = false
    }

    /// The error of a wait that the end of the connection ends.
    package struct Closed: Error {}

    private struct Watched {
        var state = State()
        /// Each returns whether its condition holds now, or the connection has ended.
        var waiting: [@Sendable (State) -> Bool] = []
    }

    private let watched = NIOLockedValueBox(Watched())

    fileprivate func change(_ body: (inout State) -> Void) {
        watched.withLockedValue { watched in
            body(&watched.state)
            let state = watched.state
            watched.waiting.removeAll { $0(state) }
        }
    }

    /// Waits until a function returns a value.
    package func value<Value: Sendable>(_ look: @escaping @Sendable (State) -> Value?) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let check: @Sendable (State) -> Bool = { state in
                if let value = look(state) {
                    continuation.resume(returning: value)
                } else if state.isClosed {
                    continuation.resume(throwing: Closed())
                } else {
                    return false
                }
                return true
            }
            watched.withLockedValue { watched in
                if !check(watched.state) { watched.waiting.append(check) }
            }
        }
    }

    /// Waits for the end of a stream, by a complete response or a reset.
    package func response(on stream: Int) async throws -> Response {
        try await value { state in
            state.responses[stream].flatMap { $0.isComplete || $0.reset != nil ? $0 : nil }
        }
    }

    /// Waits for the reset of a stream.
    package func reset(of stream: Int) async throws -> HTTP2ErrorCode {
        try await value { $0.responses[stream]?.reset }
    }

    /// Waits for the end of the connection, and returns its last GOAWAY frame.
    package func end() async throws -> (last: Int, code: HTTP2ErrorCode)? {
        try await value { $0.isClosed ? .some($0.goAways.last) : nil }
    }

    /// Waits until the server has answered a number of PING frames.
    package func pings(_ count: Int) async throws { _ = try await value { $0.pings >= count ? true : nil } }
}

/// Records the frames of a connection.
private final class FrameRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let received: ReceivedFrames

    init(_ received: ReceivedFrames) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let stream = Int(frame.streamID)
        received.change { state in
            switch frame.payload {
            case .headers(let head):
                for (name, value, _) in head.headers { state.responses[stream, default: .init()].fields[name] = value }
                if head.endStream { state.responses[stream, default: .init()].isComplete = true }
            case .data(let part):
                if case .byteBuffer(let bytes) = part.data {
                    state.responses[stream, default: .init()].body += String(buffer: bytes)
                }
                if part.endStream { state.responses[stream, default: .init()].isComplete = true }
            case .rstStream(let code): state.responses[stream, default: .init()].reset = code
            case .goAway(let last, let code, _): state.goAways.append((Int(last), code))
            case .settings(.settings(let settings)):
                for setting in settings { state.settings[setting.parameter] = setting.value }
            case .ping(_, ack: true): state.pings += 1
            default: break
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event {
            received.change { $0.negotiated = .some(negotiated) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        received.change { $0.isClosed = true }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
