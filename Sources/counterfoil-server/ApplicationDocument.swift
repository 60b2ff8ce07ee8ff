import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTokens
import Foundation

/// An application as the command line prints it, in the names of RFC 7591 §2.
struct ApplicationDocument: Encodable {
    private let client: RegisteredClient

    init(_ client: RegisteredClient) { self.client = client }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case applicationType = "application_type"
        case clientName = "client_name"
        case publisher
        case redirectURIs = "redirect_uris"
        case scope
        case tokenEndpointAuthMethod = "token_endpoint_auth_method"
        case requireState = "require_state"
        case firstParty = "first_party"
        case idTokenSignedResponseAlg = "id_token_signed_response_alg"
        case clientIDIssuedAt = "client_id_issued_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(client.id, forKey: .clientID)
        try values.encode(client.type.rawValue, forKey: .applicationType)
        try values.encode(client.name, forKey: .clientName)
        try values.encodeIfPresent(client.publisher, forKey: .publisher)
        try values.encode(client.redirectURIs, forKey: .redirectURIs)
        try values.encode(client.scope, forKey: .scope)
        try values.encode("none", forKey: .tokenEndpointAuthMethod)
        try values.encode(client.requiresState, forKey: .requireState)
        try values.encode(client.isFirstParty, forKey: .firstParty)
        try values.encode(client.idTokenAlgorithm.rawValue, forKey: .idTokenSignedResponseAlg)
        try values.encode(Int(client.createdAt.timeIntervalSince1970), forKey: .clientIDIssuedAt)
    }

    /// The same for people.
    var words: String {
        var lines = [
            "\(client.displayName)", "  client_id: \(client.id)", "  type: \(client.type.rawValue), no secret",
        ]
        if let publisher = client.publisher { lines.append("  publisher: \(DisplayName(publisher))") }
        lines += client.redirectURIs.map { "  redirect URI: \($0)" }
        lines.append("  scope: \(client.scope)")
        if client.isFirstParty { lines.append("  first party: people are not asked for consent") }
        if !client.requiresState { lines.append("  requests without state are accepted") }
        lines.append("  ID tokens: \(client.idTokenAlgorithm.rawValue)")
        return lines.joined(separator: "\n")
    }
}
