@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) package import CounterfoilTokens
public import Foundation

/// The name of a group of users, which the owner of the server chooses: 1 to 64 visible characters on one line.
///
/// The name is composed (NFC), without white space around it, so that two names that look the same are the same.
public struct GroupName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The maximum length in characters.
    public static let limit = 64

    /// The name.
    public let rawValue: String

    /// Parses a name as typed; nil if it is not valid.
    public init?(_ typed: String) {
        let name = typed.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard (1...Self.limit).contains(name.count), name.utf8.count <= 4 * Self.limit,
            name.hasNone(of: [.format])
        else { return nil }
        rawValue = name
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }

    /// Compares two names by their bytes.
    public static func < (first: GroupName, second: GroupName) -> Bool {
        first.rawValue.utf8.lexicographicallyPrecedes(second.rawValue.utf8)
    }
}

/// The value of an attribute of a user.
public enum AttributeValue: Sendable, Hashable {
    /// A text without control characters.
    case text(String)
    /// A whole number whose absolute value is less than 2^53, so that every JSON parser reads it (RFC 7493 §2.2).
    case integer(Int64)
    /// True or false.
    case flag(Bool)
    /// A list of texts without control characters.
    case texts([String])

    /// The maximum absolute value of a number.
    private static let integerLimit: Int64 = 1 << 53 - 1

    /// Creates a value from JSON; nil for an object, null, a fraction, a number out of range, a list of anything but
    /// strings, and a string with a control character.
    package init?(_ json: JSONValue) {
        switch json {
        case .string(let text) where text.hasNone(): self = .text(text)
        case .integer(let integer) where integer.magnitude <= Self.integerLimit: self = .integer(integer)
        case .boolean(let flag): self = .flag(flag)
        case .array(let values):
            guard let texts = json.texts, texts.count == values.count, texts.allSatisfy({ $0.hasNone() })
            else { return nil }
            self = .texts(texts)
        case .string, .integer, .number, .object, .null: return nil
        }
    }

    /// Parses a JSON text; nil if it is malformed or not the text of a value.
    package init?(json text: String) {
        // The reader takes an object, and limits its depth.
        guard let member = try? JSONReader.object(Array("{\"value\":\(text)}".utf8)), member.count == 1,
            let value = member["value"]
        else { return nil }
        self.init(value)
    }

    /// The value in the tokens and responses of the server.
    package var claim: UserClaims.Value {
        switch self {
        case .text(let text): .text(text)
        case .integer(let integer): .integer(integer)
        case .flag(let flag): .flag(flag)
        case .texts(let texts): .texts(texts)
        }
    }

    /// The value as JSON text.
    package var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            switch self {
            case .text(let text): writer.member("", text)
            case .integer(let integer): writer.member("", integer)
            case .flag(let flag): writer.member("", flag)
            case .texts(let texts): writer.member("", list: { writer in for text in texts { writer.element(text) } })
            }
        }
        // The member without its braces and its name, which is `"":`.
        return String(decoding: writer.bytes.dropFirst(4).dropLast(), as: UTF8.self)
    }
}

extension AttributeValue: Encodable {
    /// Encodes the value as JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .flag(let flag): try container.encode(flag)
        case .texts(let texts): try container.encode(texts)
        }
    }
}

/// The groups and attributes that the owner of the server has given to a user.
///
/// A scope of the owner releases them as claims (``ReleasedClaims``).
public struct UserAttributes: Sendable, Hashable {
    /// The maximum number of groups of a user.
    public static let groupLimit = 100
    /// The maximum number of attributes of a user.
    public static let attributeLimit = 32
    /// The maximum size of all attributes of a user as one JSON object, in bytes.
    public static let byteLimit = 4096

    /// The groups.
    public let groups: Set<GroupName>
    /// The attributes by name; none has the name ``ClaimName/groups``.
    public let values: [ClaimName: AttributeValue]

    /// The reason why groups and attributes are refused.
    public enum Refusal: Error, Sendable, Hashable {
        /// There are more groups than ``UserAttributes/groupLimit``.
        case tooManyGroups
        /// There are more attributes than ``UserAttributes/attributeLimit``.
        case tooManyAttributes
        /// The attributes are larger than ``UserAttributes/byteLimit``.
        case tooLarge
        /// An attribute has the name `groups`, which is the claim of the groups.
        case nameOfGroups
    }

    /// Creates the attributes of a user without any.
    public init() { (groups, values) = ([], [:]) }

    /// Creates attributes; throws if they are more than a user can have.
    public init(groups: Set<GroupName>, values: [ClaimName: AttributeValue]) throws(Refusal) {
        guard groups.count <= Self.groupLimit else { throw .tooManyGroups }
        guard values.count <= Self.attributeLimit else { throw .tooManyAttributes }
        guard values[.groups] == nil else { throw .nameOfGroups }
        self.groups = groups
        self.values = values
        guard json.utf8.count <= Self.byteLimit else { throw .tooLarge }
    }

    /// Whether there is neither a group nor an attribute.
    public var isEmpty: Bool { groups.isEmpty && values.isEmpty }

    /// The attributes as a JSON object, sorted by name.
    package var json: String {
        let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }
        return "{" + members.joined(separator: ",") + "}"
    }
}

/// The groups and attributes of users.
///
/// They are in tables of their own, which are read only for a client that gets some of them.
public protocol UserAttributeStore: Sendable {
    /// Reads the groups and attributes of a user; empty for a user who has none or does not exist.
    func attributes(of user: UserIdentifier) async throws(StoreFault) -> UserAttributes
    /// Replaces the groups and attributes of a user, if they still equal `former`, and the user has the required role.
    ///
    /// ``User/changedAt`` becomes `time`. A group that the user loses, and the former value of an attribute, count as
    /// access that ends: after a restore of an earlier copy, the user has neither.
    ///
    /// The outcome is never ``UpdateUserOutcome/emailTaken``.
    func replaceAttributes(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, from former: UserAttributes,
        by attributes: UserAttributes, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome
}

extension UserAttributeStore {
    /// Replaces the groups and attributes of a user with any role, if they still equal `former`.
    package func replaceAttributes(
        of user: UserIdentifier, from former: UserAttributes, by attributes: UserAttributes, at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome {
        try await replaceAttributes(
            of: user, requiredRole: nil, from: former, by: attributes, at: time, recording: events)
    }
}

extension String {
    /// Returns true if the text has no control character, no line break, and no character of some categories.
    fileprivate func hasNone(of categories: Set<Unicode.GeneralCategory> = []) -> Bool {
        let refused = categories.union([.control, .lineSeparator, .paragraphSeparator])
        return !unicodeScalars.contains { refused.contains($0.properties.generalCategory) }
    }
}
