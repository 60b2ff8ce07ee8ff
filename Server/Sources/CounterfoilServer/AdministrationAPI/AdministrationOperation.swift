import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
package import HTTPTypes

/// An operation of the administration API: its method and path, the right that it needs, what a request and an answer
/// consist of, and the function that carries it out.
///
/// The function calls what the page and the command call, so that all three have the same rules. `openapi.json`
/// describes every operation; a test compares it with ``all``.
package struct AdministrationOperation: Sendable {
    /// The path of the API, relative to the issuer.
    static let prefix = "/api/v1"

    /// Every operation, in the order of the documentation.
    package static let all: [AdministrationOperation] =
        users + clients + redirectURIs + clientDevelopers + scopes + apis + audit + events + webhooks + keys
        + registrationTokens + branding + installation + unregisteredClients

    /// The maximum size of the body of most operations in bytes.
    private static let usualBodyLimit = 64 * 1024

    /// The result of the function of an operation.
    typealias Perform = @Sendable (AdministrationCall) async throws -> AdministrationAnswer

    /// The form of the body of a successful answer.
    package enum Document: Sendable, Hashable {
        /// No body.
        case none
        /// An object with these members.
        case object(members: [String])
        /// A page of a list, whose items have these members.
        case list(members: [String])
        /// JSON documents with these members, one on each line (NDJSON).
        case lines(members: [String])
    }

    /// `operationId` in the OpenAPI document.
    package let id: String
    package let method: HTTPRequest.Method
    /// The path below ``prefix``, with names in braces for its variable segments.
    package let path: String
    package let right: AdministrationRight
    /// The names of the query parameters; any other is refused.
    package let query: [String]
    /// The names of the members of the body; nil if the request has none.
    package let body: [String]?
    package let document: Document
    /// The status of a successful answer.
    package let status: HTTPResponse.Status
    /// Whether a request must name the version of the record that it changes, with `If-Match`.
    package let isConditional: Bool
    /// Whether a request can name the version of the record that it changes or deletes, with `If-Match`.
    package let acceptsIfMatch: Bool
    /// The maximum size of the body in bytes.
    let bodyLimit: Int
    let perform: Perform
    /// Returns the refused members of a body, by their types alone.
    let refusedMembers: @Sendable ([String: JSONValue]) -> [ProblemDetails.Part]

    /// Whether a request can have an `Idempotency-Key`, because it creates something.
    package var isCreation: Bool { status == .created }

    /// Creates an operation without a body in the request.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ right: AdministrationRight,
        query: [String] = [], answer: Document = .none, status: HTTPResponse.Status = .ok, isConditional: Bool = false,
        acceptsIfMatch: Bool = false,
        _ perform: @escaping Perform
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.right = right
        self.query = query
        body = nil
        document = answer
        self.status = answer == .none && status == .ok ? .noContent : status
        self.isConditional = isConditional
        self.acceptsIfMatch = isConditional || acceptsIfMatch
        bodyLimit = Self.usualBodyLimit
        self.perform = perform
        refusedMembers = { _ in [] }
    }

    /// Creates an operation with a body in the request.
    init<Body: AdministrationBody>(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ right: AdministrationRight, body: Body.Type,
        answer: Document = .none, status: HTTPResponse.Status = .ok, isConditional: Bool = false,
        acceptsIfMatch: Bool = false, bodyLimit: Int = AdministrationOperation.usualBodyLimit,
        _ perform: @escaping @Sendable (AdministrationCall, Body) async throws -> AdministrationAnswer
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.right = right
        query = []
        self.body = Body.Member.allCases.map(\.rawValue)
        document = answer
        self.status = answer == .none && status == .ok ? .noContent : status
        self.isConditional = isConditional
        self.acceptsIfMatch = isConditional || acceptsIfMatch
        self.bodyLimit = bodyLimit
        self.perform = { call in try await perform(call, try BodyMembers<Body.Member>.body(of: call.request)) }
        refusedMembers = { values in
            let (_, problems): (Body?, _) = BodyMembers<Body.Member>.parsed(values)
            return problems
        }
    }
}

extension AdministrationOperation.Document {
    /// The form of an answer with one document.
    static func object<Document: AdministrationDocument>(_ document: Document.Type) -> Self {
        .object(members: Document.Member.allCases.map(\.rawValue))
    }

    /// The form of an answer with a list of documents.
    static func list<Document: AdministrationDocument>(_ document: Document.Type) -> Self {
        .list(members: Document.Member.allCases.map(\.rawValue))
    }

    /// The form of an answer with documents on lines.
    static func lines<Document: AdministrationDocument>(_ document: Document.Type) -> Self {
        .lines(members: Document.Member.allCases.map(\.rawValue))
    }
}

extension Endpoint {
    /// The endpoints of the administration API: one for each path, the OpenAPI document and the metadata.
    package static let administrationAPI: [Endpoint] =
        [openAPI, administrationAPIMetadata] + AdministrationAPI.paths.map(\.endpoint)

    /// The OpenAPI document of the administration API.
    package static let openAPI = reading(
        "openAPI", AdministrationOperation.prefix + "/openapi.json", scriptAccess: .everyone
    ).with { $0.isOfAdministrationAPI = true }

    /// The metadata of the administration API as a protected resource (RFC 9728 §3).
    package static let administrationAPIMetadata = reading(
        "administrationAPIMetadata", AdministrationOperation.prefix, scriptAccess: .everyone
    ).with {
        $0.location = .resourceMetadata
        $0.isOfAdministrationAPI = true
    }

    /// Creates the endpoint of a path of the administration API.
    static func administration(_ path: String, of operations: [AdministrationOperation]) -> Endpoint {
        Endpoint(
            name: "administrationAPI\(path)", path: AdministrationOperation.prefix + path,
            methods: operations.map(\.method), bodyLimit: operations.map(\.bodyLimit).max() ?? 0, answersUsers: false,
            scriptAccess: .registered
        ).with { $0.isOfAdministrationAPI = true }
    }
}
