import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A local host that gives every request the same response, byte for byte.
package final class ScriptedHost: Sendable {
    private let heads = NIOLockedValueBox<[String]>([])
    /// The request lines and header fields of the requests so far.
    package var requests: [String] { heads.withLockedValue { $0 } }

    package init() {}

    /// Runs the host until `body` returns; `body` gets its port.
    ///
    /// - Parameters:
    ///   - chunks: The parts of the response, each of which is written when the part before has been sent.
    ///   - isEndless: Whether the last part is repeated until the client closes the connection.
    ///   - stays: Whether the connection stays open after the response.
    package func run<Result: Sendable>(
        answering chunks: [[UInt8]], isEndless: Bool = false, stays: Bool = false,
        _ body: @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = server.channel.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask {
                                try? await self.serve(connection, chunks, isEndless: isEndless, stays: stays)
                            }
                        }
                    }
                }
            }
            let result = try await body(port)
            group.cancelAll()
            return result
        }
    }

    private func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ chunks: [[UInt8]], isEndless: Bool, stays: Bool
    ) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var head = ""
            for try await bytes in inbound {
                head += String(buffer: bytes)
                guard head.hasSuffix("\r\n\r\n") else { continue }
                heads.withLockedValue { [head] in $0.append(head) }
                head = ""
                for chunk in chunks { try await outbound.write(ByteBuffer(bytes: chunk)) }
                while isEndless, let last = chunks.last { try await outbound.write(ByteBuffer(bytes: last)) }
                if !stays { return }
            }
        }
    }
}
