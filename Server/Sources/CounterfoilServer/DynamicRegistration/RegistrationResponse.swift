import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The response with the registration of a client, the client information response (RFC 7591 §3.2.1, RFC 7592 §3).
struct RegistrationResponse: Sendable {
    let clientID: ClientIdentifier
    /// The time of the registration in seconds since 1970.
    let issuedAt: Int
    /// The registered metadata.
    let members: [String: JSONValue]
    /// Why users cannot sign in to the client.
    private let status: [String: JSONValue]
    /// The secret, which only the response to the registration contains; nil if the client has none.
    let secret: ClientSecret?
    let accessToken: RegistrationAccessToken

    init(
        _ client: RegisteredClient, members: [String: JSONValue], secret: ClientSecret? = nil,
        accessToken: RegistrationAccessToken
    ) {
        clientID = client.id
        issuedAt = Int(client.createdAt.timeIntervalSince1970)
        self.members = members
        status = client.statusMembers
        self.secret = secret
        self.accessToken = accessToken
    }

    /// Encodes the response as JSON.
    func encoded(_ issuer: Issuer) throws -> [UInt8] {
        var members = members.merging(status) { _, new in new }
        members["client_id"] = .string(clientID.rawValue)
        members["client_id_issued_at"] = .integer(Int64(issuedAt))
        members["registration_access_token"] = .string(accessToken.exposed)
        members["registration_client_uri"] = .string(issuer.endpoint(Endpoint.registeredClient.path(of: clientID)))
        if let secret {
            members["client_secret"] = .string(secret.exposed)
            // 0: the secret does not expire.
            members["client_secret_expires_at"] = .integer(0)
        }
        return try JSONValue.object(members).encoded()
    }
}

extension RegisteredClient {
    /// Why users cannot sign in to the client, in members of this server (RFC 7591 §3.2.1); empty if they can.
    fileprivate var statusMembers: [String: JSONValue] {
        if let suspension {
            return ["client_status": .string("suspended"), "client_status_reason": .string(suspension.reason)]
        }
        return isPending ? ["client_status": .string("pending")] : [:]
    }
}
