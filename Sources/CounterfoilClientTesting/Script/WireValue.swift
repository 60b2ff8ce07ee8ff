/// A JSON value in a script, or text that need not be valid JSON (``raw(_:)``).
///
/// An object can contain several members of the same name. ``written`` keeps the order of the members.
public indirect enum WireValue: Sendable, Hashable {
    /// A string, in which the server replaces `{origin}`, `{issuer}` and `{sibling}`.
    ///
    /// The server does not replace these placeholders in signed UserInfo responses or in objects inside an ID token.
    case text(String)
    /// An integer; use ``raw(_:)`` to write any other JSON number.
    case number(Int)
    /// JSON `true` or `false`.
    case boolean(Bool)
    /// JSON `null`.
    case null
    /// A JSON array, whose elements can have different types.
    case list([WireValue])
    /// A JSON object, in which several members can have the same name.
    case object([WireMember])
    /// Text that is written unchanged, whether or not it is valid JSON.
    ///
    /// Do not use it in a signed token, where it would become an object with the member `$raw`.
    case raw(String)

    /// The JSON text of the value.
    public var written: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): "\(number)"
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        case .list(let values): "[\(values.map(\.written).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.name)):\($0.value.written)" }.joined(separator: ","))}"
        case .raw(let text): text
        }
    }

    /// The value of the last member with this name; nil if there is none or the value is not an object.
    public subscript(name: String) -> WireValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    private static func quoted(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": written += "\\\""
            case "\\": written += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }
}

/// A name with a value: a member of a JSON object, or a response parameter.
public struct WireMember: Sendable, Hashable, Codable {
    /// The name, which several members of an object can share.
    public var name: String
    /// The value; a response parameter whose value is not a string contains the JSON text of the value.
    public var value: WireValue

    /// Creates a member; the value can be a literal.
    public init(_ name: String, _ value: WireValue) {
        self.name = name
        self.value = value
    }
}

extension WireValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates ``text(_:)`` from a string literal.
    public init(stringLiteral text: String) { self = .text(text) }
    /// Creates ``number(_:)`` from an integer literal.
    public init(integerLiteral number: Int) { self = .number(number) }
    /// Creates ``boolean(_:)`` from a Boolean literal.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates ``list(_:)`` from an array literal.
    public init(arrayLiteral values: WireValue...) { self = .list(values) }
    /// Creates ``object(_:)`` from a dictionary literal, which can contain several members of the same name.
    public init(dictionaryLiteral members: (String, WireValue)...) {
        self = .object(members.map { WireMember($0.0, $0.1) })
    }
}

extension WireValue: Codable {
    private struct Name: CodingKey {
        static let raw = Name(stringValue: "$raw")

        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes any JSON value; an object with the single member `$raw` becomes ``raw(_:)``.
    ///
    /// The members of other objects are sorted by name, because a decoder does not report their order.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            if object.allKeys.map(\.stringValue) == [Name.raw.stringValue] {
                self = .raw(try object.decode(String.self, forKey: .raw))
            } else {
                let names = object.allKeys.sorted { $0.stringValue < $1.stringValue }
                self = .object(
                    try names.map { WireMember($0.stringValue, try object.decode(WireValue.self, forKey: $0)) })
            }
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([WireValue].self) {
            self = .list(list)
        } else {
            self = .raw("\(try value.decode(Double.self))")
        }
    }

    /// Encodes the value; if an object contains several members of the same name, only the last one is encoded.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var object = encoder.container(keyedBy: Name.self)
            for member in members { try object.encode(member.value, forKey: Name(stringValue: member.name)) }
        case .raw(let text):
            var object = encoder.container(keyedBy: Name.self)
            try object.encode(text, forKey: .raw)
        case .list(let values):
            var value = encoder.singleValueContainer()
            try value.encode(values)
        case .text(let text):
            var value = encoder.singleValueContainer()
            try value.encode(text)
        case .number(let number):
            var value = encoder.singleValueContainer()
            try value.encode(number)
        case .boolean(let boolean):
            var value = encoder.singleValueContainer()
            try value.encode(boolean)
        case .null:
            var value = encoder.singleValueContainer()
            try value.encodeNil()
        }
    }
}

extension [WireMember] {
    /// Removes the members named in `names`, then applies `replacements`, and returns the result.
    ///
    /// A replacement takes the position of the first member of its name. If there is none, the
    /// replacement is appended.
    func changed(replacing replacements: [WireMember], omitting names: [String]) -> [WireMember] {
        var members = filter { !names.contains($0.name) }
        for replacement in replacements {
            if let index = members.firstIndex(where: { $0.name == replacement.name }) {
                members[index] = replacement
            } else {
                members.append(replacement)
            }
        }
        return members
    }

    /// Appends a member if the value is not nil.
    mutating func append(_ name: String, _ value: WireValue?) {
        if let value { append(WireMember(name, value)) }
    }
}
