/// The parameters of a query or of an `application/x-www-form-urlencoded` body: flat, ordered and bounded.
///
/// RFC 6749 appendix B. There are no nested names, no arrays and no types: a name, a value, in the order of the wire. What
/// is not a correct encoding of UTF-8 is refused instead of being repaired.
public struct FormParameters: Sendable, Hashable {
    /// One name with its value, both decoded.
    public struct Pair: Sendable, Hashable {
        /// The decoded name.
        public let name: String
        /// The decoded value.
        public let value: String

        /// Makes a pair of decoded texts.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Why a text is not a list of parameters, or a list not what the protocol allows.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is longer than the limit, in bytes.
        case tooLong(limit: Int)
        /// There are more pairs than the limit.
        case tooManyPairs(limit: Int)
        /// A `%` without two hexadecimal digits, or bytes that are not UTF-8.
        case badEncoding
        /// A parameter of the protocol is given more than once (RFC 6749 §3.1 and §3.2).
        case repeated(String)

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .tooLong(let limit): "the parameters are longer than \(limit) bytes"
            case .tooManyPairs(let limit): "there are more than \(limit) parameters"
            case .badEncoding: "the parameters are not correctly encoded as application/x-www-form-urlencoded UTF-8"
            case .repeated(let name): "the parameter \(name) is given more than once"
            }
        }
    }

    /// The most bytes that a query or body may have unless the caller says otherwise.
    public static let defaultByteLimit = 32 * 1024
    /// The most pairs that are read unless the caller says otherwise.
    public static let pairLimit = 100

    /// The pairs in the order of the wire.
    public private(set) var pairs: [Pair]

    /// Makes parameters of decoded pairs.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    /// Makes parameters of decoded names and values.
    public init(_ pairs: KeyValuePairs<String, String>) {
        self.pairs = pairs.map { Pair(name: $0.key, value: $0.value) }
    }

    /// Parses the text of a query (without its `?`) or of a form body.
    public init(
        parsing text: [UInt8], byteLimit: Int = defaultByteLimit, pairLimit: Int = Self.pairLimit
    ) throws(Refusal) {
        guard text.count <= byteLimit else { throw .tooLong(limit: byteLimit) }
        var pairs: [Pair] = []
        var rest = text[...]
        while !rest.isEmpty {
            let piece = rest.prefix(before: UInt8(ascii: "&"))
            rest = rest[piece.endIndex...].dropFirst()
            if piece.isEmpty { continue }
            guard pairs.count < pairLimit else { throw .tooManyPairs(limit: pairLimit) }
            let name = piece.prefix(before: UInt8(ascii: "="))
            guard let decodedName = FormEncoding.decode(name),
                let value = FormEncoding.decode(piece[name.endIndex...].dropFirst())
            else { throw .badEncoding }
            pairs.append(Pair(name: decodedName, value: value))
        }
        self.pairs = pairs
    }

    /// Parses the text of a query (without its `?`) or of a form body.
    public init(parsing text: String, byteLimit: Int = defaultByteLimit) throws(Refusal) {
        try self.init(parsing: Array(text.utf8), byteLimit: byteLimit)
    }

    /// Adds a pair at the end.
    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// Adds a pair at the end when there is a value.
    public mutating func append(_ name: String, ifPresent value: String?) {
        if let value { append(name, value) }
    }

    /// The value of a parameter that the protocol allows once.
    ///
    /// Nil when it is absent or empty: a parameter without a value counts as omitted (RFC 6749 §3.1 and §3.2).
    public func single(_ name: String) throws(Refusal) -> String? {
        var found: String?
        var count = 0
        for pair in pairs where pair.name == name {
            count += 1
            guard count == 1 else { throw .repeated(name) }
            found = pair.value
        }
        return found?.isEmpty == false ? found : nil
    }

    /// Every value of a parameter that may be repeated, in order, empty ones left out.
    public func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }

    /// One name or value in its wire form.
    package static func encoded(_ text: String) -> String { FormEncoding.encode(text) }

    /// The text of one name or value in its wire form; nil when an escape is broken or it is not UTF-8.
    package static func decoded(_ text: ArraySlice<UInt8>) -> String? { FormEncoding.decode(text) }

    /// The wire form: names and values encoded, joined with `=` and `&`.
    public var encoded: String {
        pairs.map { "\(FormEncoding.encode($0.name))=\(FormEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

/// Percent encoding of one name or value (RFC 6749 appendix B, RFC 3986 §2.1).
enum FormEncoding {
    /// Encodes everything but unreserved characters; a space becomes `%20`, which every decoder reads alike.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexadecimal[Int(byte >> 4)])
                bytes.append(hexadecimal[Int(byte & 0xF)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes `+` and `%XX`; nil when an escape is broken or the result is not UTF-8.
    static func decode(_ text: ArraySlice<UInt8>) -> String? {
        guard text.hasEscapes else { return String(validating: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)
}

extension ArraySlice<UInt8> {
    /// What comes before a byte, or everything.
    fileprivate func prefix(before byte: UInt8) -> ArraySlice<UInt8> {
        prefix(withUnsafeBufferPointer { $0.firstIndex(of: byte) } ?? count)
    }

    /// Whether anything in it stands for something else; most names and values stand for themselves.
    ///
    /// Every byte is looked at, which the compiler turns into looking at many at once.
    fileprivate var hasEscapes: Bool {
        withUnsafeBufferPointer { bytes in
            bytes.reduce(UInt8(0)) { found, byte in
                found | (byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") ? 1 : 0)
            } != 0
        }
    }
}
