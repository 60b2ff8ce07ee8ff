/// The parameters of a query or of an `application/x-www-form-urlencoded` body.
///
/// RFC 6749 appendix B. The parameters are a flat list of names and values, in the order of the query or body.
/// Nested names, arrays and types are not supported. Input that is not correctly encoded UTF-8 is rejected, not
/// repaired.
public struct FormParameters: Sendable, Hashable {
    /// A parameter: a decoded name and its decoded value.
    public struct Pair: Sendable, Hashable {
        /// The name after form decoding; it can be empty.
        public let name: String
        /// The value after form decoding; empty if no `=` follows the name.
        public let value: String

        /// Creates a pair from strings that are not form-encoded.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The error for a query or body that cannot be parsed, or for a repeated parameter in
    /// ``FormParameters/single(_:)``.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is longer than the limit in bytes.
        case tooLong(limit: Int)
        /// The text contains more pairs than the limit.
        case tooManyPairs(limit: Int)
        /// The text contains a `%` without two hexadecimal digits, or bytes that are not UTF-8.
        case badEncoding
        /// A parameter that must occur at most once is repeated (RFC 6749 §3.1 and §3.2); the associated value
        /// is its name.
        case repeated(String)

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .tooLong(let limit): "the parameters are longer than \(limit) bytes"
            case .tooManyPairs(let limit): "there are more than \(limit) parameters"
            case .badEncoding: "the parameters are not correctly encoded as application/x-www-form-urlencoded UTF-8"
            case .repeated(let name): "the parameter \(name) is repeated"
            }
        }
    }

    /// The default maximum length of a query or body in bytes.
    public static let defaultByteLimit = 32 * 1024
    /// The default maximum number of pairs in a query or body.
    public static let pairLimit = 100

    /// The pairs, in the order of the query or body.
    public private(set) var pairs: [Pair]

    /// Creates parameters from decoded pairs, without checking the limits.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    /// Creates parameters from a dictionary literal of decoded names and values, which keeps order and duplicates.
    public init(_ pairs: KeyValuePairs<String, String>) {
        self.pairs = pairs.map { Pair(name: $0.key, value: $0.value) }
    }

    /// Parses a query (without its `?`) or a form body, with limits on its size.
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

    /// Parses a query (without its `?`) or a form body, with at most ``pairLimit`` pairs.
    public init(parsing text: String, byteLimit: Int = defaultByteLimit) throws(Refusal) {
        try self.init(parsing: Array(text.utf8), byteLimit: byteLimit)
    }

    /// Appends a decoded pair, even if the name already occurs.
    public mutating func append(_ name: String, _ value: String) {
        pairs.append(Pair(name: name, value: value))
    }

    /// Appends a decoded pair; appends nothing if the value is nil.
    public mutating func append(_ name: String, ifPresent value: String?) {
        if let value { append(name, value) }
    }

    /// Returns the value of a parameter that must not be repeated.
    ///
    /// The result is nil if the parameter is missing or empty. A parameter without a value counts as omitted
    /// (RFC 6749 §3.1 and §3.2).
    ///
    /// - Throws: ``Refusal/repeated(_:)`` if the parameter occurs more than once.
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

    /// Returns all non-empty values of a parameter that may be repeated, in their original order.
    public func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }

    /// Percent-encodes one name or value; a space becomes `%20`.
    @_spi(Counterfoil) public static func encoded(_ text: String) -> String { FormEncoding.encode(text) }

    /// Decodes one name or value; returns nil if a percent escape is invalid or the result is not UTF-8.
    @_spi(Counterfoil) public static func decoded(_ text: ArraySlice<UInt8>) -> String? { FormEncoding.decode(text) }

    /// The query or body: encoded names and values, joined with `=` and `&`.
    public var encoded: String {
        pairs.map { "\(FormEncoding.encode($0.name))=\(FormEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

/// Percent encoding of one name or value (RFC 6749 appendix B, RFC 3986 §2.1).
enum FormEncoding {
    /// Encodes every byte except unreserved characters.
    ///
    /// A space becomes `%20` and not `+`, because every decoder reads `%20` as a space.
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

    /// Decodes `+` and `%XX`; returns nil if a percent escape is invalid or the result is not UTF-8.
    static func decode(_ text: ArraySlice<UInt8>) -> String? {
        guard text.hasEscapes else { return String(validUTF8: text) }
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
        return String(validUTF8: bytes)
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)
}

extension ArraySlice<UInt8> {
    /// Returns the bytes before the first occurrence of a byte, or all bytes if there is none.
    fileprivate func prefix(before byte: UInt8) -> ArraySlice<UInt8> {
        prefix(withUnsafeBufferPointer { $0.firstIndex(of: byte) } ?? count)
    }

    /// Whether the bytes contain `%` or `+`, so that they must be decoded; most names and values do not.
    ///
    /// The loop visits every byte without an early exit, so that the compiler can vectorize it.
    fileprivate var hasEscapes: Bool {
        withUnsafeBufferPointer { bytes in
            bytes.reduce(UInt8(0)) { found, byte in
                found | (byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") ? 1 : 0)
            } != 0
        }
    }
}
