@_spi(Counterfoil) import CounterfoilProtocol

/// The head of an HTTP request to a loopback receiver (RFC 9112 §2 to §5); a body is ignored.
struct LoopbackRequest: Hashable, Sendable {
    let method: String
    /// The request target, as it was sent.
    let target: String
    /// The values of all `Host` header fields.
    let hosts: [String]

    /// The reason why bytes are no request that a receiver accepts.
    enum Refusal: Error, Hashable, Sendable {
        case malformed
        case targetTooLong
        case headTooLong
    }

    /// The maximum length of a request target, in bytes; a callback is far shorter.
    static let targetLimit = 32 * 1024
    /// The maximum length of the whole head, in bytes.
    ///
    /// Cookies of all servers on this device count, because cookies do not depend on the port.
    static let headLimit = 128 * 1024

    /// Parses the head of a request; nil if it is not complete.
    ///
    /// - Parameters:
    ///   - bytes: All bytes of the connection.
    ///   - known: The number of bytes that an earlier call has found incomplete.
    init?(parsing bytes: [UInt8], known: Int) throws(Refusal) {
        // RFC 9112 §2.2: lines end with CRLF. A TLS handshake or another protocol has no such line.
        guard bytes.first?.isTokenCharacter ?? true else { throw .malformed }
        let new = bytes[max(0, known - 3)...]
        guard let end = Self.endOfHead(in: new) else {
            let hasLine = bytes.contains(UInt8(ascii: "\n"))
            if !hasLine, bytes.count > Self.targetLimit + 64 { throw .targetTooLong }
            if bytes.count > Self.headLimit { throw .headTooLong }
            return nil
        }
        guard end <= Self.headLimit else { throw .headTooLong }
        try self.init(lines: Self.lines(of: bytes[..<end]))
    }

    private init(lines: [ArraySlice<UInt8>]) throws(Refusal) {
        let words = (lines.first ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isTokenCharacter), !words[1].isEmpty,
            words[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8)
        else { throw .malformed }
        guard words[1].count <= Self.targetLimit else { throw .targetTooLong }
        method = String(decoding: words[0], as: UTF8.self)
        target = String(decoding: words[1], as: UTF8.self)
        var hosts: [String] = []
        for line in lines.dropFirst() {
            // RFC 9112 §5: no space before the colon, and no continuation lines.
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(\.isTokenCharacter),
                line[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") })
            else { throw .malformed }
            guard String(decoding: line[..<colon], as: UTF8.self).lowercased() == "host" else { continue }
            let value = line[line.index(after: colon)...]
            let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            hosts.append(
                String(
                    decoding: value.drop(while: blanks.contains).reversed().drop(while: blanks.contains).reversed(),
                    as: UTF8.self))
        }
        self.hosts = hosts
    }

    /// Returns the index after the last line of the head, without the empty line; nil if the head is not complete.
    private static func endOfHead(in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let feed = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[..<feed].suffix(3)
            if line.elementsEqual([0x0D, 0x0A, 0x0D]) { return feed - 3 }
            rest = rest[(feed + 1)...]
        }
        return nil
    }

    private static func lines(of head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = head
        while let feed = rest.firstIndex(of: UInt8(ascii: "\n")) {
            // A line that ends without CR keeps its line feed, so that the parser finds it malformed.
            let isWhole = feed > rest.startIndex && rest[feed - 1] == 0x0D
            lines.append(isWhole ? rest[..<(feed - 1)] : rest[...feed])
            rest = rest[(feed + 1)...]
        }
        if !rest.isEmpty { lines.append(rest) }
        return lines
    }
}
