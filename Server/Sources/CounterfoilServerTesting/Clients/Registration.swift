package import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore

extension TestServer {
    /// Registers a client with a policy, and adds `secret` if it is given.
    ///
    /// The identifier is `app_` and the first 40 ASCII letters of the name in lower case.
    package func register(
        _ name: String,
        type: ClientType = .native,
        at redirectURIs: [String] = ["http://127.0.0.1/callback"],
        for scope: String = "openid profile photos.read photos.write",
        under policy: ClientPolicy,
        secret: ClientSecret? = nil
    ) async throws -> RegisteredClient {
        let client = try await register(name, type: type, redirectURIs: redirectURIs, scope: scope, policy: policy)
        if let secret {
            let record = ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: clock.now)
            let outcome = try await store.addClientSecret(record)
            guard outcome == .added else { throw Refused("the secret of \(name) was not added: \(outcome)") }
        }
        return client
    }

    package func setPolicy(_ policy: ClientPolicy, of id: ClientIdentifier) async throws {
        try await change(id) { $0.policy = policy }
    }

    /// Applies `change` to the stored record of a client, and `logo` to its logo; throws if the store refuses.
    package func change(
        _ client: RegisteredClient, logo: LogoChange = .keep, _ change: (inout RegisteredClient) -> Void
    ) async throws {
        try await self.change(client.id, logo: logo, change)
    }

    private func change(
        _ id: ClientIdentifier, logo: LogoChange = .keep, _ change: (inout RegisteredClient) -> Void
    ) async throws {
        guard var client = try await store.client(id) else { throw Refused("\(id) is not registered") }
        change(&client)
        let outcome = try await store.updateClient(client, logo: logo)
        guard outcome == .updated else { throw Refused("\(id) was not changed: \(outcome)") }
    }
}
