import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the users who manage a client with its owner, and on those who are asked to.
    static let clientDevelopers: [AdministrationOperation] = [
        AdministrationOperation(
            "listClientDevelopers", .get, "/clients/{client}/developers", .readClients, query: ["limit", "cursor"],
            answer: .list(ClientDeveloperDocument.self)
        ) { call in
            let client = try await call.client().id
            return try call.page(
                of: try await call.store.developers(of: client), list: "developers \(client)",
                id: { $0.user.id.rawValue }, as: { ClientDeveloperDocument($0) })
        },
        AdministrationOperation(
            "addClientDeveloper", .put, "/clients/{client}/developers/{user}", .writeClients, Developers.add),
        AdministrationOperation(
            "removeClientDeveloper", .delete, "/clients/{client}/developers/{user}", .writeClients
        ) { call in
            let (client, user) = (try await call.client().id, try await call.user())
            guard try await call.store.isDeveloper(user.id, of: client) else { throw NotFoundError() }
            return try Developers.answer(to: try await call.team.remove(user, from: client))
        },
        AdministrationOperation(
            "listDeveloperInvitations", .get, "/clients/{client}/invitations", .readClients,
            query: ["limit", "cursor"], answer: .list(DeveloperInvitationDocument.self)
        ) { call in
            let client = try await call.client().id
            return try call.page(
                of: try await call.store.clientQuestions(of: client, at: call.now), list: "invitations \(client)",
                id: { $0.username.rawValue }, as: { DeveloperInvitationDocument($0) })
        },
        AdministrationOperation(
            "withdrawDeveloperInvitation", .delete, "/clients/{client}/invitations/{username}", .writeClients
        ) { call in
            let client = try await call.client().id
            guard let name = Username(try call.segment("username")),
                try await call.store.clientQuestions(of: client, at: call.now).contains(where: { $0.username == name })
            else { throw NotFoundError() }
            return try Developers.answer(to: try await call.team.withdraw(name, from: client))
        },
    ]
}

private enum Developers {
    static func add(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let (client, user) = (try await call.client(), try await call.user())
        // A developer of the client gets to its rights.
        try call.check(changing: client)
        guard user.disabledAt == nil else { throw ProblemError.userDisabled }
        return try answer(to: try await call.team.add(user, to: client.id))
    }

    static func answer(to outcome: ClientDeveloperOutcome) throws -> AdministrationAnswer {
        switch outcome {
        // A request that is sent twice has the same answer.
        case .changed, .unchanged: return .none
        case .tooMany:
            throw ProblemError.conflict(
                "too-many-developers", nil,
                "The client has \(ClientDeveloper.limit) developers already, or the user manages "
                    + "\(ClientDeveloper.clientLimit) clients; remove one first.")
        case .notFound, .notAllowed, .tooManyQuestions, .changedMeanwhile: throw NotFoundError()
        }
    }
}

extension AdministrationCall {
    /// The changes of the developers of clients that the caller makes.
    fileprivate var team: ClientTeam {
        switch caller.party {
        case .client(let client, let user, _):
            ClientTeam(
                store, by: .token(user, client.id, request), unapproved: settings.newClients,
                notifying: components.auditor.notices, at: now,
                counting: { [auditor = components.auditor] in auditor.countRecorded($0) })
        case .command(let command):
            ClientTeam(store, by: .command, unapproved: .open, notifying: command.notices, at: now)
        }
    }
}

/// A user who manages a client with its owner, in answers of the administration API.
struct ClientDeveloperDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case sub, username, since }

    private let sub: String
    private let username: String
    /// The time since which the user manages the client, in seconds since 1970.
    private let since: Int

    init(_ developer: ClientDeveloper) {
        sub = developer.user.id.rawValue
        username = developer.user.username.rawValue
        since = Int(developer.since.timeIntervalSince1970)
    }
}

/// A name that the developers of a client have asked, and that can still accept.
struct DeveloperInvitationDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case username
        case expiresAt = "expires_at"
    }

    let username: String
    let expiresAt: Date

    init(_ question: ClientQuestion) {
        username = question.username.rawValue
        expiresAt = question.expires
    }
}
