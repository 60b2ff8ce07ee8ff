import Foundation
import NIOCore

/// Sets the `Date` field of responses to the system time plus the clock offset of the script.
///
/// The handler is between the HTTP encoder and the socket. It can overwrite the date in the encoded
/// response in place, because every date has the same length (RFC 9110 §5.6.7).
final class AnswerClock: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private static let name = "answer-clock"
    private static let field = Array("\r\ndate: ".utf8)
    private var offset: Int

    private init(offset: Int) { self.offset = offset }

    /// Sets the clock offset of the next responses on one connection.
    static func set(_ channel: any Channel, offset: Int) async throws {
        try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            if let clock = try? pipeline.handler(type: AnswerClock.self) { return clock.offset = offset }
            guard offset != 0 else { return }
            try pipeline.addHandler(AnswerClock(offset: offset), name: name, position: .first)
        }.get()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var buffer) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        let head = buffer.readableBytesView.prefix(4096).map { $0 | 0x20 }
        let field = Self.field.map { $0 | 0x20 }
        if head.starts(with: "http/".utf8), let start = head.firstRange(of: field)?.upperBound {
            let date = HTTPDateText.text(of: Date().addingTimeInterval(TimeInterval(offset)))
            buffer.setString(date, at: buffer.readerIndex + start)
        }
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: promise)
    }
}

/// Dates in header fields (RFC 9110 §5.6.7).
enum HTTPDateText {
    /// Formats a date as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
