@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The parameters of a query (RFC 7644 §3.4.2, §3.9), in the URL or in the body of a search.
///
/// Sorting is not supported, so `sortBy` is ignored, as every other parameter is.
struct SCIMQuery: Sendable {
    /// The maximum number of users in a response.
    static let countLimit = 200
    private static let standardCount = 100
    private static let names: Set = ["filter", "startIndex", "count", "attributes", "excludedAttributes"]
    private static let searchSchema = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"

    let filter: SCIMFilter?
    /// The number of the first user to return, beginning with 1.
    let startIndex: Int
    /// The maximum number of users to return.
    let count: Int
    let projection: SCIMProjection

    /// Reads the parameters of a URL.
    init(_ request: IncomingRequest) throws(ProblemError) {
        let pairs: [FormParameters.Pair]
        do { pairs = try FormParameters(parsing: request.query).pairs } catch {
            throw ProblemError(.invalidValue, "The query is malformed: \(error)")
        }
        var values: [String: String] = [:]
        for pair in pairs where Self.names.contains(pair.name) {
            guard values.updateValue(pair.value, forKey: pair.name) == nil else {
                throw ProblemError(.invalidValue, "\(pair.name): the parameter must occur once.")
            }
        }
        func list(_ name: String) -> [String]? { values[name]?.split(separator: ",").map { $0.trimmingWhitespace() } }
        try self.init(
            filter: values["filter"], startIndex: try Self.number(values["startIndex"], "startIndex"),
            count: try Self.number(values["count"], "count"), attributes: list("attributes"),
            excluded: list("excludedAttributes"))
    }

    /// Reads the body of a search (RFC 7644 §3.4.3).
    init(searching request: IncomingRequest) throws(ProblemError) {
        let body = try SCIMBody(of: request)
        try body.require(schema: Self.searchSchema)
        func number(_ name: String) throws(ProblemError) -> Int? {
            switch body[name] {
            case nil, .null?: return nil
            case .integer(let number)?: return Int(clamping: number)
            default: throw ProblemError(.invalidValue, "\(name): it must be an integer.")
            }
        }
        func list(_ name: String) throws(ProblemError) -> [String]? {
            switch body[name] {
            case nil, .null?: return nil
            case .array(let values)? where values.allSatisfy({ $0.text != nil }): return values.compactMap(\.text)
            default: throw ProblemError(.invalidValue, "\(name): it must be a list of strings.")
            }
        }
        let filter: String?
        switch body["filter"] {
        case nil, .null?: filter = nil
        case .string(let text)?: filter = text
        default: throw ProblemError(.invalidFilter, "filter: it must be a string.")
        }
        try self.init(
            filter: filter, startIndex: try number("startIndex"), count: try number("count"),
            attributes: try list("attributes"), excluded: try list("excludedAttributes"))
    }

    private init(
        filter: String?, startIndex: Int?, count: Int?, attributes: [String]?, excluded: [String]?
    ) throws(ProblemError) {
        self.filter = if let filter, !filter.isEmpty { try SCIMFilter(parsing: filter) } else { nil }
        // RFC 7644 §3.4.2.4: a lower value counts as the lowest one.
        self.startIndex = max(1, startIndex ?? 1)
        self.count = min(max(0, count ?? Self.standardCount), Self.countLimit)
        projection = try SCIMProjection(attributes: attributes, excluded: excluded)
    }

    private static func number(_ text: String?, _ name: String) throws(ProblemError) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= 18, let number = Int(text) else {
            throw ProblemError(.invalidValue, "\(name): it must be an integer of at most 18 digits.")
        }
        return number
    }
}

/// The attributes of a resource that a client asks for (RFC 7644 §3.9).
enum SCIMProjection: Sendable, Hashable {
    case everything
    case only(Set<String>)
    case without(Set<String>)

    /// The maximum number of names in a request.
    private static let limit = 100
    /// The attributes that a response always has.
    private static let always: Set<String> = ["schemas", "id"]

    init(attributes: [String]?, excluded: [String]?) throws(ProblemError) {
        let attributes = attributes.flatMap { $0.isEmpty ? nil : $0 }
        let excluded = excluded.flatMap { $0.isEmpty ? nil : $0 }
        guard attributes == nil || excluded == nil else {
            throw ProblemError(.invalidValue, "attributes: it cannot be combined with excludedAttributes.")
        }
        guard let names = attributes ?? excluded else {
            self = .everything
            return
        }
        guard names.count <= Self.limit else {
            throw ProblemError(.invalidValue, "attributes: a request can name \(Self.limit) at most.")
        }
        let canonical = Set(names.map { SCIMAttribute.canonical($0) })
        self = attributes == nil ? .without(canonical) : .only(canonical)
    }

    /// Returns the attributes of a resource that the client gets.
    func applied(to members: [String: JSONValue], below parent: String = "") -> [String: JSONValue] {
        members.reduce(into: [:]) { kept, member in
            let name = parent + member.key.lowercased()
            switch self {
            case .everything: kept[member.key] = member.value
            case .only(let names):
                if names.contains(name) || parent.isEmpty && Self.always.contains(name) {
                    kept[member.key] = member.value
                } else if names.contains(where: { $0.hasPrefix(name + ".") }) {
                    kept[member.key] = part(of: member.value, name)
                }
            case .without(let names):
                if parent.isEmpty, Self.always.contains(name) {
                    kept[member.key] = member.value
                } else if !names.contains(name) {
                    kept[member.key] = part(of: member.value, name)
                }
            }
        }
    }

    /// Returns what the client gets of a value; nil if that is nothing.
    private func part(of value: JSONValue, _ name: String) -> JSONValue? {
        switch value {
        case .object(let members):
            let kept = applied(to: members, below: name + ".")
            return kept.isEmpty ? nil : .object(kept)
        case .array(let values):
            let kept = values.compactMap { part(of: $0, name) }
            return kept.isEmpty ? nil : .array(kept)
        default: return value
        }
    }
}
