import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The OpenAPI document of the administration API, compared with the operations of the server.
struct OpenAPIDocumentTests {
    /// A part of the document, in which references are followed.
    private struct Node {
        let value: Any
        let root: [String: Any]

        init(_ value: Any, in root: [String: Any]) throws {
            self.root = root
            guard let reference = (value as? [String: Any])?["$ref"] as? String else {
                self.value = value
                return
            }
            var found: Any = root
            for name in reference.dropFirst(2).split(separator: "/") {
                found = try #require((found as? [String: Any])?[String(name)], "\(reference)")
            }
            self.value = found
        }

        /// Returns the part at a path of names; fails the test if there is none.
        func callAsFunction(_ names: String...) throws -> Node {
            var node = self
            for name in names {
                node = try Node(try #require((node.value as? [String: Any])?[name], "\(name)"), in: root)
            }
            return node
        }

        /// Returns the part with a name; nil if there is none.
        func optional(_ name: String) throws -> Node? {
            try (value as? [String: Any])?[name].map { try Node($0, in: root) }
        }

        var names: [String] { ((value as? [String: Any]) ?? [:]).keys.sorted() }
        var list: [Node] { get throws { try ((value as? [Any]) ?? []).map { try Node($0, in: root) } } }
        var text: String? { value as? String }
    }

    private static func document(_ configure: (inout ServerSettings) -> Void = { _ in }) async throws -> Node {
        let desk = try await AdministrationDesk(configure: configure)
        let root = try await desk.send(.get, "/openapi.json").members
        return try Node(root, in: root)
    }

    @Test func `the document has every operation, and no other`() async throws {
        let document = try await Self.document()
        var described: [String] = []
        for path in try document("paths").names {
            for method in try document("paths", path).names {
                described.append("\(method) \(path) \(try document("paths", path, method, "operationId").text ?? "")")
            }
        }
        let operations = AdministrationOperation.all.map { "\($0.method.rawValue.lowercased()) \($0.path) \($0.id)" }
        #expect(described.sorted() == operations.sorted())
        #expect(Set(AdministrationOperation.all.map(\.id)).count == operations.count)
    }

    @Test(arguments: AdministrationOperation.all.map(\.id))
    func `an operation has the scope, the parameters and the members of its description`(_ id: String) async throws {
        let operation = try #require(AdministrationOperation.all.first { $0.id == id })
        let document = try await Self.document()
        let described = try document("paths", operation.path, operation.method.rawValue.lowercased())
        let security = try #require(described.optional("security")?.value as? [[String: [String]]])
        #expect(security == [["oauth": [try #require(operation.right.scope).rawValue]]])

        var parameters: [String: [String]] = [:]
        for parameter in try described.optional("parameters")?.list ?? [] {
            let place = try #require(try parameter("in").text)
            let name = try #require(try parameter("name").text)
            parameters[place, default: []].append(name)
            let isRequired = try parameter.optional("required")?.value as? Bool ?? false
            if name == "If-Match" { #expect(isRequired == operation.isConditional) }
        }
        let segments = operation.path.matches(of: /\{(\w+)\}/).map { String($0.output.1) }
        #expect(parameters["path"] ?? [] == segments)
        #expect((parameters["query"] ?? []).sorted() == operation.query.sorted())
        let headers =
            (operation.acceptsIfMatch ? ["If-Match"] : []) + (operation.isCreation ? ["Idempotency-Key"] : [])
        #expect(parameters["header"] ?? [] == headers)

        let body = try described.optional("requestBody")
        #expect((body != nil) == (operation.body != nil))
        if let body, let members = operation.body {
            let schema = try body("content", "application/json", "schema")
            #expect(try schema("properties").names == members.sorted())
            #expect(try schema("additionalProperties").value as? Bool == false)
        }
        try Self.expectAnswer(of: operation, in: described)
    }

    private static func expectAnswer(of operation: AdministrationOperation, in described: Node) throws {
        let answer = try described("responses", "\(operation.status.code)")
        switch operation.document {
        case .none: #expect(try answer.optional("content") == nil)
        case .object(let members):
            #expect(
                try answer("content", "application/json", "schema", "properties").names == members.sorted())
        case .list(let members):
            let page = try answer("content", "application/json", "schema", "properties")
            #expect(page.names == ["items", "next"])
            #expect(try page("items", "items", "properties").names == members.sorted())
        case .lines(let members):
            #expect(try answer("content").names == ["application/x-ndjson"])
            #expect(try answer("content", "application/x-ndjson", "schema", "properties").names == members.sorted())
        }
        var errors = ["400", "401", "403", "404", "405", "429", "503"]
        if operation.method != .get { errors += ["409", "413"] }
        if operation.body != nil { errors += ["415", "422"] }
        if operation.acceptsIfMatch { errors.append("412") }
        if operation.isConditional { errors.append("428") }
        let responses = try described("responses").names
        #expect(Set(errors).isSubset(of: responses))
        for status in responses where (Int(status) ?? 0) >= 400 {
            #expect(try described("responses", status, "content").names == ["application/problem+json"])
        }
    }

    @Test func `the document has every scope, and the URLs of the server`() async throws {
        let desk = try await AdministrationDesk()
        let root = try await desk.send(.get, "/openapi.json").members
        let document = try Node(root, in: root)
        let scopes = AdministrationRight.allCases.compactMap { $0.scope?.rawValue }.sorted()
        let flows = try document("components", "securitySchemes", "oauth", "flows")
        #expect(flows.names == ["authorizationCode", "clientCredentials"])
        for flow in flows.names { #expect(try flows(flow, "scopes").names == scopes) }
        #expect(
            try flows("authorizationCode", "authorizationUrl").text == "https://id.example.com/oauth2/authorize")

        let other = try await TestServer(issuer: "https://login.example.org/tenant") {
            $0.offersAdministrationAPI = true
        }
        let served = try await other.send(.get, to: .openAPI).text
        #expect(served.contains(#""https://login.example.org/tenant/api/v1""#))
        #expect(!served.contains("id.example.com"))
    }
}
