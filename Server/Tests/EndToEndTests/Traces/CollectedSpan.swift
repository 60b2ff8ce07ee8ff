/// A span as a collector gets it.
struct CollectedSpan: Sendable {
    var traceID = ""
    var spanID = ""
    /// The identifier of the parent; empty without one.
    var parentID = ""
    var name = ""
    var attributes: [String: String] = [:]
    var eventCount = 0
    var linkCount = 0
    var state = ""
    var isError = false
}

/// The content of a post to a collector (`ExportTraceServiceRequest` of OTLP 1.7).
struct PostedSpans: Sendable {
    private(set) var spans: [CollectedSpan] = []
    private(set) var resource: [String: String] = [:]

    init(_ bytes: [UInt8]) throws {
        for field in try ProtobufField.fields(of: bytes) where field.number == 1 {
            for part in try ProtobufField.fields(of: try field.bytes) {
                switch part.number {
                case 1:
                    for attribute in try ProtobufField.fields(of: try part.bytes) where attribute.number == 1 {
                        let (name, value) = try Self.attribute(try attribute.bytes)
                        resource[name] = value
                    }
                case 2:
                    for span in try ProtobufField.fields(of: try part.bytes) where span.number == 2 {
                        spans.append(try Self.span(try span.bytes))
                    }
                default: break
                }
            }
        }
    }

    private static func span(_ bytes: [UInt8]) throws -> CollectedSpan {
        var span = CollectedSpan()
        for field in try ProtobufField.fields(of: bytes) {
            switch field.number {
            case 1: span.traceID = hex(try field.bytes)
            case 2: span.spanID = hex(try field.bytes)
            case 3: span.state = try field.text
            case 4: span.parentID = hex(try field.bytes)
            case 5: span.name = try field.text
            case 9:
                let (name, value) = try attribute(try field.bytes)
                span.attributes[name] = value
            case 11: span.eventCount += 1
            case 13: span.linkCount += 1
            case 15:
                let status = try ProtobufField.fields(of: try field.bytes)
                span.isError = status.contains { $0.number == 3 && $0.value == .number(2) }
            default: break
            }
        }
        return span
    }

    private static func attribute(_ bytes: [UInt8]) throws -> (name: String, value: String) {
        var attribute = (name: "", value: "")
        for field in try ProtobufField.fields(of: bytes) {
            if field.number == 1 { attribute.name = try field.text }
            guard field.number == 2, let value = try ProtobufField.fields(of: try field.bytes).first else { continue }
            attribute.value =
                switch (value.number, value.value) {
                case (1, .bytes(let text)): String(decoding: text, as: UTF8.self)
                case (4, .number(let bits)): "\(Double(bitPattern: bits))"
                case (_, .number(let number)): "\(number)"
                default: throw ProtobufField.Malformed()
                }
        }
        return attribute
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// A field of a message in the binary format of Protocol Buffers.
struct ProtobufField: Sendable {
    enum Value: Sendable, Equatable {
        /// A number of any length, as its bits.
        case number(UInt64)
        case bytes([UInt8])
    }

    struct Malformed: Error {}

    let number: UInt64
    let value: Value

    var bytes: [UInt8] {
        get throws {
            guard case .bytes(let bytes) = value else { throw Malformed() }
            return bytes
        }
    }

    var text: String { get throws { String(decoding: try bytes, as: UTF8.self) } }

    static func fields(of bytes: [UInt8]) throws -> [ProtobufField] {
        var rest = bytes[...]
        var fields: [ProtobufField] = []
        while !rest.isEmpty {
            let key = try variable(&rest)
            let value: Value =
                switch key & 7 {
                case 0: .number(try variable(&rest))
                case 1: .number(try fixed(8, &rest))
                case 2: .bytes(Array(try take(Int(truncatingIfNeeded: try variable(&rest)), &rest)))
                case 5: .number(try fixed(4, &rest))
                default: throw Malformed()
                }
            fields.append(ProtobufField(number: key >> 3, value: value))
        }
        return fields
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        guard (0...rest.count).contains(count) else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private static func fixed(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        try take(count, &rest).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func variable(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw Malformed() }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw Malformed()
    }
}
