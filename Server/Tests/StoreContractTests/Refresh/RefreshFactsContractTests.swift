@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: the facts of a refresh")
struct RefreshFactsContractTests {
    /// Checks the facts of a family, and what a refresh reads beside them; both stores use the same data.
    private static func check(
        _ server: any AuthorizationServerStore, _ administration: any AuthorizationServerStore
    ) async throws {
        let world = try await World(in: administration)
        let api = RegisteredResource(
            resource: try Resource("https://api.example.com/v1"),
            clientID: try #require(RegisteredResource.newClientID()), name: "Photos", scope: Scope([.openID]),
            secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
        #expect(try await administration.addResource(api) == .added)
        let grant = Grant(
            userID: world.user.id, clientID: world.client.id, scope: Scope([.openID, .offlineAccess]),
            resources: [try Resource("https://gone.example.com"), api.resource],
            sessionID: world.session.id, createdAt: World.now, lastUsedAt: World.now)
        let code = try await world.approve(grant)
        let line = RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, keyThumbprint: .example,
            rotatedAt: World.now,
            lastUsedAt: World.now, expiresAt: World.now + 86_400)
        #expect(try await administration.consumeCode(code.digest, beginning: line, at: World.now) == .consumed)

        // The first lookup fills the cache; each later one must still return the stored data.
        let registry = CachedRegistry(server)
        let seen = try #require(try await server.refreshFacts(line.digest))
        #expect(seen == RefreshFacts(family: line, grant: grant, user: world.user))
        #expect(try await registry.fresh().resource(api.resource) == api)
        #expect(try await registry.fresh().resource(grant.resources[0]) == nil)

        #expect(try await registry.fresh().client(world.client.id) == world.client)
        var changed = world.client
        changed.presentation.name = "Lightbox, renamed"
        #expect(try await administration.updateClient(changed, logo: .keep) == .updated)
        #expect(try await registry.fresh().client(world.client.id)?.presentation.name == "Lightbox, renamed")
        let secret = ClientSecretRecord.example(of: world.client)
        #expect(try await administration.addClientSecret(secret) == .added)
        #expect(try await registry.fresh().clientSecrets(of: world.client.id) == [secret])
        #expect(try await administration.removeClientSecret(secret.digest, of: world.client.id))
        #expect(try await registry.fresh().clientSecrets(of: world.client.id) == [])
        let other = ArtefactDigest(of: ClientSecret())
        #expect(try await administration.replaceSecret(of: api.resource, with: other))
        #expect(try await registry.fresh().resource(api.resource)?.secret == other)
        #expect(try await administration.removeResource(api.resource))
        #expect(try await registry.fresh().resource(api.resource) == nil)
        #expect(try await administration.removeClient(world.client.id))
        #expect(try await server.refreshFacts(line.digest) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a token family is read with its grant and its user, beside its APIs as they are now`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store async throws in try await Self.check(store, store) }
    }

    @Test func `a change of a client or an API by another process is used at the next refresh`() async throws {
        let directory = try TemporaryDirectory()
        let server = try SQLiteStore(at: directory.path("store.sqlite"))
        let administration = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
        try await Self.check(server, administration)
        await administration.close()
        await server.close()
    }
}
