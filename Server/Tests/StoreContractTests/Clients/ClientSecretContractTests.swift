import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: client secrets")
struct ClientSecretContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a client has the secret that it was registered with`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try RegisteredClient.named("web")
            let secret = ClientSecretRecord.example(of: client)
            let outcome = try await world.store.addClient(client, logo: nil, secret: secret, ownerLimit: .max)
            #expect(outcome == .added)
            #expect(try await world.store.clientSecrets(of: client.id) == [secret])
            #expect(try await world.store.clientSecrets(of: world.client.id) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused registration stores no secret`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let secret = ClientSecretRecord.example(of: world.client)
            let outcome = try await world.store.addClient(world.client, logo: nil, secret: secret, ownerLimit: .max)
            #expect(outcome == .identifierTaken)
            #expect(try await world.store.clientSecrets(of: world.client.id) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred secrets two are added`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, world.client)
            let counts = try await outcomes(of: 100) { _ in try await store.addClientSecret(.example(of: client)) }
            #expect(counts == [.added: 2, .tooMany: 98])
            #expect(try await store.clientSecrets(of: client.id).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `one secret replaces the other`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (old, new) = (
                ClientSecretRecord.example(of: world.client), ClientSecretRecord.example(of: world.client, after: 5)
            )
            #expect(try await world.store.addClientSecret(new) == .added)
            #expect(try await world.store.addClientSecret(old) == .added)
            #expect(try await world.store.clientSecrets(of: world.client.id) == [old, new])
            #expect(try await world.store.removeClientSecret(old.digest, of: world.client.id))
            #expect(try await !world.store.removeClientSecret(old.digest, of: world.client.id))
            #expect(try await world.store.clientSecrets(of: world.client.id) == [new])
            #expect(try await world.store.addClientSecret(.example(of: world.client, after: 9)) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client cannot delete the secret of another client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let other = try RegisteredClient.named("other")
            #expect(try await world.store.addClient(other) == .added)
            let secret = ClientSecretRecord.example(of: world.client)
            #expect(try await world.store.addClientSecret(secret) == .added)
            #expect(try await !world.store.removeClientSecret(secret.digest, of: other.id))
            #expect(try await world.store.clientSecrets(of: world.client.id) == [secret])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted client gets no secret`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await world.store.addClientSecret(.example(of: world.client)) == .clientDeleted)
            #expect(try await world.store.clientSecrets(of: world.client.id) == [])
        }
    }
}
