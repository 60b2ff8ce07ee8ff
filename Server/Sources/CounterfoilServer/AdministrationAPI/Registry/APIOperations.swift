import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on APIs, each of which has its `client_id` in the path.
    static let apis: [AdministrationOperation] = [
        AdministrationOperation(
            "listAPIs", .get, "/apis", .readAPIs, query: ["limit", "cursor"], answer: .list(ResourceDocument.self)
        ) { call in
            let apis = try await call.components.registry.fresh().resources()
            return try call.page(of: apis, list: "apis", id: { $0.clientID.rawValue }, as: { ResourceDocument($0) })
        },
        AdministrationOperation(
            "createAPI", .post, "/apis", .writeAPIs, body: NewAPIBody.self, answer: .object(ResourceDocument.self),
            status: .created, APIs.create),
        AdministrationOperation(
            "getAPI", .get, "/apis/{api}", .readAPIs, answer: .object(ResourceDocument.self)
        ) { call in
            let api = try await call.api()
            return try AdministrationAnswer(ResourceDocument(api), version: try EntityTag(of: api.revision))
        },
        AdministrationOperation(
            "changeAPI", .patch, "/apis/{api}", .writeAPIs, body: ChangedAPIBody.self,
            answer: .object(ResourceDocument.self), isConditional: true, APIs.change),
        AdministrationOperation("deleteAPI", .delete, "/apis/{api}", .writeAPIs, acceptsIfMatch: true) { call in
            let api = try await call.api()
            try await call.requireMatchIfSent { try EntityTag(of: api.revision) }
            guard try await call.registry.delete(api.resource) else { throw NotFoundError() }
            return .none
        },
        AdministrationOperation(
            "replaceAPISecret", .post, "/apis/{api}/secret", .writeAPIs, answer: .object(ResourceDocument.self),
            status: .created
        ) { call in
            let api = try await call.api()
            let secret = try await call.registry.replaceSecret(of: api.resource, random: call.components.random)
            guard let secret else { throw NotFoundError() }
            return try AdministrationAnswer(
                ResourceDocument(api, newSecret: secret), version: try EntityTag(of: api.revision))
        },
    ]
}

/// The functions of the operations on APIs.
private enum APIs {
    static func create(_ call: AdministrationCall, _ body: NewAPIBody) async throws -> AdministrationAnswer {
        var draft = APIDraft()
        draft.uri = body.resource
        body.change.write(into: &draft)
        do {
            let (api, secret) = try await call.registry.add(draft, random: call.components.random)
            return try AdministrationAnswer(
                ResourceDocument(api, newSecret: secret), version: try EntityTag(of: api.revision),
                location: call.url("/apis/\(api.clientID)"))
        } catch let refusal as APIRefusal {
            if refusal.says(.uriTaken) {
                throw ProblemError.conflict("api-exists", .member("resource", try await reason(of: body, call)))
            }
            throw ProblemError(refusal)
        }
    }

    /// Returns the reason for which an API with the URI of another one is refused, which can be spelled differently.
    private static func reason(of body: NewAPIBody, _ call: AdministrationCall) async throws -> String {
        let uri = try Resource(body.resource.trimmingCharacters(in: .whitespaces))
        let existing = try await call.components.registry.fresh().resource(uri)?.resource
        guard let existing, existing.rawValue != body.resource else { return "Another API has the URI." }
        return "Another API has the URI \(existing), which is the same."
    }

    static func change(_ call: AdministrationCall, _ body: ChangedAPIBody) async throws -> AdministrationAnswer {
        let former = try await call.api()
        try call.requireMatch(try EntityTag(of: former.revision))
        var draft = APIDraft(former)
        body.change.write(into: &draft)
        do {
            guard let api = try await call.registry.change(former, to: draft) else { throw NotFoundError() }
            return try AdministrationAnswer(ResourceDocument(api), version: try EntityTag(of: api.revision))
        } catch let refusal as APIRefusal {
            throw refusal.says(.changedMeanwhile) ? ProblemError.changedMeanwhile : ProblemError(refusal)
        }
    }
}

extension AdministrationCall {
    /// Returns the API in the path; throws 404 if there is none.
    fileprivate func api() async throws -> RegisteredResource {
        guard let id = ClientIdentifier(try segment("api")),
            let api = try await components.registry.fresh().resource(authenticatingAs: id)
        else { throw NotFoundError() }
        return api
    }
}

/// The changes of an API in the body of a request.
struct APIChange: Sendable {
    private let name: String?
    private let scopes: [String]?
    private let tokenType: String?
    private let requiresBoundTokens: Bool?

    /// Reads the members, and notes a problem for each that has another type.
    init<Member: RawRepresentable<String> & CaseIterable & Sendable>(_ members: inout BodyMembers<Member>) {
        name = members.draftText("name")
        scopes = members.draftText("scope")?.split(separator: " ").map(String.init)
        tokenType = members.draftText("jwt_type")
        requiresBoundTokens = Member(rawValue: "dpop_bound_access_tokens_required").flatMap { members.flag($0) }
    }

    func write(into draft: inout APIDraft) {
        if let name { draft.name = name }
        if let scopes { draft.scopes = scopes }
        if let tokenType { draft.tokenType = tokenType }
        if let requiresBoundTokens { draft.requiresBoundTokens = requiresBoundTokens }
    }
}

/// The body with which an API is registered.
struct NewAPIBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case resource, name, scope
        case tokenType = "jwt_type"
        case requiresBoundTokens = "dpop_bound_access_tokens_required"
    }

    let resource: String
    let change: APIChange

    init?(_ members: inout BodyMembers<Member>) {
        let resource = members.required(.resource, rule: "It must be a URI.") { $0.utf8.count <= 2048 ? $0 : nil }
        for member in [Member.name, .scope] where !members.has(member) { members.refuse(member, "It is required.") }
        change = APIChange(&members)
        guard let resource else { return nil }
        self.resource = resource
    }
}

/// The body with which an API is changed: a JSON Merge Patch (RFC 7396).
struct ChangedAPIBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case name, scope
        case tokenType = "jwt_type"
        case requiresBoundTokens = "dpop_bound_access_tokens_required"
    }

    let change: APIChange

    init?(_ members: inout BodyMembers<Member>) { change = APIChange(&members) }
}

/// An API in answers of the administration API.
struct ResourceDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case resource, name, scope
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case tokenType = "jwt_type"
        case requiresBoundTokens = "dpop_bound_access_tokens_required"
        case createdAt = "created_at"
    }

    let resource: RegisteredResource
    let newSecret: ClientSecret?

    init(_ resource: RegisteredResource, newSecret: ClientSecret? = nil) {
        self.resource = resource
        self.newSecret = newSecret
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(resource.resource.rawValue, forKey: .resource)
        try values.encode(resource.clientID, forKey: .clientID)
        try values.encodeIfPresent(newSecret?.exposed, forKey: .clientSecret)
        try values.encode(resource.name, forKey: .name)
        try values.encode(resource.scope, forKey: .scope)
        try values.encode(resource.tokenType.rawValue, forKey: .tokenType)
        try values.encode(resource.requiresBoundTokens, forKey: .requiresBoundTokens)
        try values.encode(Int(resource.createdAt.timeIntervalSince1970), forKey: .createdAt)
    }
}

extension APIRefusal {
    fileprivate func says(_ reason: APIDraft.FieldProblem.Reason) -> Bool {
        problems.contains { $0.text.key == reason.rawValue }
    }
}

extension ProblemError {
    fileprivate init(_ refusal: APIRefusal) {
        self = .invalidMembers(
            refusal.problems.map { problem in
                let detail = Localizer.english(problem.text)
                switch problem.field {
                case .uri?: return .member("resource", detail)
                case .requiresBoundTokens?: return .member("dpop_bound_access_tokens_required", detail)
                case let field: return .named(field?.rawValue, detail)
                }
            })
    }
}
