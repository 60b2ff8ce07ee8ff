/// An absolute URI, parsed strictly by RFC 3986 and never normalized.
///
/// The text is kept byte for byte, because redirect URIs and issuers are compared as strings (RFC 3986 §6.2.1).
/// The maximum length is 4096 bytes of ASCII.
public struct AbsoluteURI: Sendable, Hashable, CustomStringConvertible {
    /// The reason why ``AbsoluteURI/init(parsing:)`` rejects a string, such as a bad port or a missing scheme.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URI is longer than ``AbsoluteURI/byteLimit`` bytes.
        case tooLong
        /// The URI has no scheme, or its scheme is malformed (RFC 3986 §3.1).
        case relative
        /// The URI contains a character that is not allowed in a URI, or an incomplete percent escape.
        case badCharacter
        /// The port is not a number from 1 to 65535, or it has leading zeros.
        case badPort
        /// The authority, after its optional user information, is not a host with an optional port.
        case badAuthority
        /// The host is an IPv6 address without its brackets (RFC 3986 §3.2.2).
        case missingBrackets

        /// An explanation that is safe to show to users, such as "it is longer than 4096 bytes".
        public var description: String {
            switch self {
            case .tooLong: "it is longer than \(AbsoluteURI.byteLimit) bytes"
            case .relative: "it is not absolute: it has no scheme such as https:"
            case .badCharacter: "it contains a character that is not allowed in a URI, or an invalid percent-encoding"
            case .badPort: "its port is not a number from 1 to 65535"
            case .badAuthority: "the part after // is not a host with an optional port"
            case .missingBrackets: "its IPv6 address is not in brackets, as in http://[::1]/callback"
            }
        }
    }

    /// The maximum length of a URI in bytes; ``init(parsing:)`` rejects a longer text.
    public static let byteLimit = 4096

    /// The URI byte for byte as it was parsed, the form in which URIs are compared.
    public let rawValue: String
    private let parts: Parts

    /// The scheme without its colon, in the letter case of the URI.
    public var scheme: String { text(parts.scheme) }
    /// Whether `//` follows the scheme, so that the URI has an authority.
    public var hasAuthority: Bool { parts.host != nil }
    /// The user information of the authority, without its `@`; nil if there is none.
    public var userInformation: String? { parts.userInformation.map(text) }
    /// The host, unchanged, with brackets around an IPv6 literal; nil if there is no authority.
    public var host: String? { parts.host.map(text) }
    /// The port; nil if the URI contains none, even if its scheme has a default port.
    public var port: Int? { parts.port }
    /// The path, unchanged and not percent-decoded; empty if there is none.
    public var path: String { text(parts.path) }
    /// The query, unchanged, without its `?`; nil if there is none.
    public var query: String? { parts.query.map(text) }
    /// The fragment, unchanged, without its `#`; nil if there is none.
    public var fragment: String? { parts.fragment.map(text) }

    /// Parses an absolute URI of at most ``byteLimit`` bytes.
    public init(parsing text: String) throws(Refusal) { try self.init(parsing: text, byteLimit: Self.byteLimit) }

    /// Parses an absolute URI with a maximum length.
    @_spi(Counterfoil) public init(parsing text: String, byteLimit: Int) throws(Refusal) {
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        var text = text
        let parts: Result<Parts, Refusal> = text.withUTF8 { bytes in
            do throws(Refusal) { return .success(try Parts(of: bytes)) } catch { return .failure(error) }
        }
        self.parts = try parts.get()
        rawValue = text
    }

    /// Compares the texts byte for byte.
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    private func text(_ range: Range<Int>) -> String {
        let start = rawValue.utf8.index(rawValue.startIndex, offsetBy: range.lowerBound)
        return String(rawValue[start..<rawValue.utf8.index(start, offsetBy: range.count)])
    }

    /// The URI byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }

    /// Whether the path contains a `.` or `..` segment, including percent-encoded dots (RFC 3986 §3.3 and §6.2.2.3).
    ///
    /// Browsers remove such segments, and therefore request another path than the URI contains.
    public var hasDotSegments: Bool {
        // The number of dots in the current segment; nil if it contains anything else.
        var dots: Int? = 0
        var bytes = path.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "/"):
                if dots == 1 || dots == 2 { return true }
                dots = 0
            case UInt8(ascii: "."): dots = dots.map { $0 + 1 }
            case UInt8(ascii: "%"):
                let isDot =
                    bytes.next() == UInt8(ascii: "2") && bytes.next().map { $0 | 0x20 } == UInt8(ascii: "e")
                dots = isDot ? dots.map { $0 + 1 } : nil
            default: dots = nil
            }
        }
        return dots == 1 || dots == 2
    }

    /// The URI without its port, for comparing redirect URIs on a loopback host, which accept any port (RFC 8252 §7.3).
    public var withoutPort: String {
        guard let host, port != nil else { return rawValue }
        let user = userInformation.map { "\($0)@" } ?? ""
        return "\(scheme)://\(user)\(host)\(path)" + (query.map { "?\($0)" } ?? "") + (fragment.map { "#\($0)" } ?? "")
    }
}

/// Where the parts of a URI are in its bytes.
private struct Parts: Sendable {
    let scheme: Range<Int>
    private(set) var userInformation: Range<Int>?
    private(set) var host: Range<Int>?
    private(set) var port: Int?
    let path: Range<Int>
    let query: Range<Int>?
    let fragment: Range<Int>?

    init(of bytes: UnsafeBufferPointer<UInt8>) throws(AbsoluteURI.Refusal) {
        guard Self.hasOnlyURICharacters(bytes) else { throw .badCharacter }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first, first.isLetter,
            bytes[..<colon].allSatisfy(Self.isSchemeCharacter)
        else { throw .relative }
        scheme = 0..<colon
        var rest = (colon + 1)..<bytes.count
        fragment = Self.cut(&rest, of: bytes, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, of: bytes, at: UInt8(ascii: "?"))
        if rest.count >= 2, bytes[rest.lowerBound] == UInt8(ascii: "/"), bytes[rest.lowerBound + 1] == UInt8(ascii: "/")
        {
            let start = rest.lowerBound + 2
            let end = bytes[start..<rest.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? rest.upperBound
            path = end..<rest.upperBound
            try split(authority: bytes[start..<end])
        } else {
            path = rest
        }
    }

    /// Shortens a range to what precedes a mark, and returns the range of what follows it.
    private static func cut(
        _ rest: inout Range<Int>, of bytes: UnsafeBufferPointer<UInt8>, at mark: UInt8
    ) -> Range<Int>? {
        guard let index = bytes[rest].firstIndex(of: mark) else { return nil }
        defer { rest = rest.lowerBound..<index }
        return (index + 1)..<rest.upperBound
    }

    private mutating func split(authority: Slice<UnsafeBufferPointer<UInt8>>) throws(AbsoluteURI.Refusal) {
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            userInformation = rest.startIndex..<at
            rest = rest[(at + 1)...]
        }
        let end: Int
        if rest.first == UInt8(ascii: "[") {
            guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { throw .badAuthority }
            end = close + 1
        } else {
            end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            guard !rest[..<end].contains(UInt8(ascii: "[")), !rest[..<end].contains(UInt8(ascii: "]")) else {
                throw .badAuthority
            }
            guard !Self.isAddress(rest) else { throw .missingBrackets }
        }
        host = rest.startIndex..<end
        rest = rest[end...]
        guard let mark = rest.popFirst() else { return }
        guard mark == UInt8(ascii: ":") else { throw .badAuthority }
        guard (1...5).contains(rest.count), rest.allSatisfy(\.isDigit), rest.first != UInt8(ascii: "0") else {
            throw .badPort
        }
        let number = rest.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
        guard number <= 65535 else { throw .badPort }
        port = number
    }

    /// Returns true if an authority looks like an IPv6 address: hexadecimal digits and at least two colons.
    private static func isAddress(_ authority: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        authority.count(where: { $0 == UInt8(ascii: ":") }) >= 2
            && authority.allSatisfy {
                $0.hexadecimalValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// Returns true if every byte is a reserved or unreserved character, or part of a complete percent escape
    /// (RFC 3986 §2).
    private static func hasOnlyURICharacters(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            if byte == UInt8(ascii: "%") {
                guard bytes.next()?.hexadecimalValue != nil, bytes.next()?.hexadecimalValue != nil else { return false }
            } else if !byte.isUnreserved && !byte.isReserved {
                return false
            }
        }
        return true
    }
}
