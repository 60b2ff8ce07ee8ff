import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: deleted clients")
struct ClientRemovalTests {
    // The database itself refuses the identifier.
    @Test func `no statement inserts a client with the identifier of a deleted one`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        #expect(try await store.addClient(.named("app-template")) == .added)
        for _ in 0..<ClientRemoval.rowsAtOnce { try await world.approve(world.grant()) }
        #expect(try await store.removeClient(world.client.id))
        await #expect(throws: DatabaseError.self) {
            try await store.engine.pool.write { database in
                try database.execute(
                    sql: """
                        CREATE TEMP TABLE copy AS SELECT * FROM clients;
                        UPDATE copy SET id = 'app-lightbox';
                        INSERT INTO clients SELECT * FROM copy;
                        """)
            }
        }
        #expect(try await store.client(world.client.id) == nil)
        try await world.finishRemovals()
        #expect(try await store.addClient(world.client) == .added)
        await store.close()
    }

    @Test func `no row of a deleted client is left`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        var notified = world.client
        notified.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app.example.com/logout")
        #expect(try await store.updateClient(notified, logo: .keep) == .updated)
        notified.revision += 1
        let told = World(store, user: world.user, client: notified, session: world.session)
        for _ in 0..<ClientRemoval.rowsAtOnce { _ = try await told.refreshFamily(of: told.grant()) }
        #expect(try await store.addClientSecret(.example(of: notified)) == .added)
        #expect(try await store.signOutEverywhere(world.user.id, except: nil, at: World.now) == 1)
        #expect(try await store.logoutBacklog().count == 1)
        #expect(try await store.removeClient(notified.id))
        // Metrics do not count what waits for its deletion.
        #expect(try await store.logoutBacklog().count == 0)
        #expect(try await store.takeLogoutDeliveries(dueAt: World.now, until: World.now + 60, limit: 9).isEmpty)
        try await world.finishRemovals(atMost: 3)
        let counts = try await store.engine.pool.read { database in
            try [
                "clients", "grants", "codes", "refresh_tokens", "consents", "client_secrets", "refresh_statistics",
                "logout_deliveries", "logout_queues", "client_origins", "client_removals",
            ].map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") ?? -1 }
        }
        #expect(counts.allSatisfy { $0 == 0 }, "\(counts)")
        await store.close()
    }
}
