public import CounterfoilProtocol
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The network side of a scripted server, whose HTTP server needs iOS 17.
@available(iOS 17, *)
extension ScriptedAuthorizationServer {
    /// Runs a server until `body` returns, and returns the result of `body`.
    ///
    /// `host` is the loopback address of the server. `now` is its clock, to which the server adds the clock offset of
    /// its script.
    @discardableResult
    public static func run<Result: Sendable>(
        _ script: ServerScript = ServerScript(),
        host: LoopbackHost = .ipv4,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        try await listen(script, host: host, vault: Vault(), now: now, body)
    }

    /// Runs two servers until `body` returns, as two data centres of one vendor.
    ///
    /// In the script of each server, `{sibling}` is the origin of the other server. The two servers share
    /// their codes and tokens, so a script can let one server accept the codes that the other server issued.
    @discardableResult
    public static func run<Result: Sendable>(
        _ script: ServerScript,
        sibling: ServerScript,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        let vault = Vault()
        return try await listen(script, host: .ipv4, vault: vault, now: now) { server in
            try await listen(sibling, host: .ipv4, vault: vault, now: now) { other in
                server.setSibling(other.origin)
                other.setSibling(server.origin)
                return try await body(server, other)
            }
        }
    }

    private struct CannotListen: Error {}

    private static func listen<Result: Sendable>(
        _ script: ServerScript, host: LoopbackHost, vault: Vault, now: @escaping @Sendable () -> Date,
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        let (servers, started) = AsyncStream.makeStream(of: ScriptedAuthorizationServer.self)
        let running = Mutex<ScriptedAuthorizationServer?>(nil)
        let pending = PendingConnections()
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, context in
                guard let server = running.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
                return try await respond(to: request, of: server, on: context.channel)
            },
            server: HTTPServerBuilder { CountedChannel(HTTP1Channel(responder: $0), pending) },
            configuration: ApplicationConfiguration(
                address: .hostname(host == .ipv6 ? "::1" : host.rawValue, port: 0), serverName: nil),
            onServerRunning: { channel in
                guard let port = channel.localAddress?.port,
                    let server = try? ScriptedAuthorizationServer(
                        address: "http://\(host.rawValue):\(port)", script: script, vault: vault, now: now)
                else { return started.finish() }
                running.withLock { $0 = server }
                started.yield(server)
            },
            logger: Logger(label: "counterfoil.scripted-server") { _ in SwiftLogNoOpLogHandler() }
        )
        // The cancellation of the caller must not stop the server while connections are pending.
        let serving = Task {
            defer { started.finish() }
            try await application.runService(gracefulShutdownSignals: [])
        }
        @Sendable func stop() async {
            await pending.drain()
            serving.cancel()
            _ = await serving.result
        }
        do {
            for await server in servers {
                let result = try await body(server)
                await stop()
                return result
            }
            throw CannotListen()
        } catch {
            await stop()
            throw error
        }
    }

    /// Responds to a request; `delivery` of the scripted answer decides whether the response is complete, cut short,
    /// endless, unfinished or missing.
    private static func respond(
        to request: Request, of server: ScriptedAuthorizationServer, on channel: any Channel
    ) async throws -> Response {
        let body = try await request.body.collect(upTo: RecordedRequest.byteLimit)
        let answer = try server.answer(to: request.head, body: Array(body.readableBytesView))
        try await AnswerClock.set(channel, offset: server.script.clockOffset)
        switch answer.delivery {
        case .whole:
            break
        case .closed:
            try await channel.close()
            throw CancellationError()
        case .silent:
            try await waitForEnd(of: channel)
            throw CancellationError()
        case .cutShort, .endless, .unfinished:
            return Response(
                status: .init(code: answer.status), headers: answer.fields,
                body: unfinishedBody(of: answer, on: channel))
        }
        return Response(status: .init(code: answer.status), headers: answer.fields, body: answer.wholeBody)
    }

    private static func unfinishedBody(of answer: ScriptedAnswer, on channel: any Channel) -> ResponseBody {
        ResponseBody { writer in
            if answer.delivery == .cutShort, case .text(let text) = answer.body {
                try await writer.write(ByteBuffer(bytes: Array(text.utf8.prefix(text.utf8.count / 2))))
                try await channel.close()
                throw CancellationError()
            }
            if answer.delivery == .unfinished, case .text(let text) = answer.body {
                try await writer.write(ByteBuffer(string: text))
                try await waitForEnd(of: channel)
                throw CancellationError()
            }
            while channel.isActive {
                try await writer.write(ByteBuffer(string: " "))
                try await Task.sleep(for: .milliseconds(20))
            }
            throw CancellationError()
        }
    }

    /// Waits until the client closes the connection or the server stops.
    private static func waitForEnd(of channel: any Channel) async throws {
        while channel.isActive { try await Task.sleep(for: .milliseconds(20)) }
    }
}

/// The context of a request, which also contains the channel of the connection.
private struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

extension ScriptedAnswer {
    /// The header fields with a valid name; fields with an invalid name are omitted.
    fileprivate var fields: HTTPFields {
        var fields = HTTPFields()
        for field in headerFields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        return fields
    }

    fileprivate var wholeBody: ResponseBody {
        switch body {
        case .text(let text): return ResponseBody(byteBuffer: ByteBuffer(string: text))
        case .spaces(let count):
            let chunk = 1 << 16
            return ResponseBody(contentLength: count) { writer in
                var rest = count
                while rest > 0 {
                    try await writer.write(ByteBuffer(repeating: UInt8(ascii: " "), count: min(chunk, rest)))
                    rest -= chunk
                }
                try await writer.finish(nil)
            }
        }
    }
}
