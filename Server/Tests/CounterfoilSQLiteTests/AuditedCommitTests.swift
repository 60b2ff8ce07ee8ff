import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

/// Commits whose event cannot be appended, as on a full disk.
struct AuditedCommitTests {
    @Test func `a change whose event cannot be appended does not happen, and others in its batch do`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let database = try DatabaseQueue(path: store.path)
        try await database.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER broken BEFORE INSERT ON audit WHEN NEW.detail = 'broken'
                        BEGIN SELECT RAISE(ABORT, 'broken'); END
                    """)
        }
        try database.close()
        func event(_ detail: String) -> AuditEvent {
            AuditEvent(at: World.now, .account, userID: world.user.id, detail: detail)
        }
        let added = await withTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    let isBroken = number % 2 == 1
                    guard let user = try? User.named("user\(number)") else { return Int?.none }
                    let events = [event("\(number)"), event(isBroken ? "broken" : "second")]
                    let outcome = try? await store.addUser(user, recording: events)
                    return outcome == .added ? number : nil
                }
            }
            return await group.reduce(into: Set<Int>()) { added, number in
                if let number { added.insert(number) }
            }
        }
        #expect(added == Set(stride(from: 0, to: 20, by: 2)))
        let users = try await store.users(after: nil, limit: 100).map(\.username.rawValue)
        #expect(Set(users) == Set(added.map { "user\($0)" } + ["ada"]))
        let details = try await store.audit(AuditQuery(limit: 1000)).compactMap(\.event.detail)
        #expect(details.filter { $0 != "second" }.compactMap(Int.init).sorted() == added.sorted())
        #expect(details.filter { $0 == "second" }.count == added.count)

        let session = try #require(try await store.sessions(of: world.user.id).first)
        await #expect(throws: StoreFault.self) {
            try await store.endSession(session.digest, at: World.now, recording: [event("broken")])
        }
        #expect(try await store.session(session.digest) != nil)
        await store.close()
    }
}
