/// A reader that splits a multipart body into its parts (RFC 2046 §5.1.1).
struct MultipartReader {
    private let bytes: [UInt8]
    /// The bytes before each part but the first: CRLF, two hyphens and the boundary.
    private let delimiter: [UInt8]
    private var position = 0

    /// Whether another part follows; false after the closing boundary.
    private(set) var hasPart = false

    init(_ bytes: [UInt8], boundary: [UInt8]) {
        self.bytes = bytes
        delimiter = [0x0D, 0x0A, UInt8(ascii: "-"), UInt8(ascii: "-")] + boundary
    }

    /// Whether nothing remains of the body except an optional CRLF.
    var isAtEnd: Bool { position == bytes.count || bytes[position...].elementsEqual([0x0D, 0x0A]) }

    /// Moves past the first delimiter, which has no CRLF before it.
    ///
    /// Returns false if the body does not start with the delimiter, or if the delimiter is malformed.
    mutating func takeFirstDelimiter() -> Bool {
        let first = delimiter.dropFirst(2)
        guard bytes.starts(with: first) else { return false }
        position = first.count
        return takeEndOfDelimiter()
    }

    /// Returns the bytes before the next delimiter and moves past that delimiter.
    ///
    /// Returns nil if the delimiter is missing or malformed.
    mutating func takePart() -> ArraySlice<UInt8>? {
        let start = position
        guard let end = nextDelimiter() else { return nil }
        position = end + delimiter.count
        return takeEndOfDelimiter() ? bytes[start..<end] : nil
    }

    /// Moves past the rest of a delimiter after its boundary, and returns false if that rest is malformed.
    ///
    /// The closing delimiter continues with two hyphens and white space. Any other delimiter continues with white
    /// space and CRLF, and a part follows.
    private mutating func takeEndOfDelimiter() -> Bool {
        hasPart = !take([UInt8(ascii: "-"), UInt8(ascii: "-")])
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
        return hasPart ? take([0x0D, 0x0A]) : true
    }

    private mutating func take(_ text: [UInt8]) -> Bool {
        guard bytes[position...].starts(with: text) else { return false }
        position += text.count
        return true
    }

    private func nextDelimiter() -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var candidate = position
            while candidate + delimiter.count <= bytes.count {
                if bytes[candidate] == 0x0D, bytes[candidate..<candidate + delimiter.count].elementsEqual(delimiter) {
                    return candidate
                }
                candidate += 1
            }
            return nil
        }
    }
}

/// A header field value with parameters, such as `form-data; name="logo"` (RFC 2045 §5.1, RFC 7578 §4.2).
struct ParameterizedValue {
    /// The part of the field value before the first semicolon, in lower case.
    let value: String
    /// The values of the parameters, by parameter name in lower case.
    let parameters: [String: [UInt8]]

    /// Parses a field value; nil if it is malformed or a parameter occurs twice.
    ///
    /// A backslash in a quoted string is literal and escapes nothing, because browsers encode a quotation mark as
    /// `%22` (RFC 7578 §2).
    init?(parsing text: [UInt8]) {
        var rest = text[...]
        func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
        func takeToken() -> String? {
            let token = rest.prefix { $0.isToken || $0 == UInt8(ascii: "/") }
            rest = rest.dropFirst(token.count)
            return token.isEmpty ? nil : String(decoding: token, as: UTF8.self).lowercased()
        }
        skipSpace()
        guard let value = takeToken() else { return nil }
        var parameters: [String: [UInt8]] = [:]
        skipSpace()
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst()
            skipSpace()
            guard let name = takeToken(), rest.popFirst() == UInt8(ascii: "=") else { return nil }
            let parameter: ArraySlice<UInt8>
            if rest.first == UInt8(ascii: "\"") {
                parameter = rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
                rest = rest.dropFirst(parameter.count + 1)
                guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
            } else {
                parameter = rest.prefix { $0.isToken }
                rest = rest.dropFirst(parameter.count)
                guard !parameter.isEmpty else { return nil }
            }
            guard parameters.updateValue(Array(parameter), forKey: name) == nil else { return nil }
            skipSpace()
        }
        guard rest.isEmpty else { return nil }
        self.value = value
        self.parameters = parameters
    }
}

extension UInt8 {
    var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Whether the byte may occur in a `token` (RFC 9110 §5.6.2).
    fileprivate var isToken: Bool { isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}
