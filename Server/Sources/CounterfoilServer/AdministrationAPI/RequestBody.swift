import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The parsed body of a request to the administration API.
protocol AdministrationBody: Sendable {
    /// The names of the members; any other member is refused.
    associatedtype Member: RawRepresentable<String> & CaseIterable & Sendable

    /// Reads the members, and notes a problem for each that is refused; nil if a required one cannot be read.
    init?(_ members: inout BodyMembers<Member>)
}

/// The members of a JSON object in a request, and the problems that were found in them.
struct BodyMembers<Member: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
    private let values: [String: JSONValue]
    private(set) var problems: [ProblemDetails.Part] = []

    private init(_ values: [String: JSONValue]) {
        self.values = values
        let known = Set(Member.allCases.map(\.rawValue))
        for name in values.keys.sorted() where !known.contains(name) {
            problems.append(.member(EscapedText(name).description, "The operation has no such member."))
        }
    }

    /// Parses the body of a request; throws 415, 400 or 422.
    static func body<Body: AdministrationBody>(
        of request: IncomingRequest
    ) throws(ProblemError) -> Body where Body.Member == Member {
        let (body, problems): (Body?, _) = parsed(try request.jsonObject())
        guard let body, problems.isEmpty else {
            throw ProblemError(
                .unprocessableContent, "invalid-members", "Members of the body are refused.", parts: problems)
        }
        return body
    }

    /// Parses the members of an object, and returns the problems of those that are refused.
    static func parsed<Body: AdministrationBody>(
        _ values: [String: JSONValue]
    ) -> (body: Body?, problems: [ProblemDetails.Part]) where Body.Member == Member {
        var members = BodyMembers(values)
        let body = Body(&members)
        return (body, members.problems)
    }

    mutating func refuse(_ member: Member, _ detail: String) {
        problems.append(.member(member.rawValue, detail))
    }

    /// Notes a problem of a value below a member.
    mutating func refuse(below member: Member, _ path: [String], _ detail: String) {
        var part = ProblemDetails.Part.member(member.rawValue, detail)
        for name in path {
            part.pointer? += ProblemDetails.Part.member(EscapedText(name).description, "").pointer ?? ""
        }
        problems.append(part)
    }

    /// Returns true if the body has a member, even with null.
    func has(_ member: Member) -> Bool { values[member.rawValue] != nil }

    /// Returns true if the body has a member with null.
    func isNull(_ member: Member) -> Bool { if case .null? = values[member.rawValue] { true } else { false } }

    /// Returns the text of a member; nil if it is absent or null.
    mutating func text(_ member: Member) -> String? {
        switch values[member.rawValue] {
        case nil, .null?: return nil
        case .string(let text)?:
            guard !text.utf8.contains(0), text.utf8.count <= 16_384 else {
                refuse(member, "It must have at most 16384 bytes and no NUL.")
                return nil
            }
            return text
        default:
            refuse(member, "It must be a string.")
            return nil
        }
    }

    /// Returns the text of a member for a draft, whose rules refuse an empty text if there must be one; empty for null,
    /// and nil if the member is absent.
    mutating func draftText(_ name: String) -> String? {
        guard let member = Member(rawValue: name), has(member) else { return nil }
        return text(member) ?? ""
    }

    /// Returns the parsed text of a member; nil if it is absent, null or refused.
    mutating func value<Value>(_ member: Member, rule: String, _ parse: (String) -> Value?) -> Value? {
        guard let text = text(member) else { return nil }
        guard let value = parse(text) else {
            refuse(member, rule)
            return nil
        }
        return value
    }

    /// Returns the parsed text of a required member; nil if it is refused.
    mutating func required<Value>(_ member: Member, rule: String, _ parse: (String) -> Value?) -> Value? {
        let former = problems.count
        let value = value(member, rule: rule, parse)
        if value == nil, problems.count == former { refuse(member, "It is required.") }
        return value
    }

    /// Returns a flag; nil if it is absent or refused, and if it is null and can be.
    mutating func flag(_ member: Member, orNull allowsNull: Bool = false) -> Bool? {
        switch values[member.rawValue] {
        case nil: return nil
        case .null? where allowsNull: return nil
        case .boolean(let flag)?: return flag
        default:
            refuse(member, "It must be true or false.")
            return nil
        }
    }

    /// Returns an integer within a range; nil if it is absent, null or refused.
    mutating func integer(_ member: Member, _ range: ClosedRange<Int>) -> Int? {
        switch values[member.rawValue] {
        case nil, .null?: return nil
        case .integer(let number)?:
            if let number = Int(exactly: number), range.contains(number) { return number }
            fallthrough
        default:
            refuse(member, "It must be an integer from \(range.lowerBound) to \(range.upperBound).")
            return nil
        }
    }

    /// Returns a list of texts; nil if it is absent, null or refused.
    mutating func texts(_ member: Member, atMost limit: Int = 100) -> [String]? {
        switch values[member.rawValue] {
        case nil, .null?: return nil
        case .array(let values)?:
            let texts = values.compactMap(\.text)
            if texts.count == values.count, texts.count <= limit, !texts.contains(where: { $0.utf8.contains(0) }) {
                return texts
            }
            fallthrough
        default:
            refuse(member, "It must be an array of at most \(limit) strings.")
            return nil
        }
    }

    /// Returns a list of objects; nil if it is absent, null or refused.
    mutating func objects(_ member: Member, atMost limit: Int) -> [[String: JSONValue]]? {
        switch values[member.rawValue] {
        case nil, .null?: return nil
        case .array(let values)?:
            let objects = values.compactMap { if case .object(let members) = $0 { members } else { nil } }
            if objects.count == values.count, objects.count <= limit { return objects }
            fallthrough
        default:
            refuse(member, "It must be an array of at most \(limit) objects.")
            return nil
        }
    }

    /// Returns the members of an object that are changed one by one; nil if it is absent or refused.
    mutating func parts(_ member: Member) -> [String: JSONValue]? {
        if isNull(member) { refuse(member, "It cannot be removed as a whole.") }
        return object(member)
    }

    /// Returns an object; nil if it is absent, null or refused.
    mutating func object(_ member: Member) -> [String: JSONValue]? {
        switch values[member.rawValue] {
        case nil, .null?: return nil
        case .object(let members)?: return members
        default:
            refuse(member, "It must be an object.")
            return nil
        }
    }
}

extension IncomingRequest {
    /// Returns the members of the JSON object in the body; throws 415 or 400.
    ///
    /// - Parameter types: The content types that the operation accepts.
    func jsonObject(of types: [String] = ["application/json"]) throws(ProblemError) -> [String: JSONValue] {
        guard hasJSONBody(of: types) else {
            let names = types.joined(separator: " or ")
            throw ProblemError(
                .unsupportedMediaType, "no-json", "The body must be JSON, with the content type \(names).",
                parts: [.header("Content-Type", "It must be \(names), in UTF-8.")])
        }
        do { return try JSONReader.object(body) } catch {
            throw ProblemError(
                .badRequest, "malformed-json",
                "The body must be one JSON object in UTF-8, with distinct members and at most 16 levels.")
        }
    }

    private func hasJSONBody(of accepted: [String]) -> Bool {
        let types = head.headerFields[values: .contentType]
        guard types.count == 1 else { return false }
        let parts = types[0].lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        return parts.first.map(accepted.contains) == true
            && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" || $0 == "charset=\"utf-8\"" }
    }
}

/// The query of a request to the administration API: each parameter once, and none that the operation does not have.
struct QueryValues: Sendable {
    private let values: [String: String]

    init(_ query: String, allowing names: [String]) throws(ProblemError) {
        var values: [String: String] = [:]
        let pairs: [FormParameters.Pair]
        do { pairs = try FormParameters(parsing: query).pairs } catch {
            throw ProblemError(.badRequest, "malformed-query", "The query is malformed: \(error)")
        }
        var problems: [ProblemDetails.Part] = []
        for pair in pairs {
            let name = EscapedText(pair.name).description
            if !names.contains(pair.name) {
                problems.append(.parameter(name, "The operation has no such parameter."))
            } else if values.updateValue(pair.value, forKey: pair.name) != nil {
                problems.append(.parameter(name, "It must occur once."))
            } else if pair.value.utf8.contains(0) {
                problems.append(.parameter(name, "It must not contain NUL."))
            }
        }
        guard problems.isEmpty else { throw .refusedParameters(problems) }
        self.values = values
    }

    /// Returns the text of a parameter; nil if it is absent.
    func text(_ name: String) -> String? { values[name] }

    /// Returns the parsed text of a parameter; nil if it is absent; throws 400 if it is refused.
    func value<Value>(_ name: String, rule: String, _ parse: (String) -> Value?) throws(ProblemError) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = parse(text) else { throw .refusedParameters([.parameter(name, rule)]) }
        return value
    }

    /// Returns a parameter that is true or false; nil if it is absent.
    func flag(_ name: String) throws(ProblemError) -> Bool? {
        try value(name, rule: "It must be true or false.") { ["true": true, "false": false][$0] }
    }

    /// Returns the number of items of a page, 1 to 200.
    func limit() throws(ProblemError) -> Int {
        try value("limit", rule: "It must be an integer from 1 to 200.") { text in
            text.utf8.count <= 3 ? Int(text).flatMap { (1...200).contains($0) ? $0 : nil } : nil
        } ?? 50
    }

    /// The filter of a list: every parameter but those of the page.
    var filter: [String: String] { values.filter { $0.key != "cursor" && $0.key != "limit" } }
}

extension ProblemError {
    static func refusedParameters(_ parts: [ProblemDetails.Part]) -> ProblemError {
        ProblemError(.badRequest, "invalid-parameters", "Parameters of the query are refused.", parts: parts)
    }
}
