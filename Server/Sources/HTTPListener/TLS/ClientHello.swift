import NIOCore

/// The parts of the first message of a TLS client that decide who answers it (RFC 8446 §4.1.2).
package struct ClientHello: Sendable, Hashable {
    /// The host that the client wants (RFC 6066 §3), in lower case; nil if it names none.
    package let serverName: String?
    /// The protocols that the client offers (RFC 7301 §3.1).
    package let protocols: [String]

    /// The result of reading the beginning of a connection.
    package enum Reading: Sendable, Hashable {
        /// More bytes are needed.
        case incomplete
        /// The bytes are no such message.
        case invalid
        case complete(ClientHello)
    }

    /// The maximum size of the message in bytes.
    package static let limit = 16 << 10
    /// The maximum number of records in which the message comes.
    package static let recordLimit = 8

    /// Reads the message from the first bytes of a connection.
    package static func read(_ bytes: [UInt8]) -> Reading {
        var reader = ClientHelloReader()
        return reader.read(ByteBuffer(bytes: bytes))
    }

    fileprivate static func hello(_ bytes: ArraySlice<UInt8>) -> ClientHello? {
        var cursor = ByteCursor(bytes)
        guard cursor.bytes(2 + 32) != nil, cursor.vector(1) != nil, cursor.vector(2) != nil, cursor.vector(1) != nil
        else { return nil }
        guard !cursor.isAtEnd else { return ClientHello(serverName: nil, protocols: []) }
        guard let list = cursor.vector(2), cursor.isAtEnd else { return nil }
        var extensions = ByteCursor(list)
        var (name, protocols): (String?, [String]) = (nil, [])
        while !extensions.isAtEnd {
            guard let type = extensions.number(2), let content = extensions.vector(2) else { return nil }
            switch type {
            case 0:
                guard let found = serverName(content) else { return nil }
                name = found
            case 16:
                guard let found = protocolNames(content) else { return nil }
                protocols = found
            default: break
            }
        }
        return ClientHello(serverName: name, protocols: protocols)
    }

    private static func serverName(_ content: ArraySlice<UInt8>) -> String? {
        var cursor = ByteCursor(content)
        guard let list = cursor.vector(2), cursor.isAtEnd else { return nil }
        var names = ByteCursor(list)
        guard names.number(1) == 0, let name = names.vector(2), !name.isEmpty else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private static func protocolNames(_ content: ArraySlice<UInt8>) -> [String]? {
        var cursor = ByteCursor(content)
        guard let list = cursor.vector(2), cursor.isAtEnd else { return nil }
        var (names, protocols) = (ByteCursor(list), [String]())
        while !names.isAtEnd {
            guard let name = names.vector(1), !name.isEmpty else { return nil }
            protocols.append(String(decoding: name, as: UTF8.self))
        }
        return protocols
    }
}

/// The first bytes of a connection, each of which is examined once.
struct ClientHelloReader {
    /// Everything that the client has sent.
    private(set) var received = ByteBuffer()
    /// The place of the next record.
    private var position = 0
    private var records = 0
    private var message: [UInt8] = []

    /// Reads further bytes.
    mutating func read(_ bytes: ByteBuffer) -> ClientHello.Reading {
        add(bytes)
        while true {
            if message.count >= 4 {
                guard message[0] == 1 else { return .invalid }
                let length = Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3])
                guard length <= ClientHello.limit else { return .invalid }
                if message.count >= 4 + length {
                    return ClientHello.hello(message[4..<4 + length]).map { .complete($0) } ?? .invalid
                }
            }
            // RFC 8446 §5.1: a message can be in several records.
            guard let type = received.getInteger(at: position, as: UInt8.self) else { return .incomplete }
            guard type == 22, records < ClientHello.recordLimit else { return .invalid }
            guard let version = received.getInteger(at: position + 1, as: UInt16.self),
                let length = received.getInteger(at: position + 3, as: UInt16.self)
            else { return .incomplete }
            guard version >> 8 == 3, (1...1 << 14).contains(length) else { return .invalid }
            guard let fragment = received.getBytes(at: position + 5, length: Int(length)) else { return .incomplete }
            message += fragment
            position += 5 + Int(length)
            records += 1
        }
    }

    /// Keeps bytes that follow the message.
    mutating func add(_ bytes: ByteBuffer) { received.writeImmutableBuffer(bytes) }
}

/// A position in bytes in network byte order.
private struct ByteCursor {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads an integer of a number of bytes.
    mutating func number(_ size: Int) -> Int? { bytes(size)?.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads bytes that follow their number, which has `size` bytes.
    mutating func vector(_ size: Int) -> ArraySlice<UInt8>? {
        guard let count = number(size) else { return nil }
        return bytes(count)
    }
}
