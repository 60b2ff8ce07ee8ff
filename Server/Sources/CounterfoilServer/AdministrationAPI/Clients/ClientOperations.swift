import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on clients that a person registered; the decisions are for all clients.
    static let clients: [AdministrationOperation] = [
        AdministrationOperation(
            "listClients", .get, "/clients", .readClients,
            query: ["search", "state", "developer", "sort", "limit", "cursor"],
            answer: .list(ClientRecord.self), Clients.list),
        AdministrationOperation(
            "createClient", .post, "/clients", .writeClients, body: NewClientBody.self,
            answer: .object(ClientRecord.self), status: .created, Clients.create),
        AdministrationOperation(
            "getClient", .get, "/clients/{client}", .readClients, answer: .object(ClientRecord.self)
        ) { call in
            let client = try await call.client()
            return try await AdministrationAnswer(
                client: client, connection: try await call.connection(of: client), call)
        },
        AdministrationOperation(
            "changeClient", .patch, "/clients/{client}", .writeClients, body: ChangedClientBody.self,
            answer: .object(ClientRecord.self), isConditional: true, Clients.change),
        AdministrationOperation(
            "deleteClient", .delete, "/clients/{client}", .writeClients, acceptsIfMatch: true, Clients.delete),
        AdministrationOperation(
            "addClientSecret", .post, "/clients/{client}/secrets", .writeClients, answer: .object(SecretDocument.self),
            status: .created, Clients.addSecret),
        AdministrationOperation(
            "removeClientSecret", .delete, "/clients/{client}/secrets/{secret}", .writeClients, Clients.removeSecret),
        AdministrationOperation(
            "approveClient", .post, "/clients/{client}/approve", .writeClients, answer: .object(ClientRecord.self),
            isConditional: true, Clients.approve),
        AdministrationOperation(
            "suspendClient", .post, "/clients/{client}/suspend", .writeClients, body: SuspensionBody.self,
            answer: .object(ClientRecord.self)
        ) { call, body in try await Clients.suspend(call, reason: body.reason) },
        AdministrationOperation(
            "resumeClient", .post, "/clients/{client}/resume", .writeClients, answer: .object(ClientRecord.self)
        ) { call in
            let client = try await call.anyClient()
            try call.check(changing: client)
            return try await Clients.decide(.resume, on: client.id, call)
        },
    ]
}

/// The functions of the operations on clients.
private enum Clients {
    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let (cursor, parameters) = (ListCursor(call, list: "clients"), call.query)
        var query = ClientQuery(limit: try parameters.limit())
        query.search = try parameters.value(
            "search", rule: "It must have 1 to \(UserSearch.limit) bytes and no control character."
        ) { ClientSearch($0) }
        query.state = try parameters.value(
            "state", rule: "It must be pending, development, machine-access or suspended.",
            ClientQuery.State.init(rawValue:))
        query.order =
            try parameters.value("sort", rule: "It must be name or newest.", ClientQuery.Order.init(rawValue:)) ?? .name
        if let name = try parameters.value("developer", rule: "It must be a username.", { Username($0) }) {
            query.developer = try await call.store.userID(named: name)
            guard query.developer != nil else {
                throw ProblemError.refusedParameters([.parameter("developer", "There is no user named \(name).")])
            }
        }
        query.after = try cursor.position(in: parameters).flatMap { text in
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            return parts.count == 2 ? ClientCursor(parts[1], parts[0], in: query.order) : nil
        }
        let found = try await call.store.clients(matching: query)
        return try AdministrationAnswer(
            list: found.clients.map { ClientRecord($0.client, developer: $0.owner?.username, use: $0.use) },
            next: try found.next.map { try cursor.text(after: "\($0.id) \($0.key)") })
    }

    static func create(_ call: AdministrationCall, _ body: NewClientBody) async throws -> AdministrationAnswer {
        let id = try body.id.map { try chosenID($0, call) } ?? ClientIdentifier(random: call.components.random)
        var draft = ClientDraft()
        body.change.write(into: &draft)
        _ = draft.useStandardScopes(for: body.type)
        var policyDraft = PolicyDraft(registering: body.type, for: draft.scopes)
        body.change.write(into: &policyDraft)
        let developer = try await owner(body.change, after: nil, call)
        let schemes = try await schemesInUse(by: developer?.id, beside: id, call)
        let checked = try check(draft, policyDraft, of: body.type, id: id, schemesInUse: schemes, call)
        let logo: Logo? = if case .replace(let logo) = try await self.logo(body.change, call) { logo } else { nil }
        let client = RegisteredClient(
            id: id, type: body.type, owner: developer?.id, checked.client,
            policy: checked.policy ?? .standard(for: body.type), approval: .approved, logo: logo?.id, now: call.now)
        try call.check(changing: client)
        // Nothing is read after the commit, so that a request that is repeated gets the same answer.
        let reserved = try await call.reservedScope(of: client)
        let connection = try await call.connection(of: client)
        let warnings = call.clientRules.warnings(
            about: draft, policy: client.policy, of: client.type, id: id, schemesInUse: schemes)
        let (outcome, secret, record) = try await call.clients.register(
            client, logo: logo, random: call.components.random)
        switch outcome {
        case .added:
            let document = ClientRecord(
                client, developer: developer?.username, secrets: record.map { [$0] } ?? [], newSecret: secret,
                reservedScope: reserved, connection: connection, warnings: warnings)
            return try AdministrationAnswer(
                document, version: try ClientRecord.version(of: client),
                location: call.url("/clients/" + AdministrationCall.escaped(id.rawValue)))
        case .identifierTaken:
            throw ProblemError.conflict(
                "client-id-taken", .member("client_id", "Another client has or had it; choose another one."))
        case .identifierBeingFreed:
            throw ProblemError.conflict(
                "client-id-being-freed",
                .member("client_id", "Records of a deleted client are left. Try again in a minute."))
        case .unknownScopes(let unknown): throw ProblemError.unknownScopes(unknown)
        case .ownerNotFound:
            throw ProblemError.conflict("no-developer", .member("developer", "The user was deleted meanwhile."))
        case .tooMany:
            throw ProblemError.conflict("too-many-clients", nil, "The limit of clients is reached; delete one first.")
        }
    }

    private static func chosenID(_ text: String, _ call: AdministrationCall) throws -> ClientIdentifier {
        do { return try ChosenClientIdentifier(text, beside: call.pages).id } catch {
            throw ProblemError.invalidMembers([.member("client_id", "\(error)")])
        }
    }

    static func change(_ call: AdministrationCall, _ body: ChangedClientBody) async throws -> AdministrationAnswer {
        let former = try await call.client()
        try call.check(changing: former)
        try call.requireMatch(try ClientRecord.version(of: former))
        var draft = ClientDraft(former)
        body.change.write(into: &draft)
        var policyDraft = PolicyDraft(former.policy)
        // If a scope is no longer registered for the client, its approval for requests without a user is dropped.
        policyDraft.machineScopes = former.policy.machineScope.tokens.map(\.rawValue).filter(draft.scopes.contains)
        body.change.write(into: &policyDraft)
        let owner = try await owner(body.change, after: former.owner, call)
        let schemes = try await schemesInUse(by: owner?.id, beside: former.id, call)
        let checked = try check(
            draft, policyDraft, of: former.type, id: former.id, checksPolicy: body.change.changesPolicy,
            schemesInUse: schemes, call)
        var client = former.rewritten(checked.client, byAdministrator: true, unapproved: .open, now: call.now)
        if let policy = checked.policy { client.policy = policy }
        client.owner = owner?.id
        try call.check(changing: client)
        switch try await call.clients.change(former, to: client, logo: try await logo(body.change, call)) {
        case .updated:
            let warnings = call.clientRules.warnings(
                about: draft, policy: client.policy, of: client.type, id: client.id, schemesInUse: schemes)
            return try await AdministrationAnswer(client: client.id, warnings: warnings, call)
        case .changedMeanwhile: throw ProblemError.changedMeanwhile
        case .notFound: throw NotFoundError()
        case .unknownScopes(let unknown): throw ProblemError.unknownScopes(unknown)
        }
    }

    /// Returns the owner after a change.
    private static func owner(
        _ change: ClientChange, after former: UserIdentifier?, _ call: AdministrationCall
    ) async throws -> (id: UserIdentifier, username: Username?)? {
        guard let developer = change.developer else { return former.map { (id: $0, username: nil) } }
        guard let developer else { return nil }
        guard let id = try await call.store.userID(named: developer) else {
            throw ProblemError.conflict("no-developer", .member("developer", "There is no user named \(developer)."))
        }
        return (id: id, username: developer)
    }

    private static func check(
        _ draft: ClientDraft, _ policy: PolicyDraft, of type: ClientType, id: ClientIdentifier,
        checksPolicy: Bool = true, schemesInUse: Set<String>, _ call: AdministrationCall
    ) throws(ProblemError) -> (client: CheckedClient, policy: ClientPolicy?) {
        do {
            return try call.clientRules.check(
                draft, policy: policy, of: type, id: id, checksPolicy: checksPolicy, schemesInUse: schemesInUse,
                now: call.now)
        } catch { throw ProblemError(error) }
    }

    /// Returns the private-use schemes of the other clients of a user; of those that no user owns if there is none.
    private static func schemesInUse(
        by owner: UserIdentifier?, beside id: ClientIdentifier, _ call: AdministrationCall
    ) async throws -> Set<String> {
        let others =
            if let owner { try await call.store.clients(of: owner) } else {
                try await call.store.clients().filter { $0.owner == nil }
            }
        return RedirectURIContext.schemes(of: others.filter { $0.id != id })
    }

    private static func logo(_ change: ClientChange, _ call: AdministrationCall) async throws -> LogoChange {
        guard let image = change.logo else { return .keep }
        guard let image else { return .remove }
        do { return .replace(try await call.components.logoEncoder.logo(from: image)) } catch {
            let detail = Localizer.english(error.text)
            guard case .busy(let seconds) = error else {
                throw ProblemError.invalidMembers([.member(ClientChange.logoImage, detail)])
            }
            throw ProblemError(.serviceUnavailable, "logos-waiting", detail, fields: [.retryAfter: String(seconds)])
        }
    }

    static func delete(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        // A client can be deleted even if this version cannot read its record.
        guard let id = ClientIdentifier(try call.segment("client")),
            let client = try await call.store.clientOwnership(id), !client.isUnregistered
        else { throw NotFoundError() }
        try await call.requireMatchIfSent { try ClientRecord.version(of: try await call.client()) }
        guard try await call.clients.delete(id) else { throw NotFoundError() }
        return .none
    }

    static func addSecret(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let client = try await confidential(call)
        try call.check(changing: client)
        guard client.keys == nil else {
            throw ProblemError.conflict(
                "client-has-keys", nil,
                "The client authenticates with its keys, so a secret would be ignored. Remove the keys first.")
        }
        let (outcome, secret, record) = try await call.clients.addSecret(to: client.id, random: call.components.random)
        switch outcome {
        case .added: return try AdministrationAnswer(SecretDocument(record, secret: secret))
        case .tooMany:
            throw ProblemError.conflict(
                "too-many-secrets", nil,
                "The client has \(ClientSecretRecord.limit) secrets already; delete one first.")
        case .clientDeleted: throw NotFoundError()
        }
    }

    static func removeSecret(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let client = try await confidential(call)
        let id = try call.segment("secret")
        let secrets = try await call.components.registry.fresh().clientSecrets(of: client.id)
        guard let secret = secrets.first(where: { $0.shortID == id }), try await call.clients.remove(secret) else {
            throw NotFoundError()
        }
        return .none
    }

    private static func confidential(_ call: AdministrationCall) async throws -> RegisteredClient {
        let client = try await call.client()
        guard client.isConfidential else {
            throw ProblemError.conflict(
                "public-client", nil, "A client of the type \(client.type.rawValue) has no secret.")
        }
        return client
    }

    static func approve(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let client = try await call.anyClient()
        try call.requireMatch(try ClientRecord.version(of: client))
        guard client.documentHost == nil else {
            throw ProblemError.conflict(
                "client-with-document", nil,
                "The policy for unregistered clients decides about a client with a document.")
        }
        try call.check(changing: client)
        return try await decide(.approve(revision: client.revision), on: client.id, call)
    }

    /// Suspends a client, also one whose record this version cannot read.
    static func suspend(_ call: AdministrationCall, reason: String) async throws -> AdministrationAnswer {
        guard let id = ClientIdentifier(try call.segment("client")) else { throw NotFoundError() }
        let outcome = try await call.clients.decide(.suspend(reason: reason), on: id)
        guard outcome == .decided || outcome == .alreadyDecided else { throw NotFoundError() }
        let client: RegisteredClient?
        do { client = try await call.components.registry.fresh().client(id) } catch {
            guard case .unavailable = error else { return try AdministrationAnswer(UnreadableClientDocument(id)) }
            throw error
        }
        guard let client else { throw NotFoundError() }
        // A request that is sent twice has the same answer.
        guard outcome == .decided || client.suspension?.reason == reason else {
            throw ProblemError.conflict(
                "suspended-already", nil, "The client is suspended already, for another reason. Resume it first.")
        }
        return try await AdministrationAnswer(client: client, call)
    }

    static func decide(
        _ decision: ClientDecision, on id: ClientIdentifier, _ call: AdministrationCall
    ) async throws -> AdministrationAnswer {
        switch try await call.clients.decide(decision, on: id) {
        // A request that is sent twice has the same answer.
        case .decided, .alreadyDecided: return try await AdministrationAnswer(client: id, call)
        case .changedMeanwhile: throw ProblemError.changedMeanwhile
        case .notFound: throw NotFoundError()
        }
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async rethrows -> Result? {
        guard let value = self else { return nil }
        return try await transform(value)
    }
}

/// A client whose record this version cannot read.
struct UnreadableClientDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case clientID = "client_id" }

    private let clientID: String

    init(_ id: ClientIdentifier) { clientID = id.rawValue }
}

/// A new secret of a client, which is shown once.
struct SecretDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case clientID = "client_id"
        case clientSecret = "client_secret"
    }

    let id: String
    let clientID: String
    let clientSecret: String

    init(_ record: ClientSecretRecord, secret: ClientSecret) {
        id = record.shortID
        clientID = record.clientID.rawValue
        clientSecret = secret.exposed
    }
}

extension AdministrationCall {
    /// The changes of clients that the caller makes.
    var clients: ClientAdministration {
        ClientAdministration(
            store, at: now,
            recording: { event($0, of: $1, client: $2, $3) }, counting: { components.auditor.countRecorded($0) })
    }

    /// Creates the event of a change of a client, whose detail names the client that makes it.
    ///
    /// The owner of a client can read the own events, which therefore lack the source address.
    private func event(
        _ kind: AuditEvent.Kind, of user: UserIdentifier?, client: ClientIdentifier, _ detail: String
    ) -> AuditEvent {
        guard let calling = caller.clientID else {
            return AuditEvent(
                at: now, kind, userID: user, clientID: client, detail: AuditEvent.commandPrefix + detail)
        }
        guard let user, user != caller.user?.id else {
            return event(kind, client: client, detail: "with the app \(calling): \(detail)")
        }
        return AuditEvent(
            at: now, kind, userID: user, clientID: client, requestID: request.id,
            detail: AuditEvent.administratorPrefix + detail)
    }

    /// Throws 403 if a client can get a right of the administration that the caller lacks.
    ///
    /// Who approves such a client, has a secret of it, or receives its codes, gets to the right.
    func check(changing client: RegisteredClient) throws(ProblemError) {
        var needed = Set(client.scope.tokens.compactMap(\.right))
        needed.formUnion(client.policy.machineScope.tokens.compactMap(\.right))
        guard !needed.isSubset(of: caller.rights.rights) else { return }
        let names = needed.map(\.rawValue).sorted().joined(separator: ", ")
        throw ProblemError(
            .forbidden, "stronger-client",
            "The app can get the rights \(names) of the administration. To change it, the caller needs these rights.")
    }

    /// Returns the client in the path that a person registered; throws 404 if there is none.
    func client() async throws -> RegisteredClient {
        let client = try await anyClient()
        guard !client.isUnregistered else { throw NotFoundError() }
        return client
    }

    /// Returns the client in the path, which can be unregistered; throws 404 if there is none.
    func anyClient() async throws -> RegisteredClient {
        guard let id = ClientIdentifier(try segment("client")),
            let client = try await components.registry.fresh().client(id)
        else { throw NotFoundError() }
        return client
    }

    /// Returns the scopes of a client that are reserved for approved clients.
    fileprivate func reservedScope(of client: RegisteredClient) async throws -> Scope {
        let scopes = try await components.registry.fresh().scopes()
        return Scope(scopes.filter { $0.isReserved && client.scope.contains($0.token) }.map(\.token))
    }

    /// Returns the way in which a client connects; nil before the first start of a server, which decides the issuer.
    fileprivate func connection(of client: RegisteredClient) async throws -> ClientConnection? {
        guard let issuer = clientRules.issuer else { return nil }
        return ClientConnection(of: client, issuer: issuer, apis: try await components.registry.fresh().resources())
    }

    /// Returns a text as a segment of a path.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension AdministrationAnswer {
    /// Creates the answer with a client as it is stored now; throws 404 if it was deleted.
    init(client id: ClientIdentifier, warnings: [ClientWarning] = [], _ call: AdministrationCall) async throws {
        guard let client = try await call.components.registry.fresh().client(id) else { throw NotFoundError() }
        try await self.init(client: client, warnings: warnings, call)
    }

    fileprivate init(
        client: RegisteredClient, connection: ClientConnection? = nil, warnings: [ClientWarning] = [],
        _ call: AdministrationCall
    ) async throws {
        let developer = try await client.owner.asyncMap { try await call.store.user($0)?.username } ?? nil
        let document = ClientRecord(
            client, developer: developer,
            secrets: try await call.components.registry.fresh().clientSecrets(of: client.id),
            exceptionUse: try await call.store.pkceExceptionUse(of: client.id),
            use: try await call.store.use(of: client.id),
            developers: try await call.store.developers(of: client.id).map(\.user.username),
            reservedScope: try await call.reservedScope(of: client), connection: connection, warnings: warnings)
        try self.init(document, version: try ClientRecord.version(of: client))
    }
}

extension ProblemError {
    /// Creates the error of members that break a rule.
    static func invalidMembers(_ parts: [ProblemDetails.Part]) -> ProblemError {
        ProblemError(.unprocessableContent, "invalid-members", "Members of the body are refused.", parts: parts)
    }

    static func unknownScopes(_ unknown: Scope) -> ProblemError {
        .invalidMembers(unknown.tokens.map { .member("scope", "There is no scope named \($0); create it first.") })
    }

    /// Creates the error of a registration that breaks rules.
    init(_ refusal: ClientRegistrationRefusal) {
        self = .invalidMembers(refusal.problems.map { .named($0.field.member, Localizer.english($0.text)) })
    }
}

extension ProblemDetails.Part {
    /// Creates the part for a member; nil for a problem of the body as a whole.
    static func named(_ member: String?, _ detail: String) -> ProblemDetails.Part {
        member.map { .member($0, detail) } ?? ProblemDetails.Part(pointer: "", detail: detail)
    }
}

extension ClientField {
    /// The name of the member; nil for the registration as a whole.
    fileprivate var member: String? {
        switch self {
        case .whole: nil
        case .name: "client_name"
        case .type: "application_type"
        case .exemptUntil: "pkce"
        default: rawValue
        }
    }
}
