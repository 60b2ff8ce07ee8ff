import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on scopes.
    static let scopes: [AdministrationOperation] = [
        AdministrationOperation(
            "listScopes", .get, "/scopes", .readAPIs, query: ["limit", "cursor"], answer: .list(ScopeDocument.self)
        ) { call in
            let scopes = try await call.components.registry.fresh().scopes()
            return try call.page(of: scopes, list: "scopes", id: { $0.token.rawValue }, as: { ScopeDocument($0) })
        },
        AdministrationOperation(
            "createScope", .post, "/scopes", .writeAPIs, body: NewScopeBody.self, answer: .object(ScopeDocument.self),
            status: .created, Scopes.create),
        AdministrationOperation(
            "getScope", .get, "/scopes/{scope}", .readAPIs, answer: .object(ScopeDocument.self)
        ) { call in
            let scope = try await call.scope()
            return try AdministrationAnswer(ScopeDocument(scope), version: try EntityTag(of: scope.revision))
        },
        AdministrationOperation(
            "changeScope", .patch, "/scopes/{scope}", .writeAPIs, body: ChangedScopeBody.self,
            answer: .object(ScopeDocument.self), isConditional: true, Scopes.change),
        AdministrationOperation(
            "deleteScope", .delete, "/scopes/{scope}", .writeAPIs, query: ["remove_from_all"],
            answer: .object(RemovedScopeDocument.self), acceptsIfMatch: true, Scopes.delete),
    ]
}

/// The functions of the operations on scopes.
private enum Scopes {
    static func create(_ call: AdministrationCall, _ body: NewScopeBody) async throws -> AdministrationAnswer {
        var draft = ScopeDraft()
        draft.name = body.scope
        body.change.write(into: &draft)
        let scope: ScopeDefinition
        do { scope = try await call.registry.add(draft) } catch let refusal as ScopeRefusal {
            if refusal.says(.nameTaken) {
                throw ProblemError.conflict("scope-exists", .member("scope", "Another scope has the name."))
            }
            throw ProblemError(refusal)
        }
        return try AdministrationAnswer(
            ScopeDocument(scope), version: try EntityTag(of: scope.revision),
            location: call.url("/scopes/" + AdministrationCall.escaped(scope.token.rawValue)))
    }

    static func change(_ call: AdministrationCall, _ body: ChangedScopeBody) async throws -> AdministrationAnswer {
        let former = try await call.scope()
        try call.requireMatch(try EntityTag(of: former.revision))
        var draft = ScopeDraft(former)
        body.change.write(into: &draft)
        do {
            guard let scope = try await call.registry.change(former, to: draft) else { throw NotFoundError() }
            return try AdministrationAnswer(ScopeDocument(scope), version: try EntityTag(of: scope.revision))
        } catch let refusal as ScopeRefusal {
            throw refusal.says(.changedMeanwhile) ? ProblemError.changedMeanwhile : ProblemError(refusal)
        }
    }

    static func delete(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let takesFromUses = try call.query.flag("remove_from_all") ?? false
        let former = try await call.scope()
        try await call.requireMatchIfSent { try EntityTag(of: former.revision) }
        let scope = former.token
        switch try await call.registry.delete(scope, takingFromUses: takesFromUses) {
        case .removed(let uses): return try AdministrationAnswer(RemovedScopeDocument(scope, uses))
        case .inUse(let uses):
            let names = (uses.clients.map(\.rawValue) + uses.resources.map(\.rawValue)).joined(separator: ", ")
            throw ProblemError.conflict(
                "scope-in-use",
                .parameter(
                    "remove_from_all", "\(scope) is used by \(names). Set it to remove the scope from them, too."),
                "The scope is used by \(names). To remove it from them, add remove_from_all=true.")
        case .isStandard:
            throw ProblemError.conflict("standard-scope", nil, "A scope of OpenID Connect cannot be deleted.")
        case .notFound: throw NotFoundError()
        }
    }
}

extension AdministrationCall {
    /// The changes of scopes and APIs that the caller makes.
    var registry: RegistryAdministration {
        RegistryAdministration(
            store, at: now, recording: { kind, client, detail in event(kind, client: client, detail: detail) },
            counting: { components.auditor.countRecorded($0) })
    }

    /// Returns the scope in the path; throws 404 if there is none.
    fileprivate func scope() async throws -> ScopeDefinition {
        let name = try segment("scope")
        let scopes = try await components.registry.fresh().scopes()
        guard let scope = scopes.first(where: { $0.token.rawValue == name }) else { throw NotFoundError() }
        return scope
    }
}

/// The changes of a scope in the body of a request.
struct ScopeChange: Sendable {
    private var texts: [Language: String] = [:]
    private var isListed: Bool?
    private var startsTicked: Bool?
    private var isReserved: Bool?
    private var claims: [String]?
    private var places: Set<ReleasedClaims.Place>?

    /// Reads the members, and notes a problem for each that is refused.
    init<Member: RawRepresentable<String> & CaseIterable & Sendable>(_ members: inout BodyMembers<Member>) {
        if let text = members.draftText("description") { texts[.standard] = text }
        if let member = Member(rawValue: "texts") { readTexts(member, &members) }
        isListed = Member(rawValue: "listed").flatMap { members.flag($0) }
        startsTicked = Member(rawValue: "starts_ticked").flatMap { members.flag($0) }
        isReserved = Member(rawValue: "reserved").flatMap { members.flag($0) }
        if let member = Member(rawValue: "claims"), members.has(member) { claims = members.texts(member) ?? [] }
        if let member = Member(rawValue: "claims_in"), let names = members.texts(member) {
            places = Set(names.compactMap { ReleasedClaims.Place(rawValue: $0) })
            if places?.count != names.count {
                members.refuse(member, "It must be an array of id_token, access_token and userinfo, each once.")
            }
        }
    }

    private mutating func readTexts<Member: RawRepresentable<String> & CaseIterable & Sendable>(
        _ member: Member, _ members: inout BodyMembers<Member>
    ) {
        for (name, value) in (members.parts(member) ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let language = Language(rawValue: name), language != .standard else {
                members.refuse(below: member, [name], "It must be another language of the server.")
                continue
            }
            switch value {
            case .null: texts[language] = ""
            case .string(let text): texts[language] = text
            default: members.refuse(below: member, [name], "It must be a string or null.")
            }
        }
    }

    func write(into draft: inout ScopeDraft) {
        for (language, text) in texts { draft.texts[language] = text }
        if let isListed { draft.isListed = isListed }
        if let startsTicked { draft.startsTicked = startsTicked }
        if let isReserved { draft.isReserved = isReserved }
        if let claims { draft.claims = claims.joined(separator: " ") }
        if let places {
            draft.claimPlaces = places
        } else if claims != nil, draft.claimPlaces.isEmpty {
            draft.claimPlaces = [.userInfo]
        }
    }
}

/// The body with which a scope is created.
struct NewScopeBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case scope, description, texts, listed, reserved, claims
        case startsTicked = "starts_ticked"
        case claimsIn = "claims_in"
    }

    let scope: String
    let change: ScopeChange

    init?(_ members: inout BodyMembers<Member>) {
        let scope = members.required(.scope, rule: "It must be the name of a scope.") { $0 }
        if !members.has(.description) { members.refuse(.description, "It is required.") }
        change = ScopeChange(&members)
        guard let scope else { return nil }
        self.scope = scope
    }
}

/// The body with which a scope is changed: a JSON Merge Patch (RFC 7396).
struct ChangedScopeBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case description, texts, listed, reserved, claims
        case startsTicked = "starts_ticked"
        case claimsIn = "claims_in"
    }

    let change: ScopeChange

    init?(_ members: inout BodyMembers<Member>) { change = ScopeChange(&members) }
}

/// A scope in answers of the administration API.
struct ScopeDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, description, listed, reserved, standard, texts
        case startsTicked = "starts_ticked"
        case claims
        case claimsIn = "claims_in"
    }

    let scope: ScopeDefinition

    init(_ scope: ScopeDefinition) { self.scope = scope }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(scope.token.rawValue, forKey: .scope)
        try values.encode(scope.description, forKey: .description)
        try values.encode(scope.isListed || scope.token.isStandard, forKey: .listed)
        try values.encode(scope.startsTicked, forKey: .startsTicked)
        try values.encode(scope.isReserved, forKey: .reserved)
        try values.encode(scope.token.isStandard, forKey: .standard)
        if !scope.claims.isEmpty {
            try values.encode(scope.claims.names.sorted().map(\.rawValue), forKey: .claims)
            try values.encode(scope.claims.places.map(\.rawValue).sorted(), forKey: .claimsIn)
        }
        try values.encode(
            Dictionary(uniqueKeysWithValues: scope.texts.map { ($0.key.rawValue, $0.value) }), forKey: .texts)
    }
}

/// A deleted scope, and the clients and APIs from which it was removed.
struct RemovedScopeDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case scope, clients, resources }

    private let scope: String
    private let clients: [String]
    private let resources: [String]

    init(_ scope: Scope.Token, _ uses: ScopeUses) {
        self.scope = scope.rawValue
        clients = uses.clients.map(\.rawValue)
        resources = uses.resources.map(\.rawValue)
    }
}

extension ScopeRefusal {
    fileprivate func says(_ reason: ScopeDraft.FieldProblem.Reason) -> Bool {
        problems.contains { $0.text.key == reason.rawValue }
    }
}

extension ProblemError {
    fileprivate init(_ refusal: ScopeRefusal) {
        self = .invalidMembers(
            refusal.problems.map { problem in
                let detail = Localizer.english(problem.text)
                switch problem.field {
                case .name?: return .member("scope", detail)
                case .text(.standard)?: return .member("description", detail)
                case .text(let language)?:
                    return ProblemDetails.Part(pointer: "/texts/\(language.rawValue)", detail: detail)
                case .claimPlaces?: return .member("claims_in", detail)
                case let field: return .named(field?.name, detail)
                }
            })
    }
}
