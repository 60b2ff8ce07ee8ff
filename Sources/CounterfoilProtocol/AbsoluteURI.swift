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

        /// An explanation that is safe to show to users, such as "it is longer than 4096 bytes".
        public var description: String {
            switch self {
            case .tooLong: "it is longer than \(AbsoluteURI.byteLimit) bytes"
            case .relative: "it is not absolute: it has no scheme such as https:"
            case .badCharacter: "it contains a character that is not allowed in a URI, or an invalid percent-encoding"
            case .badPort: "its port is not a number from 1 to 65535"
            case .badAuthority: "the part after // is not a host with an optional port"
            }
        }
    }

    /// The maximum length of a URI in bytes; ``init(parsing:)`` rejects a longer text.
    public static let byteLimit = 4096

    /// The URI byte for byte as it was parsed, the form in which URIs are compared.
    public let rawValue: String
    /// The scheme without its colon, in the letter case of the URI.
    public let scheme: String
    /// Whether `//` follows the scheme, so that the URI has an authority.
    public let hasAuthority: Bool
    /// The user information of the authority, without its `@`; nil if there is none.
    public let userInformation: String?
    /// The host, unchanged, with brackets around an IPv6 literal; nil if there is no authority.
    public let host: String?
    /// The port; nil if the URI contains none, even if its scheme has a default port.
    public let port: Int?
    /// The path, unchanged and not percent-decoded; empty if there is none.
    public let path: String
    /// The query, unchanged, without its `?`; nil if there is none.
    public let query: String?
    /// The fragment, unchanged, without its `#`; nil if there is none.
    public let fragment: String?

    /// Parses an absolute URI of at most ``byteLimit`` bytes.
    public init(parsing text: String) throws(Refusal) { try self.init(parsing: text, byteLimit: Self.byteLimit) }

    /// Parses an absolute URI with a maximum length.
    package init(parsing text: String, byteLimit: Int) throws(Refusal) {
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        guard Self.hasOnlyURICharacters(text.utf8) else { throw .badCharacter }
        var rest = Substring(text)
        guard let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .relative }
        let scheme = rest[..<colon]
        guard let first = scheme.utf8.first, first.isLetter, scheme.utf8.allSatisfy(Self.isSchemeCharacter) else {
            throw .relative
        }
        rest = rest[rest.index(after: colon)...]

        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        if rest.hasPrefix("//") {
            let start = rest.utf8.index(rest.startIndex, offsetBy: 2)
            let end = rest.utf8[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let authority = rest[start..<end]
            path = String(rest[end...])
            hasAuthority = true
            (userInformation, host, port) = try Self.split(authority: authority)
        } else {
            path = String(rest)
            hasAuthority = false
            (userInformation, host, port) = (nil, nil, nil)
        }
        self.scheme = String(scheme)
        rawValue = text
    }

    /// The URI byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }

    /// Whether the path contains a `.` or `..` segment, including percent-encoded dots (RFC 3986 §3.3 and §6.2.2.3).
    ///
    /// Browsers remove such segments, and therefore request another path than the URI contains.
    public var hasDotSegments: Bool {
        path.split(separator: "/").contains { segment in
            [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
        }
    }

    /// The URI without its port, for comparing redirect URIs on a loopback host, which accept any port (RFC 8252 §7.3).
    public var withoutPort: String {
        guard let host, port != nil else { return rawValue }
        let user = userInformation.map { "\($0)@" } ?? ""
        return "\(scheme)://\(user)\(host)\(path)" + (query.map { "?\($0)" } ?? "") + (fragment.map { "#\($0)" } ?? "")
    }

    private static func cut(_ rest: inout Substring, at mark: UInt8) -> String? {
        guard let index = rest.utf8.firstIndex(of: mark) else { return nil }
        defer { rest = rest[..<index] }
        return String(rest[rest.utf8.index(after: index)...])
    }

    private static func split(authority: Substring) throws(Refusal) -> (String?, String, Int?) {
        var rest = authority
        var userInformation: String?
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            userInformation = String(rest[..<at])
            rest = rest[rest.utf8.index(after: at)...]
        }
        let host: Substring
        if rest.hasPrefix("[") {
            guard let close = rest.firstIndex(of: "]") else { throw .badAuthority }
            host = rest[...close]
        } else {
            host = rest[..<(rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex)]
            guard !host.utf8.contains(UInt8(ascii: "[")) && !host.utf8.contains(UInt8(ascii: "]")) else {
                throw .badAuthority
            }
        }
        rest = rest[host.endIndex...]
        guard !rest.isEmpty else { return (userInformation, String(host), nil) }
        guard rest.first == ":" else { throw .badAuthority }
        let digits = rest[rest.utf8.index(after: rest.startIndex)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isDigit), digits.first != "0",
            let port = Int(digits), (1...65535).contains(port)
        else { throw .badPort }
        return (userInformation, String(host), port)
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// Returns true if every byte is a reserved or unreserved character, or part of a complete percent escape
    /// (RFC 3986 §2).
    private static func hasOnlyURICharacters(_ text: String.UTF8View) -> Bool {
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
