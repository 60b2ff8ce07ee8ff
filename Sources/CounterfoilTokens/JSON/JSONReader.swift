@_spi(Counterfoil) import CounterfoilProtocol

/// A strict parser of JSON received from the network.
///
/// RFC 8259. Foundation's decoder silently keeps one of two members with the same name. RFC 7519 §4
/// requires that a JWT parser either rejects such tokens or uses the last member. If two parsers keep different
/// members, an attacker can send a token that they read differently. This parser therefore rejects duplicate
/// members. It also limits the nesting depth, and allows only white space around the value.
@_spi(Counterfoil) public struct JSONReader {
    /// The error for input that the parser rejects, without details.
    public struct Malformed: Error {}

    /// The maximum nesting depth of objects and arrays.
    static let depthLimit = 16

    private let bytes: [UInt8]
    private let acceptsHugeNumbers: Bool
    private let isLenient: Bool
    private var hasDuplicates = false
    private var position = 0

    private init(_ bytes: [UInt8], acceptingHugeNumbers: Bool, leniently: Bool = false) {
        self.bytes = bytes
        acceptsHugeNumbers = acceptingHugeNumbers
        isLenient = leniently
    }

    /// Parses text that consists of one JSON object, and returns the members of the object.
    ///
    /// A number beyond the range of `Double`, such as `1e400`, makes the text malformed, unless `acceptingHugeNumbers`
    /// is true: then its value is infinite (RFC 8259 §6).
    public static func object(
        _ bytes: [UInt8], acceptingHugeNumbers: Bool = false
    ) throws(Malformed) -> [String: JSONValue] {
        var reader = JSONReader(bytes, acceptingHugeNumbers: acceptingHugeNumbers)
        let value = try reader.value(depth: 0)
        reader.skipWhitespace()
        guard case .object(let members) = value, reader.position == bytes.count else { throw Malformed() }
        return members
    }

    /// Parses an object that contains something that must be saved, although the text may not be safe to use.
    ///
    /// The last of several members with the same name counts. A value below the maximum depth is skipped and counts as
    /// null. Characters that are not valid become U+FFFD.
    public static func lenientObject(
        _ bytes: [UInt8]
    ) throws(Malformed) -> (members: [String: JSONValue], hasDuplicates: Bool) {
        var reader = JSONReader(bytes, acceptingHugeNumbers: true, leniently: true)
        let value = try reader.value(depth: 0)
        reader.skipWhitespace()
        guard case .object(let members) = value, reader.position == bytes.count else { throw Malformed() }
        return (members, reader.hasDuplicates)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhitespace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Consumes the next byte if it equals the given byte, and returns true if so.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(Malformed) {
        guard take(byte) else { throw Malformed() }
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        guard depth < Self.depthLimit else {
            guard isLenient else { throw Malformed() }
            return try skippedValue()
        }
        skipWhitespace()
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .boolean(true))
        case UInt8(ascii: "f"): return try literal("false", .boolean(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    /// Skips a value of any depth up to the delimiter after it, without a check of more than its strings and brackets.
    private mutating func skippedValue() throws(Malformed) -> JSONValue {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                _ = try string()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 { return .null }
                if byte != UInt8(ascii: ",") { depth -= 1 }
            default: break
            }
            position += 1
        }
        throw Malformed()
    }

    private mutating func members(depth: Int) throws(Malformed) -> [String: JSONValue] {
        try expect(UInt8(ascii: "{"))
        var members: [String: JSONValue] = [:]
        skipWhitespace()
        if take(UInt8(ascii: "}")) { return members }
        repeat {
            skipWhitespace()
            let name = try string()
            skipWhitespace()
            try expect(UInt8(ascii: ":"))
            let value = try value(depth: depth + 1)
            if members.updateValue(value, forKey: name) != nil {
                guard isLenient else { throw Malformed() }
                hasDuplicates = true
            }
            skipWhitespace()
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
        return members
    }

    private mutating func elements(depth: Int) throws(Malformed) -> [JSONValue] {
        try expect(UInt8(ascii: "["))
        var elements: [JSONValue] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipWhitespace()
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
        return elements
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Malformed) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            try expect(text.utf8Start[index])
        }
        return value
    }
}

extension JSONReader {
    private mutating func string() throws(Malformed) -> String {
        try expect(UInt8(ascii: "\""))
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        var text = bytes[start..<position]
        while true {
            guard let byte = next else { throw Malformed() }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                if let string = String(validUTF8: text) { return string }
                guard isLenient else { throw Malformed() }
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0x20...: text.append(byte)
            default:
                guard isLenient else { throw Malformed() }
                text.append(byte)
            }
        }
    }

    private mutating func escape(into text: inout ArraySlice<UInt8>) throws(Malformed) {
        guard let byte = next else { throw Malformed() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw Malformed()
        }
    }

    /// Parses the four hexadecimal digits after `\u`, and a second escape if they are the first
    /// half of a surrogate pair.
    ///
    /// An unpaired surrogate is rejected, or becomes U+FFFD in a lenient reading.
    private mutating func escapedScalar() throws(Malformed) -> Character {
        var value = try fourDigits()
        if isLenient, (0xD800...0xDFFF).contains(value), !isFollowedByLowSurrogate(value) { return "\u{FFFD}" }
        if (0xD800...0xDBFF).contains(value) {
            try expect(UInt8(ascii: "\\"))
            try expect(UInt8(ascii: "u"))
            let low = try fourDigits()
            guard (0xDC00...0xDFFF).contains(low) else { throw Malformed() }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw Malformed() }
        return Character(scalar)
    }

    /// Returns true if the value is the first half of a surrogate pair whose second half follows.
    private func isFollowedByLowSurrogate(_ value: UInt32) -> Bool {
        guard value < 0xDC00, position + 6 <= bytes.count else { return false }
        var ahead = self
        guard ahead.take(UInt8(ascii: "\\")), ahead.take(UInt8(ascii: "u")), let low = try? ahead.fourDigits() else {
            return false
        }
        return (0xDC00...0xDFFF).contains(low)
    }

    private mutating func fourDigits() throws(Malformed) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw Malformed() }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func number() throws(Malformed) -> JSONValue {
        let start = position
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite || acceptsHugeNumbers else { throw Malformed() }
        return .number(number)
    }

    private mutating func digits() throws(Malformed) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw Malformed() }
    }
}
