import CounterfoilStore
import Foundation
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
            let (token, text) = try await call.server.addRegistrationToken(
                named: body.name, days: body.days, random: call.components.random)
            return try AdministrationAnswer(RegistrationTokenDocument(token, newText: text))
        },
        AdministrationOperation(
            "removeRegistrationToken", .delete, "/registration-tokens/{token}", .writeClients
        ) { call in
            let id = try call.segment("token")
            guard let token = try await call.store.initialAccessTokens().first(where: { $0.shortID == id }) else {
                throw NotFoundError()
            }
            guard try await call.server.remove(token) else { throw NotFoundError() }
            return .none
        },
    ]
}

/// The body with which a token is added.
struct RegistrationTokenBody: AdministrationBody {
    enum Member: String, CaseIterable { case name, days }

    let name: String
    let days: Int

    init?(_ members: inout BodyMembers<Member>) {
        let name = members.required(.name, rule: "It must have 1 to 100 visible characters.") {
            ServerAdministration.isTokenName($0) ? $0 : nil
        }
        days = members.integer(.days, ServerAdministration.tokenDays) ?? ServerAdministration.standardTokenDays
        guard let name else { return nil }
        self.name = name
    }
}

/// An initial access token in answers of the administration API.
struct RegistrationTokenDocument: AdministrationDocument {
    typealias Member = CodingKeys

    private let token: InitialAccessToken
    private let newText: InitialAccessTokenText?

    init(_ token: InitialAccessToken, newText: InitialAccessTokenText? = nil) {
        self.token = token
        self.newText = newText
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, token
        case createdAt = "created_at"
        case expiresAt = "expires_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(token.shortID, forKey: .id)
        try values.encode(token.name, forKey: .name)
        try values.encodeIfPresent(newText?.exposed, forKey: .token)
        try values.encode(Int(token.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try values.encode(Int(token.expiresAt.timeIntervalSince1970), forKey: .expiresAt)
    }
}
