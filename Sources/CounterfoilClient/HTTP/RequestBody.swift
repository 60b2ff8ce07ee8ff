import CounterfoilPlatform

/// The body of a ``TransportRequest``: bytes, or a file that is read while it is sent.
///
/// The body is a sequence of its bytes in parts, for implementations of ``HTTPTransport``. Iterating throws
/// ``Unreadable``.
public struct RequestBody: Sendable, AsyncSequence {
    /// A part of the body, which is not empty.
    public typealias Element = [UInt8]

    /// The reason why a file cannot be sent.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// A description of the problem, safe to show to users.
        public let description: String

        fileprivate static func system(_ error: Int32) -> Unreadable {
            Unreadable(description: String(cString: strerror(error)))
        }
    }

    fileprivate enum Content: Sendable {
        case bytes([UInt8])
        /// A regular file, from an offset.
        case file(OpenFile, start: Int, length: Int)
        /// A pipe or a device, with the part of it that has been read.
        case input(OpenFile, beginning: [UInt8])
    }

    private let content: Content

    /// The number of bytes of a pipe or a device that are kept, so that a short one can be sent again.
    private static let keptBytes = 1024 * 1024
    private static let partBytes = 128 * 1024

    /// Creates an empty body.
    public init() { content = .bytes([]) }

    /// Creates a body from bytes, such as the `utf8` of a text.
    public init(_ bytes: some Sequence<UInt8>) { content = .bytes(Array(bytes)) }

    /// Creates a body from the file at a path, which is opened now and read while it is sent.
    ///
    /// A regular file is sent with its present length, and again from its start if the request is repeated. If `path`
    /// is that of a pipe or a device, this function waits for its first megabyte or its end. If it is longer, it is
    /// sent in chunks (RFC 9112 §7.1), and only once: see ``isRepeatable``.
    public init(file path: String) throws(Unreadable) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno) }
        try self.init(reading: descriptor)
    }

    /// Creates a body from an open file, from its present offset; the body closes the descriptor.
    package init(reading descriptor: Int32) throws(Unreadable) {
        let file = OpenFile(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw .system(EISDIR) }
        let offset = Int(lseek(descriptor, 0, SEEK_CUR))
        // Files of the kernel, as in /proc, have content and the length 0.
        if kind == S_IFREG, offset >= 0, Int(status.st_size) > offset {
            content = .file(file, start: offset, length: Int(status.st_size) - offset)
            return
        }
        var beginning: [UInt8] = []
        while beginning.count < Self.keptBytes {
            let part = try file.read(atMost: Self.partBytes)
            guard !part.isEmpty else {
                content = .bytes(beginning)
                return
            }
            beginning += part
        }
        content = .input(file, beginning: beginning)
    }

    /// The bytes, if they are in memory; nil for a file.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// The number of bytes (`Content-Length`); nil if it is not known before the body is sent.
    public var length: Int? {
        switch content {
        case .bytes(let bytes): bytes.count
        case .file(_, _, let length): length
        case .input: nil
        }
    }

    /// Whether the body can be sent a second time.
    ///
    /// If not, no request with it is repeated: neither with a refreshed token or another DPoP nonce, nor at the target
    /// of a redirect, nor after a step-up. The caller gets the response that asked for it.
    public var isRepeatable: Bool { if case .input = content { false } else { true } }

    /// Returns an iterator over the parts.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: Reader(content: content)) }

    /// An iterator over the parts of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var reader: Reader

        /// Returns the next part; nil after the last one.
        public mutating func next() async throws -> [UInt8]? {
            if case .bytes = reader.content { return try reader.next() }
            // A pipe may stay silent for a long time, and a file may be on a slow disk.
            let former = reader
            let (part, latest) = await DetachedThread.result {
                var reader = former
                let part = Result { () throws(Unreadable) in try reader.next() }
                return (part, reader)
            }
            reader = latest
            return try part.get()
        }
    }

    /// A reader of the parts, for a thread that may wait for the file.
    var reader: Reader { Reader(content: content) }

    /// A position in the content of a body.
    struct Reader: Sendable {
        fileprivate let content: Content
        private var position = 0

        fileprivate init(content: Content) { self.content = content }

        /// Returns the next part, and waits for it if necessary; nil after the last one.
        mutating func next() throws(Unreadable) -> [UInt8]? {
            let part: [UInt8]
            switch content {
            case .bytes(let bytes): part = position == 0 ? bytes : []
            case .file(let file, let start, let length):
                part = try file.read(atMost: Swift.min(length - position, RequestBody.partBytes), at: start + position)
                guard !part.isEmpty || position == length else {
                    throw Unreadable(description: "the file became shorter while it was sent")
                }
            case .input(let file, let beginning):
                part = position == 0 ? beginning : try file.read(atMost: RequestBody.partBytes)
            }
            position += part.count
            return part.isEmpty ? nil : part
        }
    }

    /// An open file, which is closed with the last copy of its body.
    fileprivate final class OpenFile: Sendable {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Reads bytes from an offset, or the next ones; an empty result means the end.
        func read(atMost limit: Int, at offset: Int? = nil) throws(Unreadable) -> [UInt8] {
            while true {
                var (count, error): (Int, Int32) = (0, 0)
                let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
                    count =
                        if let offset { pread(descriptor, buffer.baseAddress, limit, off_t(offset)) } else {
                            systemRead(descriptor, buffer.baseAddress, limit)
                        }
                    error = errno
                    initialized = Swift.max(0, count)
                }
                guard count < 0 else { return bytes }
                switch error {
                case EINTR: continue
                case EAGAIN:
                    // Another program has made the pipe or terminal that they share non-blocking.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    _ = poll(&ready, 1, -1)
                default: throw .system(error)
                }
            }
        }
    }
}
