import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// A filter of users (RFC 7644 §3.4.2.2), as far as directories send it: `eq`, connected by `and`.
struct SCIMFilter: Sendable, Hashable {
    /// A condition on a value of `emails`.
    ///
    /// A user has at most one, which is the primary one, of the type `work`.
    enum Email: Sendable, Hashable {
        case value(String)
        case type(String)
        case primary(Bool)

        func matches(_ email: EmailAddress) -> Bool {
            if case .value(let text) = self { EmailAddress(text) == email } else { matchesEveryAddress }
        }

        /// Whether the condition is true for the address of each user who has one.
        var matchesEveryAddress: Bool {
            switch self {
            case .value: false
            case .type(let type): type.lowercased() == "work"
            case .primary(let flag): flag
            }
        }
    }

    /// A comparison of an attribute by `eq`.
    enum Comparison: Sendable, Hashable {
        case id(String)
        case userName(String)
        case externalID(String)
        case email(Email)
        case active(Bool)
    }

    /// The maximum length of a filter in bytes.
    static let lengthLimit = 2048
    /// The maximum depth of parentheses.
    static let depthLimit = 8

    /// The comparisons, each of which must be true.
    let comparisons: [Comparison]

    init(parsing text: String) throws(ProblemError) {
        var reader = SCIMFilterReader(text, failingWith: .invalidFilter)
        comparisons = try reader.readComparisons(depth: 0)
        try reader.end()
    }

    /// Returns true if each comparison is true for a user.
    func matches(_ user: User) -> Bool {
        comparisons.allSatisfy { comparison in
            switch comparison {
            case .id(let text): user.id.rawValue == text
            case .userName(let text): Username(text) == user.username
            case .externalID(let text): user.externalID?.rawValue == text
            case .email(let condition): user.email.map(condition.matches) == true
            case .active(let flag): (user.disabledAt == nil) == flag
            }
        }
    }
}

/// A reader of the texts of filters and paths (RFC 7644 §3.4.2.2, §3.5.2).
///
/// It has no recursion beyond ``SCIMFilter/depthLimit``.
struct SCIMFilterReader {
    private let bytes: [UInt8]
    private var position = 0
    private let type: SCIMErrorType
    private var comparisonCount = 0

    init(_ text: String, failingWith type: SCIMErrorType) {
        bytes = Array(text.utf8)
        self.type = type
    }

    func refusal(_ detail: String) -> ProblemError { ProblemError(type, detail) }

    private func unexpected() -> ProblemError {
        refusal("The text is malformed at byte \(position + 1). The server knows eq, and, parentheses, and emails[…].")
    }

    /// Reads comparisons that are connected by `and`.
    mutating func readComparisons(depth: Int) throws(ProblemError) -> [SCIMFilter.Comparison] {
        guard bytes.count <= SCIMFilter.lengthLimit else {
            throw refusal("A filter has at most \(SCIMFilter.lengthLimit) bytes.")
        }
        guard depth <= SCIMFilter.depthLimit else {
            throw refusal("A filter has at most \(SCIMFilter.depthLimit) levels of parentheses.")
        }
        var found: [SCIMFilter.Comparison] = []
        repeat {
            skipSpaces()
            if take("(") {
                found += try readComparisons(depth: depth + 1)
                guard take(")") else { throw unexpected() }
            } else {
                found += try readComparison()
            }
            skipSpaces()
        } while takeWord("and")
        return found
    }

    private mutating func readComparison() throws(ProblemError) -> [SCIMFilter.Comparison] {
        let name = try readName()
        let canonical = SCIMAttribute.canonical(name)
        if canonical == "emails", take("[") {
            let conditions = try readEmailConditions()
            guard take(".") else { return conditions.map { .email($0) } }
            let part = SCIMAttribute.canonical("emails." + (try readName()))
            return conditions.map { .email($0) } + [try readComparison(of: part)]
        }
        return [try readComparison(of: canonical)]
    }

    private mutating func readComparison(of name: String) throws(ProblemError) -> SCIMFilter.Comparison {
        switch name {
        case "id": return .id(try readText())
        case "username": return .userName(try readText())
        case "externalid": return .externalID(try readText())
        case "emails", "emails.value": return .email(.value(try readText()))
        case "emails.type": return .email(.type(try readText()))
        case "emails.primary": return .email(.primary(try readFlag()))
        case "active": return .active(try readFlag())
        default:
            throw refusal(
                "\(EscapedText(name)): a filter can compare id, userName, externalId, emails.value, emails.type and "
                    + "active.")
        }
    }

    /// Reads conditions on a value of `emails` up to the closing bracket.
    mutating func readEmailConditions() throws(ProblemError) -> [SCIMFilter.Email] {
        guard bytes.count <= SCIMFilter.lengthLimit else {
            throw refusal("A path has at most \(SCIMFilter.lengthLimit) bytes.")
        }
        var conditions: [SCIMFilter.Email] = []
        repeat {
            skipSpaces()
            let name = SCIMAttribute.canonical(try readName())
            guard ["value", "type", "primary"].contains(name) else {
                throw refusal("\(EscapedText(name)): emails can be compared by value, type and primary.")
            }
            guard case .email(let condition) = try readComparison(of: "emails." + name) else { throw unexpected() }
            conditions.append(condition)
            skipSpaces()
        } while takeWord("and")
        guard take("]") else { throw unexpected() }
        return conditions
    }

    /// Reads the name of an attribute, with or without the URN of its schema.
    mutating func readName() throws(ProblemError) -> String {
        let begin = position
        while position < bytes.count, Self.isOfName(bytes[position]) { position += 1 }
        guard position > begin else { throw unexpected() }
        return String(decoding: bytes[begin..<position], as: UTF8.self)
    }

    /// Consumes a character if it is the next one.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Throws unless the whole text was read.
    mutating func end() throws(ProblemError) {
        skipSpaces()
        guard position == bytes.count else { throw unexpected() }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: "$"):
            true
        default: false
        }
    }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    }

    /// Consumes a word, in any case, that a space or a bracket follows.
    private mutating func takeWord(_ word: String) -> Bool {
        let end = position + word.utf8.count
        guard end <= bytes.count, String(decoding: bytes[position..<end], as: UTF8.self).lowercased() == word,
            end == bytes.count || !Self.isOfName(bytes[end])
        else { return false }
        position = end
        return true
    }

    /// Reads `eq` and the string after it.
    private mutating func readText() throws(ProblemError) -> String {
        try readOperator()
        return try readString()
    }

    /// Reads `eq` and the boolean after it, which a directory can send as a string.
    private mutating func readFlag() throws(ProblemError) -> Bool {
        try readOperator()
        let word = position < bytes.count && bytes[position] == UInt8(ascii: "\"") ? try readString() : try readName()
        guard let flag = ["true": true, "false": false][word.lowercased()] else { throw unexpected() }
        return flag
    }

    private mutating func readOperator() throws(ProblemError) {
        comparisonCount += 1
        guard comparisonCount <= 16 else { throw refusal("A filter has at most 16 comparisons.") }
        skipSpaces()
        guard takeWord("eq") else { throw refusal("The server compares by eq only, at byte \(position + 1).") }
        skipSpaces()
    }

    /// Reads a string in the form of JSON (RFC 7644 §3.4.2.2).
    private mutating func readString() throws(ProblemError) -> String {
        let begin = position
        guard take("\"") else { throw unexpected() }
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else { throw refusal("A string of the filter has no end.") }
        position += 1
        let json = Array(#"{"value":"#.utf8) + bytes[begin..<position] + [UInt8(ascii: "}")]
        guard let text = (try? JSONReader.object(json))?["value"]?.text, !text.utf8.contains(0) else {
            throw refusal("A string of the filter is malformed, or contains NUL.")
        }
        return text
    }
}
