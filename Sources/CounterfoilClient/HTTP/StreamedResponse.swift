public import HTTPTypes

/// A response whose body arrives while the program reads it.
public struct StreamedResponse: Sendable {
    /// The status and the header fields.
    public let head: HTTPResponse
    /// The body, in chunks as they arrive.
    public let body: StreamedBody

    /// Creates a response; only implementations of ``HTTPTransport`` need it.
    public init(head: HTTPResponse, body: StreamedBody) {
        self.head = head
        self.body = body
    }

    /// Returns the response with the rest of its body; throws if that has more than `byteLimit` bytes.
    public func collected(upTo byteLimit: Int = 256 * 1024) async throws(TransportFailure) -> TransportResponse {
        let chunks = body.makeAsyncIterator()
        var bytes: [UInt8] = []
        while let chunk = try await chunks.nextChunk() {
            guard bytes.count + chunk.count <= byteLimit else {
                throw .tooLarge(origin: body.origin, limit: byteLimit)
            }
            bytes += chunk
        }
        return TransportResponse(head: head, body: bytes)
    }
}

/// The body of a ``StreamedResponse``: chunks of bytes, as they arrive.
///
/// A body can be read once, by one task at a time. The connection is closed if that task is cancelled, and when the
/// last copy of the response and of its iterators is gone. Iterating throws ``TransportFailure``, for example
/// ``TransportFailure/timedOut(origin:)`` if no byte arrives during the idle timeout of the request.
public struct StreamedBody: AsyncSequence, Sendable {
    /// A chunk of bytes, which is not empty.
    public typealias Element = [UInt8]

    private let source: Source

    /// The owner of a channel, which closes the connection when nothing can read from it any more.
    fileprivate final class Source: Sendable {
        let channel: BodyChannel

        init(_ channel: BodyChannel) { self.channel = channel }

        deinit { channel.abandon() }
    }

    init(_ channel: BodyChannel) { source = Source(channel) }

    /// Creates a body that has arrived completely; `origin` is that of the server, for errors.
    public init(_ bytes: [UInt8], from origin: String) {
        let channel = BodyChannel(from: origin, idleTimeout: .seconds(1))
        _ = channel.offer(bytes, resume: {})
        channel.finish()
        self.init(channel)
    }

    var origin: String { source.channel.origin }

    /// Returns an iterator over the chunks that are left.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// An iterator over the chunks of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// Returns the next chunk; nil after the last one.
        public mutating func next() async throws -> [UInt8]? { try await nextChunk() }

        func nextChunk() async throws(TransportFailure) -> [UInt8]? { try await source.channel.next() }
    }
}

/// A response of a server, whose body may still be arriving.
protocol HeadedResponse: Sendable {
    var head: HTTPResponse { get }
    /// The part of the body that is already there.
    var receivedBody: [UInt8] { get }
}

extension TransportResponse: HeadedResponse {
    var receivedBody: [UInt8] { body }
}

extension HTTPResponse: HeadedResponse {
    var head: HTTPResponse { self }
    var receivedBody: [UInt8] { [] }
}

extension StreamedResponse: HeadedResponse {
    var receivedBody: [UInt8] { [] }

    /// The HTTP status code, which can be 3xx, because transports do not follow redirects.
    public var statusCode: Int { head.status.code }

    /// The media type without parameters, in lower case; empty if the server sends none.
    public var mediaType: String { head.mediaType }
}

extension HTTPResponse {
    /// The media type without parameters, in lower case; empty if the server sends none.
    var mediaType: String {
        (headerFields[.contentType] ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    }
}
