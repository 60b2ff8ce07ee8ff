import NIOCore
import NIOEmbedded
import NIOSSL
import Testing

@testable import HTTPListener

@Suite("TLS: the first message of a client")
struct ClientHelloTests {
    /// Returns the first bytes that a TLS client sends.
    private static func firstBytes(host: String?, protocols: [String]) throws -> [UInt8] {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = protocols
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            try NIOSSLClientHandler(context: NIOSSLContext(configuration: configuration), serverHostname: host))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return bytes
    }

    // RFC 8446 §4.1.2, RFC 6066 §3, RFC 7301 §3.1
    @Test(
        arguments: [
            ("id.example.com", ["acme-tls/1"]), (nil, []), ("ID.example.com", ["h2", "http/1.1"]),
        ] as [(String?, [String])])
    func `host and protocols are read, however the bytes arrive`(host: String?, protocols: [String]) throws {
        let bytes = try Self.firstBytes(host: host, protocols: protocols)
        let hello = ClientHello(serverName: host?.lowercased(), protocols: protocols)
        #expect(ClientHello.read(bytes) == .complete(hello))
        // Each byte is examined once.
        var reader = ClientHelloReader()
        let readings = bytes.map { reader.read(ByteBuffer(bytes: [$0])) }
        #expect(readings.last == .complete(hello))
        #expect(!readings.dropLast().contains { $0 != .incomplete })
        #expect(Array(reader.received.readableBytesView) == bytes)
        for count in 0..<bytes.count { #expect(ClientHello.read(Array(bytes.prefix(count))) == .incomplete) }
        // RFC 8446 §5.1: the same message in several records
        let message = bytes.dropFirst(5)
        let split = stride(from: message.startIndex, to: message.endIndex, by: 200).flatMap { start in
            let part = message[start..<min(start + 200, message.endIndex)]
            return [22, 3, 1, 0, UInt8(part.count)] + part
        }
        #expect(ClientHello.read(split) == .complete(hello))
    }

    @Test func `other bytes are no such message`() throws {
        for bytes in [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [22, 2, 0, 0, 1, 1], [22, 3, 1, 0, 0], [22, 3, 1, 0xFF, 0xFF],
            [22, 3, 1, 0, 4, 2, 0, 0, 0], [22, 3, 1, 0, 4, 1, 0xFF, 0, 0], [22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
        ] as [[UInt8]] {
            #expect(ClientHello.read(bytes) == .invalid)
        }
        // 16 KiB and 8 records at most
        func records(_ sizes: [Int], of length: Int) -> [UInt8] {
            var message = [1, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            message += Array(repeating: 0, count: length)
            return sizes.flatMap { size in
                defer { message = Array(message.dropFirst(size)) }
                return [22, 3, 1, UInt8(size >> 8), UInt8(size & 0xFF)] + message.prefix(size)
            }
        }
        #expect(ClientHello.read(records([4], of: 16_384)) == .incomplete)
        #expect(ClientHello.read(records([4], of: 16_385)) == .invalid)
        #expect(ClientHello.read(records(Array(repeating: 1, count: 8), of: 100)) == .incomplete)
        #expect(ClientHello.read(records(Array(repeating: 1, count: 9), of: 100)) == .invalid)
        // Any changed byte gives one of the three results.
        let bytes = try Self.firstBytes(host: "id.example.com", protocols: ["acme-tls/1"])
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0xFF
            _ = ClientHello.read(changed)
        }
    }
}
