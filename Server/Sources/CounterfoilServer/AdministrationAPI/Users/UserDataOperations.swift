import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the data of users as a whole.
    static let userData: [AdministrationOperation] = [
        AdministrationOperation(
            "exportUser", .get, "/users/{user}/export", .writeUsers, query: ["cursor"],
            answer: .object(UserExportPage.self), Exports.page),
        AdministrationOperation(
            "previewDeletion", .get, "/users/{user}/deletion", .readUsers, answer: .object(RemovalDocument.self),
            Removals.preview),
        AdministrationOperation(
            "deleteUser", .post, "/users/{user}/deletion", .writeUsers, body: RemovalBody.self,
            answer: .object(RemovedDocument.self), Removals.delete),
    ]
}

private enum Exports {
    static func page(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let user = try await call.account()
        let cursor = ListCursor(call, list: "export \(user.id)")
        let export = UserExportPages(
            of: user.id, named: user.username, in: call.store,
            withEvents: call.caller.rights.rights.contains(.readAudit))
        let position = try cursor.position(in: call.query).flatMap(UserExportPages.Position.init)
        if position == nil { try await call.users.noteExport(of: user.id) }
        try await call.users.check(actingOn: user.id)
        var page = try await export.page(at: position, time: call.now)
        // A deletion in the meantime has left the page without some records.
        _ = try await call.account()
        page.next = try page.position.map { try cursor.text(after: "\($0)") }
        return try AdministrationAnswer(page)
    }
}

private enum Removals {
    static func preview(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let user = try await call.account().id
        guard let counts = try await call.store.removalCounts(of: user) else { throw NotFoundError() }
        let readable = try await call.store.clients(of: user)
        let clients = try await call.store.clientIdentifiers(of: user).map { id in
            let client = readable.first { $0.id == id }
            return OwnedClientDocument(clientID: id.rawValue, clientName: client?.presentation.name)
        }
        return try AdministrationAnswer(RemovalDocument(counts, clients: clients))
    }

    static func delete(_ call: AdministrationCall, _ body: RemovalBody) async throws -> AdministrationAnswer {
        let user = try await call.account()
        try await call.users.check(actingOn: user.id)
        guard body.username == Username(user.username) else {
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
        let clients = members.texts(.clients, atMost: 1000).map { $0.compactMap { ClientIdentifier($0) } }
        let owner = members.value(.newOwner, rule: "It must be the identifier of a user.") { UserIdentifier($0) }
        if clients != nil, owner != nil { members.refuse(.newOwner, "It cannot be combined with clients.") }
        ownedClients = owner.map { .transfer(to: $0) } ?? clients.map { .delete($0) } ?? .refuse
        guard let username else { return nil }
        self.username = username
    }
}

/// An app of a user who is to be deleted.
struct OwnedClientDocument: Encodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case clientName = "client_name"
    }

    let clientID: String
    /// The name; nil if this version cannot read the record.
    let clientName: String?
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
    let clients: [OwnedClientDocument]
    let countedUpTo: Int

    init(_ counts: RemovalCounts, clients: [OwnedClientDocument]) {
        sessions = counts.sessions.number
        passkeys = counts.passkeys.number
        consents = counts.consents.number
        grants = counts.grants.number
        auditEvents = counts.events.number
        self.clients = clients
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
