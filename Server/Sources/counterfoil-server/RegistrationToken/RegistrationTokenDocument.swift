import CounterfoilServer
import CounterfoilStore
import Foundation

/// An initial access token in the output of commands.
struct RegistrationTokenDocument: Encodable {
    private let token: InitialAccessToken
    private let newText: InitialAccessTokenText?

    init(_ token: InitialAccessToken, newText: InitialAccessTokenText? = nil) {
        self.token = token
        self.newText = newText
    }

    private enum CodingKeys: String, CodingKey {
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
