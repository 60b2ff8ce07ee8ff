/// A writer that serializes JSON directly into bytes, member by member.
///
/// The JSON objects of the protocols are few, small and of fixed shape, so they need no general encoder. Writing
/// one directly takes a fraction of the time that a signature takes.
@_spi(Counterfoil) public struct JSONWriter {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates a writer with room for a number of bytes.
    public init(reservingCapacity capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Writes an object; the closure writes its members.
    public mutating func object<Failure: Error>(_ members: (inout JSONWriter) throws(Failure) -> Void) throws(Failure) {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        try members(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Writes a member whose value is an array; the closure writes the elements.
    public mutating func member<Failure: Error>(
        _ name: String, list elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        bytes.append(UInt8(ascii: "["))
        needsComma = false
        try elements(&self)
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes a member whose value is a string.
    public mutating func member(_ name: String, _ value: String) {
        self.name(name)
        quote(value)
    }

    /// Writes a member whose value is a number.
    public mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes a member whose value is true or false.
    public mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes a member whose value is an object of strings, sorted by name.
    public mutating func member(_ name: String, _ values: [String: String]) {
        self.name(name)
        needsComma = false
        object { writer in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
        }
    }

    /// Writes a member whose value is an object; the closure writes the members.
    public mutating func member<Failure: Error>(
        _ name: String, object members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        needsComma = false
        try object(members)
    }

    /// Writes a string element; called only in the closure that writes the elements of an array.
    public mutating func element(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    private mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            if text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { escape(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case ..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 0xF)])
        default: bytes.append(byte)
        }
    }
}
