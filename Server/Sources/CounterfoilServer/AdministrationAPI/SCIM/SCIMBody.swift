import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The JSON object in the body of a SCIM request, whose member names do not distinguish upper and lower case.
struct SCIMBody: Sendable {
    /// The members by their names as they were sent.
    let members: [String: JSONValue]
    private let canonical: [String: JSONValue]

    init(of request: IncomingRequest) throws(ProblemError) {
        try self.init(try request.jsonObject(of: ["application/scim+json", "application/json"]))
    }

    init(_ members: [String: JSONValue]) throws(ProblemError) {
        self.members = members
        canonical = Dictionary(members.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
        guard canonical.count == members.count else {
            throw ProblemError(.invalidSyntax, "A member of the body occurs twice, in upper and lower case.")
        }
    }

    subscript(name: String) -> JSONValue? { canonical[name.lowercased()] }

    /// Throws unless the body has a schema, and no other than the allowed ones (RFC 7643 §3).
    func require(schema: String, allowing others: [String] = []) throws(ProblemError) {
        guard case .array(let values)? = self["schemas"] else {
            throw ProblemError(.invalidSyntax, "schemas: it must be a list with \(schema).")
        }
        let names = Set(values.compactMap { $0.text?.lowercased() })
        let unknown = names.subtracting(([schema] + others).map { $0.lowercased() })
        guard names.count == values.count, unknown.isEmpty, names.contains(schema.lowercased()) else {
            let name = unknown.min().map { "\(EscapedText($0)) is not known." } ?? "It must contain \(schema) once."
            throw ProblemError(.invalidSyntax, "schemas: \(name)")
        }
    }
}

/// The operations of a PATCH request (RFC 7644 §3.5.2).
struct SCIMPatch: Sendable {
    private enum Kind: String { case add, replace, remove }

    private struct Operation: Sendable {
        let kind: Kind
        let path: String?
        let value: JSONValue?
    }

    private static let schema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
    /// The maximum number of operations in a request.
    private static let limit = 100

    private let operations: [Operation]

    init(of request: IncomingRequest) throws(ProblemError) {
        let body = try SCIMBody(of: request)
        try body.require(schema: Self.schema)
        guard case .array(let values)? = body["Operations"], (1...Self.limit).contains(values.count) else {
            throw ProblemError(.invalidSyntax, "Operations: it must be a list of 1 to \(Self.limit) operations.")
        }
        var operations: [Operation] = []
        for (number, value) in values.enumerated() {
            guard case .object(let members) = value else {
                throw ProblemError(.invalidSyntax, "Operations[\(number)]: it must be an object.")
            }
            operations.append(try Self.operation(try SCIMBody(members), number))
        }
        self.operations = operations
    }

    private static func operation(_ body: SCIMBody, _ number: Int) throws(ProblemError) -> Operation {
        guard let kind = body["op"]?.text.flatMap({ Kind(rawValue: $0.lowercased()) }) else {
            throw ProblemError(.invalidSyntax, "Operations[\(number)].op: it must be add, replace or remove.")
        }
        let path: String?
        switch body["path"] {
        case nil, .null?: path = nil
        case .string(let text)?: path = text
        default: throw ProblemError(.invalidPath, "Operations[\(number)].path: it must be a string.")
        }
        return Operation(kind: kind, path: path, value: body["value"])
    }

    /// Applies the operations in their order.
    func apply(to values: inout SCIMUserValues) throws(ProblemError) {
        for (number, operation) in operations.enumerated() {
            switch (operation.kind, operation.path) {
            case (.remove, nil):
                throw ProblemError(.noTarget, "Operations[\(number)].path: remove needs a path.")
            case (.remove, let path?):
                try values.remove(try SCIMPath(parsing: path), operation.value, named: path)
            case (_, let path?):
                let target = try SCIMPath(parsing: path)
                guard target.attribute != .readOnly else {
                    throw ProblemError(.mutability, "\(EscapedText(path)): only the server sets it.")
                }
                guard let value = operation.value else {
                    throw ProblemError(.invalidValue, "Operations[\(number)].value: it is required.")
                }
                try values.set(target, to: value, named: path, isAddition: operation.kind == .add)
            case (_, nil):
                guard case .object(let members)? = operation.value else {
                    throw ProblemError(
                        .invalidValue, "Operations[\(number)].value: without a path, it must be an object.")
                }
                try values.read(members, isAddition: operation.kind == .add)
            }
        }
    }
}
