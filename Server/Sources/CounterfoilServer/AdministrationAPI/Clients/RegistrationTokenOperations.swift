@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the tokens with which clients may register themselves.
    static let registrationTokens: [AdministrationOperation] = [
        AdministrationOperation(
            "listRegistrationTokens", .get, "/registration-tokens", .readClients, query: ["limit", "cursor"],
            answer: .list(RegistrationTokenDocument.self)
        ) { call in
            let tokens = try await call.store.initialAccessTokens()
            return try call.page(
                of: tokens, list: "registration-tokens", id: \.shortID, as: { RegistrationTokenDocument($0) })
        },
        AdministrationOperation(
            "addRegistrationToken", .post, "/registration-tokens", .writeClients, body: RegistrationTokenBody.self,
            answer: .object(RegistrationTokenDocument.self), status: .created
        ) { call, body in
            let text = InitialAccessTokenText(random: call.components.random)
            let token = InitialAccessToken(registering: text, named: body.name, days: body.days, at: call.now)
            let event = call.event(.setting, detail: token.additionDetail)
            try await call.store.addInitialAccessToken(token, recording: [event])
            call.components.auditor.countRecorded(event)
            return try AdministrationAnswer(RegistrationTokenDocument(token, newText: text))
        },
        AdministrationOperation(
            "removeRegistrationToken", .delete, "/registration-tokens/{token}", .writeClients
        ) { call in
            let id = try call.segment("token")
            guard let token = try await call.store.initialAccessTokens().first(where: { $0.shortID == id }) else {
                throw NotFoundError()
            }
            let event = call.event(.setting, detail: token.removalDetail)
            guard try await call.store.removeInitialAccessToken(token.digest, recording: [event]) else {
                throw NotFoundError()
            }
            call.components.auditor.countRecorded(event)
            return .none
        },
    ]
}

extension InitialAccessToken {
    /// The allowed numbers of days until a token expires.
    package static let days = 1...3650
    /// The number of days for a token whose creator names none.
    package static let standardDays = 90

    /// Creates the record of a new token.
    package init(registering text: InitialAccessTokenText, named name: String, days: Int, at now: Date) {
        self.init(
            digest: ArtefactDigest(of: text), name: name, createdAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(days) * 86_400))
    }

    /// Returns true if a text can be the name of a token.
    package static func accepts(name: String) -> Bool { DisplayName.isShownWhole(name, length: 1...100) }

    /// The detail of the audit event of the addition.
    package var additionDetail: String { "added the registration token \(shortID)" }
    /// The detail of the audit event of the removal.
    package var removalDetail: String { "removed the registration token \(shortID)" }
}

/// The body with which a token is added.
struct RegistrationTokenBody: AdministrationBody {
    enum Member: String, CaseIterable { case name, days }

    let name: String
    let days: Int

    init?(_ members: inout BodyMembers<Member>) {
        let name = members.required(.name, rule: "It must have 1 to 100 visible characters.") {
            InitialAccessToken.accepts(name: $0) ? $0 : nil
        }
        days = members.integer(.days, InitialAccessToken.days) ?? InitialAccessToken.standardDays
        guard let name else { return nil }
        self.name = name
    }
}

/// An initial access token in answers of the administration API, and in the output of commands.
package struct RegistrationTokenDocument: AdministrationDocument {
    typealias Member = CodingKeys

    private let token: InitialAccessToken
    private let newText: InitialAccessTokenText?

    package init(_ token: InitialAccessToken, newText: InitialAccessTokenText? = nil) {
        self.token = token
        self.newText = newText
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, token
        case createdAt = "created_at"
        case expiresAt = "expires_at"
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(token.shortID, forKey: .id)
        try values.encode(token.name, forKey: .name)
        try values.encodeIfPresent(newText?.exposed, forKey: .token)
        try values.encode(Int(token.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try values.encode(Int(token.expiresAt.timeIntervalSince1970), forKey: .expiresAt)
    }
}
