import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

/// The counts of a client, which several servers change at the same time.
@Suite("PostgreSQL: counters", .timeLimit(.minutes(2)))
struct CounterSlotTests {
    @Test func `the counts of a client are the sums of its slots, and go with the client`() async throws {
        try await TestDatabase.withServer { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            let world = try await World(in: store)
            let id = world.client.id.rawValue
            try server.sql(
                "INSERT INTO pkce_exceptions VALUES ('\(id)', 99, 5, 1)",
                "INSERT INTO refresh_statistics VALUES ('\(id)', 99, 7, 1, 3, 0)", database: database)
            let grants = (0..<40).map { world.grant(at: World.now + TimeInterval($0)) }
            for grant in grants {
                let approval = world.approval(grant, try .example(for: grant), pkce: .plain)
                #expect(try await store.recordConsent(approval) == .recorded)
            }
            #expect(
                try await store.revokeGrant(grants[0].id, because: .refreshReuse, at: World.now, recording: [])
                    == .revoked)
            #expect(
                try await store.pkceExceptionUse(of: world.client.id)
                    == PKCEExceptionUse(count: 45, lastAt: World.now + 39))
            let statistics = try await store.refreshStatistics(of: world.client.id)
            #expect(statistics.repeats == 7)
            #expect(statistics.reuses == 2)
            #expect(statistics.revocations == 1)
            #expect(try await store.refreshStatistics() == statistics)
            // The commits have not shared one row.
            let rows = try server.sql("SELECT count(*) > 10 FROM pkce_exceptions", database: database)
            #expect(rows == ["t"])

            #expect(try await store.removeClient(world.client.id, recording: []))
            let left = "SELECT (SELECT count(*) FROM pkce_exceptions) + (SELECT count(*) FROM refresh_statistics)"
            #expect(try server.sql(left, database: database) == ["0"])
            await store.close()
        }
    }
}
