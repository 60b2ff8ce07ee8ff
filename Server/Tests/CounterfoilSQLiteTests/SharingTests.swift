import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("SQLite: two processes on one file")
struct SharingTests {
    /// Opens two stores that share only the file, as the server and an administration command do.
    private func withBoth(_ test: (_ server: SQLiteStore, _ administration: SQLiteStore) async throws -> Void)
        async throws
    {
        let directory = try TemporaryDirectory()
        let server = try SQLiteStore(at: directory.path("store.sqlite"))
        let administration = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
        try await test(server, administration)
        await administration.close()
        #expect(try await server.scopes().count >= ScopeDefinition.standard.count)
        await server.close()
    }

    @Test func `each store sees the other's writes at its next request`() async throws {
        try await withBoth { server, administration in
            #expect(try await server.clients() == [])
            let world = try await World(in: administration)
            #expect(try await server.client(world.client.id) == world.client)
            #expect(try await server.user(world.user.id) == world.user)
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            #expect(try await server.recordConsent(world.approval(grant, code)) == .recorded)
            #expect(try await administration.grant(grant.id) == grant)
            #expect(try await administration.revokeGrant(grant.id, because: .client, at: World.now) == .revoked)
            #expect(try await server.consumeCode(code.digest, beginning: nil, at: World.now) == .gone)
        }
    }

    // The server must not return cached data after another process has written.
    @Test func `a cached read is repeated after each write of the other store`() async throws {
        try await withBoth { server, administration in
            let world = try await World(in: administration)
            let grant = world.grant()
            try await world.approve(grant)
            let api = RegisteredResource(
                resource: try Resource("https://api.example.com"),
                clientID: try #require(RegisteredResource.newClientID()),
                name: "Photos", scope: Scope([.openID]), secret: ArtefactDigest(of: ClientSecret()),
                createdAt: World.now)
            #expect(try await administration.addResource(api) == .added)
            let registry = CachedRegistry(server)
            for _ in 1...2 {
                #expect(try await server.grantFacts(grant.id)?.grant == grant)
                #expect(try await registry.fresh().resource(authenticatingAs: api.clientID) == api)
            }
            #expect(try await administration.revokeGrant(grant.id, because: .client, at: World.now) == .revoked)
            #expect(try await server.grantFacts(grant.id)?.grant.revokedAt == World.now)
            let secret = ArtefactDigest(of: ClientSecret())
            #expect(try await administration.replaceSecret(of: api.resource, with: secret))
            #expect(try await registry.fresh().resource(authenticatingAs: api.clientID)?.secret == secret)
            // Its own writes invalidate the cache too.
            #expect(try await server.removeResource(api.resource))
            #expect(try await registry.fresh().resource(authenticatingAs: api.clientID) == nil)
        }
    }

    @Test func `of a hundred redemptions through both one succeeds`() async throws {
        try await withBoth { server, administration in
            let world = try await World(in: administration)
            let code = try await world.approve(world.grant())
            let counts = try await outcomes(of: 100) { number in
                try await (number.isMultiple(of: 2) ? server : administration).consumeCode(
                    code.digest, beginning: nil, at: World.now)
            }
            #expect(counts == [.consumed: 1, .alreadyUsed: 99])
        }
    }
}
