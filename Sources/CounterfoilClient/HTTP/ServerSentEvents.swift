/// An event of a stream of the type `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// `event`: the type of the event; `message` if the server names none.
    public var type: String
    /// `data`: the lines of the event, joined by line feeds.
    public var data: String
    /// `id`: the latest identifier that the server sent, for `Last-Event-ID` in a later request; empty if it sent none.
    public var lastEventID: String

    /// Creates an event, for tests and previews.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// The events of a body of the type `text/event-stream`, as they arrive.
///
/// An event whose end has not arrived when the body ends is omitted (WHATWG HTML §9.2.6). The sequence does not connect
/// again. Iterating throws ``TransportFailure``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    let lines: BodyLines
    let byteLimit: Int

    /// Returns an iterator over the events that are left.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(lines: lines.makeAsyncIterator(), byteLimit: byteLimit, origin: lines.body.origin)
    }

    /// An iterator over the events of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var lines: BodyLines.AsyncIterator
        fileprivate let byteLimit: Int
        fileprivate let origin: String
        private var parser = ServerSentEventParser()

        fileprivate init(lines: BodyLines.AsyncIterator, byteLimit: Int, origin: String) {
            (self.lines, self.byteLimit, self.origin) = (lines, byteLimit, origin)
        }

        /// Returns the next event; nil after the last one.
        public mutating func next() async throws -> ServerSentEvent? {
            while let line = try await lines.next() {
                if let event = parser.event(endingWith: line) { return event }
                guard parser.byteCount <= byteLimit else {
                    throw TransportFailure.tooLarge(origin: origin, limit: byteLimit)
                }
            }
            return nil
        }
    }
}

/// The state of an event stream between two lines (WHATWG HTML §9.2.6).
struct ServerSentEventParser {
    private var type = ""
    private var data: String?
    private var lastEventID = ""

    /// The number of bytes of the event that has not ended.
    var byteCount: Int { (data?.utf8.count ?? 0) + type.utf8.count }

    /// Processes a line, and returns the event that it ends; nil if it ends none.
    mutating func event(endingWith line: String) -> ServerSentEvent? {
        guard !line.isEmpty else {
            defer { (type, data) = ("", nil) }
            return data.map {
                ServerSentEvent(type: type.isEmpty ? "message" : type, data: $0, lastEventID: lastEventID)
            }
        }
        // A line that begins with a colon is a comment, which keeps the connection open.
        // Bytes are compared, because a combining mark after a colon would make it another character.
        let parts = line.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : parts[0].suffix(0)
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": type = text
        case "data": data = data.map { "\($0)\n\(text)" } ?? text
        case "id": if !value.contains(0) { lastEventID = text }
        default: break
        }
        return nil
    }
}
