import CounterfoilProtocol
import CounterfoilStore

/// A client that may be notified of ended sessions, with its current logout URI.
struct LogoutRecipient: Sendable {
    let client: RegisteredClient
    /// The `backchannel_logout_uri` of the client.
    let address: AbsoluteURI
    /// Whether the host can be in a private network that the operator allows.
    let mayReachPrivateNetworks: Bool
}

extension ClientDirectory {
    /// Returns the recipient of the notifications to a client; nil if the client must not be notified.
    ///
    /// That is the case if the client was deleted or no longer has a logout URI. It is also the case if the client is
    /// unregistered, and the policy no longer accepts its kind, one of its hosts or the host of its logout URI.
    func logoutRecipient(_ id: ClientIdentifier) async throws -> LogoutRecipient? {
        guard let client = try await existing(id), let address = client.backchannelLogoutURI else { return nil }
        guard client.isUnregistered else {
            return LogoutRecipient(client: client, address: address, mayReachPrivateNetworks: true)
        }
        let policy = try await registry.fresh().effectiveUnregisteredClientPolicy(settings)
        guard let host = address.host, policy.accepts(host: host) else { return nil }
        return LogoutRecipient(client: client, address: address, mayReachPrivateNetworks: policy.names(host: host))
    }
}
