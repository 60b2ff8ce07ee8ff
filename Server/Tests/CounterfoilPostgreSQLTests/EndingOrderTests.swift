import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: the record of endings", .timeLimit(.minutes(2)))
struct EndingOrderTests {
    @Test func `transactions that end access wait for each other before they see the database`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            let world = try await World(in: store)
            let grants = (0..<12).map { _ in world.grant() }
            for grant in grants { try await world.approve(grant) }
            // Without the queue, all but one of these conflict, and some of them several times.
            let attempts = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for grant in grants {
                    group.addTask {
                        try await store.database.engine.commit(ending: .usually(.grant)) { connection in
                            attempts.next()
                            try connection.send(
                                "UPDATE grants SET revoked_at = 1 WHERE id = ?", grant.id.rawValue)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(attempts.value == grants.count)
            let last = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(last >= Int64(grants.count))
            await store.close()
        }
    }

    // The default of this server is off.
    @Test func `a commit that ends access is durable also on a synchronous standby, whatever the default is`()
        async throws
    {
        try await TestDatabase.with { uri in
            let store = try await PostgreSQLStore.open(uri)
            let world = try await World(in: store)
            let grant = world.grant()
            try await world.approve(grant)
            for (statement, setting) in [
                ("UPDATE grants SET scope = scope", "off"), ("UPDATE grants SET revoked_at = 1", "on"),
            ] {
                let found = try await store.database.engine.commit { connection in
                    _ = try connection.run(statement)
                    return try connection.first("SELECT current_setting('synchronous_commit')") { try $0.text() }
                }
                #expect(found == setting, "\(statement)")
            }
            await store.close()
        }
    }

    @Test func `a transaction that ends access in rare cases conflicts with others, and loses nothing`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            let world = try await World(in: store)
            let grants = (0..<12).map { _ in world.grant() }
            for grant in grants { try await world.approve(grant) }
            let before = try await store.database.engine.read { try $0.endingsPosition().last }
            try await withThrowingTaskGroup(of: Set<String>.self) { group in
                for grant in grants {
                    group.addTask {
                        try await store.database.engine.commit(as: "revoke", ending: .sometimes(.grant)) { connection in
                            let id = try connection.first("SELECT id FROM grants WHERE id = ?", grant.id.rawValue) {
                                try $0.text()
                            }
                            return try connection.run("UPDATE grants SET revoked_at = 1 WHERE id = ?", id)
                        }.ended
                    }
                }
                for try await ended in group { #expect(ended == ["grant"]) }
            }
            let last = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(last == before + Int64(grants.count))
            await store.close()
        }
    }
}
