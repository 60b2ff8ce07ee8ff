import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPListener

@Suite("TLS: input after a close")
struct ClosedInputHandlerTests {
    /// A handler that keeps a connection open after a close, as TLS does until the other side answers.
    private final class WaitingClose: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}
    }

    @Test(arguments: [CloseMode.all, .output])
    func `what arrives after a close is dropped, and after a close of the output it is not`(mode: CloseMode) throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([WaitingClose(), ClosedInputHandler()])
        try channel.writeInbound(ByteBuffer(string: "before"))
        #expect(try channel.readInbound(as: ByteBuffer.self).map { String(buffer: $0) } == "before")
        channel.close(mode: mode, promise: nil)
        try channel.writeInbound(ByteBuffer(string: "after"))
        let received = try channel.readInbound(as: ByteBuffer.self).map { String(buffer: $0) }
        #expect(received == (mode == .all ? nil : "after"))
    }
}
