import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// A restore with the journal of a store, on a store that equals this one at the time of a copy.
///
/// A test uses two stores at the same time, and the number of stores is limited, so one test runs at a time.
@Suite("The contract: a restored store", .serialized)
struct RestoredStoreContractTests {
    private static let kinds: [StoreKind] = [.sqlite, .postgreSQL]

    @Test func `the changes have every kind of ending`() {
        let kinds = EndingChange.all.reduce(into: Set<Ending.Kind>()) { $0.formUnion($1.kinds) }
        #expect(kinds == Set(Ending.Kind.allCases))
    }

    @Test(arguments: kinds, EndingChange.all)
    func `a restore ends again what had ended after the copy, and reports what it cannot bring back`(
        _ kind: StoreKind, _ change: EndingChange
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("endings")
        try await kind.withWorld { world async throws in
            let steps = try await change.steps(world)
            try await kind.withStore { store async throws in
                let copy = try await Self.copy(of: world, in: store)
                for world in [world, copy] {
                    try await steps.prepare(world)
                    if let isValid = steps.isValid { #expect(try await isValid(world)) }
                }
                // The clock of the server was an hour ahead of that of the database, which has the times of endings.
                let created = (store.now() + 3600).microseconds
                try await store.database.engine.commit { try $0.send("UPDATE people SET created_at = ?", created) }
                let history = try await Self.history(in: path, of: world, steps.end)
                #expect(Set(history.endings.map(\.kind)).isSuperset(of: change.kinds.map(\.name)))
                if let isValid = steps.isValid { #expect(try await !isValid(world)) }

                let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
                let restored = RestoredStore(store, serverKey: key)
                var expected = steps.report
                expected.endings = history.endings.count
                // A restore that was interrupted begins again.
                for _ in 1...2 { #expect(try await restored.apply(history) == expected) }
                try await restored.finish(recording: [], continuing: history.end)
                if let isValid = steps.isValid { #expect(try await !isValid(copy)) }
                #expect(try await steps.isLeft(copy))
            }
        }
    }

    // A database that lost the creation of a user gives the number to the next one.
    @Test(arguments: kinds) func `an ending concerns only a user who was created before it`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let number = try await store.database.engine.read { connection in
                try connection.first("SELECT number FROM people") { try $0.integer() }
            }
            let subject = String(try #require(number))
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            let restored = RestoredStore(store, serverKey: key)
            for (seconds, isSame) in [(-60.0, false), (60, true)] {
                let endings = ["user-disabled", "password"].enumerated().map { index, kind in
                    Ending(
                        number: Int64(index) + 1, at: (world.user.createdAt + seconds).microseconds, kind: kind,
                        subject: subject, detail: nil)
                }
                let report = try await restored.endAgain(endings)
                #expect(report.disabled.count == (isSame ? 1 : 0) && report.withoutPassword.count == (isSame ? 1 : 0))
                let user = try #require(try await store.user(world.user.id))
                #expect((user.disabledAt != nil) == isSame)
                #expect(user.passwordHash == (isSame ? nil : world.user.passwordHash))
            }
        }
    }

    /// Creates the same user, client and session in another store, where the user gets the same number.
    private static func copy(of world: World, in store: any AuthorizationServerStore) async throws -> World {
        let copy = World(store, user: world.user, client: world.client, session: world.session)
        #expect(try await store.addUser(world.user, recording: []) == .added)
        #expect(try await store.addClient(world.client) == .added)
        try await copy.begin(world.session)
        return copy
    }

    /// Changes a store with a journal, and reads what the change has ended.
    private static func history(
        in path: String, of world: World, _ end: (World) async throws -> Void
    ) async throws -> EndingsHistory {
        let store = try #require(world.store as? any SQLStore)
        let position = try await store.database.engine.read { try $0.endingsPosition() }
        try await EndingsJournal.open(of: store, at: path, marking: true) { failure in Issue.record("\(failure)") }
        try await end(world)
        return try EndingsHistory(ofFilesAt: [path], after: position, copiedAt: nil)
    }
}
