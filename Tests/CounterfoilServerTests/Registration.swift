import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Testing

extension TestServer {
    /// Registers a client under a policy, and with a secret if one is given.
    ///
    /// Its identifier is `app_` with the name in lower case.
    func register(
        _ name: String,
        type: ClientType = .native,
        at redirectURIs: [String] = ["http://127.0.0.1/callback"],
        under policy: ClientPolicy,
        secret: ClientSecret? = nil
    ) async throws -> RegisteredClient {
        let client = try await register(name, type: type, redirectURIs: redirectURIs, policy: policy)
        if let secret {
            let record = ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: clock.now)
            #expect(try await store.addClientSecret(record) == .added)
        }
        return client
    }

    /// Gives a client another policy.
    func setPolicy(_ policy: ClientPolicy, of id: ClientIdentifier) async throws {
        var client = try #require(try await store.client(id))
        client.policy = policy
        #expect(try await store.updateClient(client, logo: .keep) == .updated)
    }
}
