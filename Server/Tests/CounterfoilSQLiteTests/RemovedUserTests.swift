import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: deleted users")
struct RemovedUserTests {
    // The grants of a deleted user are found by its number until they are deleted.
    @Test func `a new user does not get the number of a deleted user`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        _ = try await world.refreshFamily(of: world.grant())
        #expect(try await world.beginRemoval() == .begun([]))
        let eve = try User.named("eve")
        #expect(try await store.addUser(eve) == .added)
        #expect(try await store.grants(of: eve.id, after: nil, limit: 9).isEmpty)
        // The database itself refuses the number.
        await #expect(throws: DatabaseError.self) {
            try await store.engine.pool.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO people (
                            number, id, username, display_name, display_name_key, profile,
                            created_at, changed_at
                        ) SELECT removed_people.number, 'per_other', 'other', '', '', '{}', 0, 0
                        FROM removed_people
                        """)
            }
        }
        await store.close()
    }
}
