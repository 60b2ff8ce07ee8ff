/// A statement with its parameters, which is not sent yet.
package struct Statement: Sendable {
    /// The SQL with the parameters `$1`, `$2` and so on.
    package let sql: String
    let parameters: [Parameter]

    package init(_ sql: String, _ values: (any ParameterValue)?...) { self.init(sql, values: values) }

    package init(_ sql: String, values: [(any ParameterValue)?]) {
        self.init(sql, parameters: values.map { $0?.encoded ?? .null })
    }

    package init(_ sql: String, parameters: [Parameter]) {
        self.sql = sql
        self.parameters = parameters
    }

    /// The maximum number of parameters in the protocol of PostgreSQL.
    private static let parameterLimit = 65535

    /// Throws unless PostgreSQL can take the parameters.
    func check() throws(DatabaseFault) {
        guard !parameters.contains(where: \.hasTextWithNUL) else {
            throw .failed("a text to be stored contains a NUL character")
        }
        guard parameters.count <= Self.parameterLimit else {
            throw .failed("a statement has \(parameters.count) parameters; the limit is \(Self.parameterLimit)")
        }
    }
}

extension Statement {
    /// Replaces the parameters `?`, or `?1` and so on, by `$1` and so on.
    package static func numbered(_ sql: String) -> String {
        var numbered: [UInt8] = []
        numbered.reserveCapacity(sql.utf8.count + 16)
        var position = 0
        var isQuoted = false
        var bytes = sql.utf8.makeIterator()
        var next = bytes.next()
        while let byte = next {
            next = bytes.next()
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            guard byte == UInt8(ascii: "?"), !isQuoted else {
                numbered.append(byte)
                continue
            }
            numbered.append(UInt8(ascii: "$"))
            guard let digit = next, digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
                position += 1
                numbered += Array(String(position).utf8)
                continue
            }
        }
        return String(decoding: numbered, as: UTF8.self)
    }
}

/// The statements that are prepared on a connection.
struct PreparedStatements {
    /// The same SQL with other types of parameters is another prepared statement.
    ///
    /// A parameter that is null has no type, and PostgreSQL infers one.
    struct Key: Hashable {
        let sql: String
        let types: [UInt32]

        /// The name, which is the same on each connection.
        ///
        /// A pooler shares prepared statements between connections.
        var name: String {
            // FNV-1a with 64 bits.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            sql.utf8.forEach(mix)
            for type in types { for shift in [0, 8, 16, 24] { mix(UInt8(truncatingIfNeeded: type >> UInt32(shift))) } }
            let digits = String(hash, radix: 16)
            return "statement_" + String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    private var names: [Key: String] = [:]

    /// The name of a prepared statement; nil if it is not prepared.
    func name(_ key: Key) -> String? { names[key] }

    mutating func add(_ key: Key, name: String) { names[key] = name }

    /// Forgets a statement that PostgreSQL does not know any more.
    mutating func removeAll() { names = [:] }
}

extension Statement {
    var key: PreparedStatements.Key { PreparedStatements.Key(sql: sql, types: parameters.map(\.type)) }

    /// Calls a function with the parameters as libpq takes them: their number, values, lengths and formats.
    func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        // The extra byte gives an empty value an address. To libpq, a value without an address is a null.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) })
        for parameter in parameters { bytes += parameter.bytes ?? [] }
        bytes.append(0)
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        return bytes.withUnsafeBytes { raw in
            let buffer = raw.bindMemory(to: CChar.self)
            var start = 0
            let values = parameters.map { parameter -> UnsafePointer<CChar>? in
                guard let value = parameter.bytes else { return nil }
                defer { start += value.count }
                return buffer.baseAddress.map { $0 + start }
            }
            return values.withUnsafeBufferPointer { values in
                lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(Int32(parameters.count), values.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
