extension StreamedResponse {
    /// The lines of a text body in UTF-8, without their ends; a line may have at most `byteLimit` bytes.
    ///
    /// Iterating throws ``TransportFailure/tooLarge(origin:limit:)`` for a longer line.
    public func lines(byteLimit: Int = 1024 * 1024) -> BodyLines { BodyLines(body: body, byteLimit: byteLimit) }

    /// The events of a body of the type `text/event-stream`; an event may have at most `byteLimit` bytes.
    ///
    /// Iterating throws ``TransportFailure/tooLarge(origin:limit:)`` for a longer event.
    public func events(byteLimit: Int = 1024 * 1024) -> ServerSentEvents {
        ServerSentEvents(lines: lines(byteLimit: byteLimit), byteLimit: byteLimit)
    }
}

/// The lines of a text body, as they arrive.
///
/// A line ends with LF, CR LF or CR. Invalid UTF-8 becomes U+FFFD, and a byte order mark at the start is omitted.
/// Iterating throws ``TransportFailure``.
public struct BodyLines: AsyncSequence, Sendable {
    let body: StreamedBody
    let byteLimit: Int

    /// Returns an iterator over the lines that are left.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            chunks: body.makeAsyncIterator(), splitter: LineSplitter(byteLimit: byteLimit), origin: body.origin)
    }

    /// An iterator over the lines of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var chunks: StreamedBody.AsyncIterator
        fileprivate var splitter: LineSplitter
        fileprivate let origin: String

        /// Returns the next line; nil after the last one.
        public mutating func next() async throws -> String? {
            while true {
                do throws(LineSplitter.TooLong) {
                    if let line = try splitter.next() { return line }
                } catch { throw TransportFailure.tooLarge(origin: origin, limit: splitter.byteLimit) }
                guard let chunk = try await chunks.nextChunk() else { return splitter.rest() }
                splitter.append(chunk)
            }
        }
    }
}

/// The bytes of a text that have arrived, with the lines in them.
struct LineSplitter {
    /// A line is longer than the limit.
    struct TooLong: Error {}

    let byteLimit: Int
    private var bytes: [UInt8] = []
    /// The start of the current line in `bytes`.
    private var start = 0
    /// The end of the part of `bytes` in which no line ends.
    private var examined = 0
    private var isAfterCarriageReturn = false
    private var isAtStart = true

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func append(_ chunk: [UInt8]) {
        bytes.removeFirst(start)
        (start, examined) = (0, examined - start)
        bytes += chunk
    }

    /// Returns the next complete line; nil if none has arrived.
    mutating func next() throws(TooLong) -> String? {
        if isAfterCarriageReturn, start < bytes.count {
            // The line feed of CR LF ends no further line.
            if bytes[start] == UInt8(ascii: "\n") { start += 1 }
            isAfterCarriageReturn = false
        }
        examined = max(examined, start)
        guard let end = bytes[examined...].firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        else {
            examined = bytes.count
            guard bytes.count - start <= byteLimit else { throw TooLong() }
            return nil
        }
        guard end - start <= byteLimit else { throw TooLong() }
        isAfterCarriageReturn = bytes[end] == UInt8(ascii: "\r")
        let line = text(upTo: end)
        (start, examined) = (end + 1, end + 1)
        return line
    }

    /// Returns the last line, if it has no end; nil if there is none.
    mutating func rest() -> String? {
        guard start < bytes.count else { return nil }
        defer { start = bytes.count }
        return text(upTo: bytes.count)
    }

    private mutating func text(upTo end: Int) -> String {
        var line = bytes[start..<end]
        if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isAtStart = false
        return String(decoding: line, as: UTF8.self)
    }
}
