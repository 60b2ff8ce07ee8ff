import NIOCore

/// Counts the frames of an HTTP/2 connection that are no part of a request, whatever their type.
///
/// The HTTP/2 library passes on neither the frames of unknown types, which it ignores (RFC 9113 §5.5), nor those of
/// streams that are closed. This handler therefore reads the heads of the frames (RFC 9113 §4.1) before the library.
///
/// It does not count DATA, HEADERS, RST_STREAM and CONTINUATION, for which the library has limits.
final class FrameCountHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The length of the connection preface, which comes before the first frame (RFC 9113 §3.4).
    private static let prefaceLength = 24
    /// The length of the head of a frame.
    private static let headLength = 9

    private let connection: StreamedConnectionHandler
    /// The number of bytes before the next head.
    private var skipped = FrameCountHandler.prefaceLength
    /// The bytes of the next head that have arrived.
    private var head: [UInt8] = []

    init(_ connection: StreamedConnectionHandler) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var rest = unwrapInboundIn(data).readableBytesView
        while !rest.isEmpty {
            if skipped > 0 {
                let step = min(skipped, rest.count)
                skipped -= step
                rest = rest.dropFirst(step)
            } else {
                let part = rest.prefix(Self.headLength - head.count)
                head += part
                rest = rest.dropFirst(part.count)
                guard head.count == Self.headLength else { break }
                skipped = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                count(type: head[3])
                head.removeAll(keepingCapacity: true)
            }
        }
        context.fireChannelRead(data)
    }

    /// Counts a frame by the number of its type (RFC 9113 §6).
    private func count(type: UInt8) {
        switch type {
        // DATA, HEADERS, RST_STREAM, CONTINUATION
        case 0, 1, 3, 9: break
        // WINDOW_UPDATE
        case 8: connection.countWindowUpdate()
        default: connection.countControlFrame()
        }
    }
}
