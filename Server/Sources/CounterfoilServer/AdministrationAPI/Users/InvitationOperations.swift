@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on invitations.
    static let invitations: [AdministrationOperation] = [
        AdministrationOperation(
            "listInvitations", .get, "/invitations", .readUsers, query: ["limit", "cursor"],
            answer: .list(InvitationRecord.self)
        ) { call in
            let invitations = try await call.store.invitations().map { InvitationRecord($0, at: call.now) }
            return try call.page(of: invitations, list: "invitations", id: \.id)
        },
        AdministrationOperation(
            "createInvitation", .post, "/invitations", .writeUsers, body: InvitationBody.self,
            answer: .object(InvitationRecord.self), status: .created, InvitedUsers.invite),
        AdministrationOperation(
            "withdrawInvitation", .delete, "/invitations/{invitation}", .writeUsers, InvitedUsers.withdraw),
    ]
}

private enum InvitedUsers {
    static func invite(_ call: AdministrationCall, _ body: InvitationBody) async throws -> AdministrationAnswer {
        try call.requireKnownServer()
        guard call.settings.signUp != .closed else {
            throw ProblemError.conflict(
                "sign-up-closed", nil,
                "The server lets no one create an account. Set sign-up to invited or open, and reload its settings.")
        }
        if let role = body.role { try call.users.check(assigning: role) }
        if let client = body.clientID, try await call.components.registry.fresh().invitableClient(client) == nil {
            throw ProblemError.conflict("no-client", .member("client_id", "There is no such app."))
        }
        var draft = Invitations.Draft(
            email: body.email, role: body.role, clientID: body.clientID,
            days: body.days)
        if call.sendsMail, body.email != nil { draft.mailLanguage = body.language }
        var events: [AuditEvent] = []
        let outcome = try await call.components.invitations.invite(draft, now: call.now) { invitation, detail in
            let event = Self.event(call, invitation, detail)
            events.append(event)
            return event
        }
        switch outcome {
        case .invited(let invitation, let link):
            call.components.auditor.countRecorded(events)
            return try AdministrationAnswer(InvitationRecord(invitation, link: link, at: call.now))
        case .emailTaken: throw ProblemError.emailTaken
        case .tooMany:
            throw ProblemError.conflict(
                "too-many-invitations", nil,
                "\(Invitation.limit) invitations are not used. Withdraw some of them, or wait until they expire.")
        case .queueFull: throw ProblemError.mailQueueFull
        }
    }

    static func withdraw(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let id = try call.segment("invitation")
        guard let invitation = try await call.store.invitations().first(where: { $0.shortID == id }) else {
            throw NotFoundError()
        }
        if let role = invitation.role { try call.users.check(assigning: role) }
        var events: [AuditEvent] = []
        let isWithdrawn = try await call.store.withdraw(invitation) { detail in
            let event = Self.event(call, invitation, detail)
            events.append(event)
            return event
        }
        guard isWithdrawn else { throw NotFoundError() }
        call.components.auditor.countRecorded(events)
        return .none
    }

    /// Creates an event of the caller about the account of another person, who has none yet.
    private static func event(
        _ call: AdministrationCall, _ invitation: Invitation, _ detail: String
    ) -> AuditEvent {
        guard call.caller.clientID != nil else {
            return call.event(.account, client: invitation.clientID, detail: detail)
        }
        return call.event(.account, detail: AuditEvent.otherAccountPrefix + detail)
    }
}

/// The body with which a person is invited.
struct InvitationBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case email, role, days, language
        case clientID = "client_id"
    }

    let email: EmailAddress?
    let role: UserRole?
    let clientID: ClientIdentifier?
    let days: Int
    let language: Language

    init?(_ members: inout BodyMembers<Member>) {
        email = members.email(.email)
        role = members.role(.role)
        clientID = members.value(.clientID, rule: "It must be a client_id.") { ClientIdentifier($0) }
        days = members.integer(.days, 1...30) ?? Invitations.standardDays
        let languages = Language.allCases.map(\.rawValue).joined(separator: ", ")
        language =
            members.value(.language, rule: "It must be one of \(languages).", Language.init(rawValue:)) ?? .standard
    }
}

/// An invitation that is not used; its link is shown once.
struct InvitationRecord: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, email, mailed, role, link, expired
        case clientID = "client_id"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
    }

    let id: String
    let email: String?
    let mailed: Bool
    let role: String?
    let clientID: String?
    let link: String?
    let createdAt: Date
    let expiresAt: Date
    let expired: Bool

    init(_ invitation: Invitation, link: String? = nil, at now: Date) {
        id = invitation.shortID
        email = invitation.email?.rawValue
        mailed = invitation.isMailed
        role = invitation.role?.rawValue
        clientID = invitation.clientID?.rawValue
        self.link = link
        createdAt = invitation.createdAt
        expiresAt = invitation.expiresAt
        expired = invitation.expiresAt <= now
    }
}
