import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the data of users as a whole.
    static let userData: [AdministrationOperation] = [
        AdministrationOperation(
            "exportUser", .get, "/users/{user}/export", .writeUsers, answer: .object(UserExportDocument.self)
        ) { call in
            let user = try await call.user()
            let document = try await UserExportDocument(of: user, in: call.store, at: call.now)
            try await call.users.noteExport(of: user.id)
            return try AdministrationAnswer(document)
        },
        AdministrationOperation(
            "previewDeletion", .get, "/users/{user}/deletion", .readUsers, answer: .object(RemovalDocument.self)
        ) { call in
            let user = try await call.user().id
            guard let counts = try await call.store.removalCounts(of: user) else { throw NotFoundError() }
            return try AdministrationAnswer(
                RemovalDocument(counts, clients: try await call.store.clientIdentifiers(of: user)))
        },
        AdministrationOperation(
            "deleteUser", .post, "/users/{user}/deletion", .writeUsers, body: RemovalBody.self,
            answer: .object(RemovedDocument.self), Removals.delete),
    ]
}

private enum Removals {
    static func delete(_ call: AdministrationCall, _ body: RemovalBody) async throws -> AdministrationAnswer {
        let user = try await call.changeableUser()
        guard body.username == user.username else {
            throw ProblemError(
                .unprocessableContent, "invalid-members", "Members of the body are refused.",
                parts: [.member("username", "It is not the username of the user.")])
        }
        let (outcome, pseudonym) = try await call.users.delete(user.id, ownedClients: body.ownedClients)
        switch outcome {
        case .begun(let clients): return try AdministrationAnswer(RemovedDocument(pseudonym, clients, body))
        case .notFound: throw NotFoundError()
        case .lastOwner: throw ProblemError.lastOwner
        case .ownsClients(let clients):
            let names = clients.map(\.rawValue).joined(separator: ", ")
            throw ProblemError.conflict(
                "owns-clients",
                .member("clients", "Name what happens to every app of the user: \(names)."))
        case .newOwnerNotFound:
            throw ProblemError.conflict("no-new-owner", .member("new_owner", "It must be another user who exists."))
        }
    }
}

/// The body with which a user is deleted.
struct RemovalBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case username, clients
        case newOwner = "new_owner"
    }

    /// The username, which confirms the deletion.
    let username: Username
    let ownedClients: RemovalTerms.OwnedClients

    init?(_ members: inout BodyMembers<Member>) {
        let username = members.required(.username, rule: "It must be a username.") { Username($0) }
        let clients = members.texts(.clients).map { $0.compactMap { ClientIdentifier($0) } }
        let owner = members.value(.newOwner, rule: "It must be the identifier of a user.") { UserIdentifier($0) }
        if clients != nil, owner != nil { members.refuse(.newOwner, "It cannot be combined with clients.") }
        ownedClients = owner.map { .transfer(to: $0) } ?? clients.map { .delete($0) } ?? .refuse
        guard let username else { return nil }
        self.username = username
    }
}

/// The numbers of records that a deletion would delete, each counted up to a limit.
struct RemovalDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case sessions, passkeys, consents, grants, clients
        case auditEvents = "audit_events"
        case countedUpTo = "counted_up_to"
    }

    let sessions: Int
    let passkeys: Int
    let consents: Int
    let grants: Int
    let auditEvents: Int
    let clients: [String]
    let countedUpTo: Int

    init(_ counts: RemovalCounts, clients: [ClientIdentifier]) {
        sessions = counts.sessions.number
        passkeys = counts.passkeys.number
        consents = counts.consents.number
        grants = counts.grants.number
        auditEvents = counts.events.number
        self.clients = clients.map(\.rawValue)
        countedUpTo = UserCount.limit
    }
}

/// The result of a deletion.
struct RemovedDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case pseudonym
        case deletedClients = "deleted_clients"
        case transferredClients = "transferred_clients"
    }

    let pseudonym: String
    let deletedClients: [String]
    let transferredClients: [String]

    init(_ pseudonym: UserIdentifier, _ clients: [ClientIdentifier], _ body: RemovalBody) {
        self.pseudonym = pseudonym.rawValue
        let names = clients.map(\.rawValue)
        if case .transfer = body.ownedClients {
            (deletedClients, transferredClients) = ([], names)
        } else {
            (deletedClients, transferredClients) = (names, [])
        }
    }
}

/// Everything that the server stores about a user, except the audit log, without a secret.
struct UserExportDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case account, attributes, sessions, passkeys, grants, consents, clients, incomplete
        case exportedAt = "exported_at"
        case secondFactor = "second_factor"
    }

    /// The maximum number of records of a kind.
    private static let limit = 1000

    let exportedAt: Date
    let account: AccountDocument
    let attributes: AttributesDocument
    let sessions: [UserSessionDocument]
    let passkeys: [UserPasskeyDocument]
    let secondFactor: UserSecondFactorDocument?
    let grants: [UserGrantDocument]
    let consents: [UserConsentDocument]
    let clients: [String]
    /// The kinds of which not all records are in the export.
    let incomplete: [String]

    init(of user: User, in store: any UncachedStore, at time: Date) async throws {
        guard let overview = try await store.userOverview(user.id) else { throw NotFoundError() }
        exportedAt = time
        account = AccountDocument(overview)
        attributes = AttributesDocument(try await store.attributes(of: user.id))
        sessions = try await store.sessions(of: user.id).map(UserSessionDocument.init)
        passkeys = try await store.passkeys(of: user.id).map(UserPasskeyDocument.init)
        secondFactor = UserSecondFactorDocument(
            try await store.secondFactor(of: user.id), securityKeys: try await store.securityKeys(of: user.id))
        let grants = try await store.grants(of: user.id, after: nil, limit: Self.limit + 1)
        let consents = try await store.consents(of: user.id, after: nil, limit: Self.limit + 1)
        self.grants = grants.prefix(Self.limit).map(UserGrantDocument.init)
        self.consents = consents.prefix(Self.limit).map(UserConsentDocument.init)
        clients = try await store.clientIdentifiers(of: user.id).map(\.rawValue)
        var incomplete = Set(try await store.unreadableRecords(of: user.id).map(\.value.record))
        if grants.count > Self.limit { incomplete.insert("grants") }
        if consents.count > Self.limit { incomplete.insert("consents") }
        self.incomplete = incomplete.sorted()
    }
}
