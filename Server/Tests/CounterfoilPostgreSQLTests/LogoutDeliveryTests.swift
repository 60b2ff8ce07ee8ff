@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLDriver
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: back-channel logout of several servers", .timeLimit(.minutes(2)))
struct LogoutDeliveryTests {
    /// Queues a delivery for each of some clients without an owner and of some clients of one owner.
    private static func queueDeliveries(in store: PostgreSQLStore, ownerless: Int, owned: Int) async throws {
        let world = try await World(in: store)
        let owner = try User.named("dora")
        #expect(try await store.addUser(owner) == .added)
        for number in 1...(ownerless + owned) {
            var client = try RegisteredClient.named("app-\(number)", owner: number > ownerless ? owner.id : nil)
            client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app-\(number).example.com/logout")
            #expect(try await store.addClient(client) == .added)
            let told = World(store, user: world.user, client: client, session: world.session)
            try await told.approve(told.grant())
        }
        #expect(try await store.endSession(world.session.digest, at: World.now, recording: []))
        #expect(try await store.logoutBacklog().count == ownerless + owned)
    }

    private static func take(from store: PostgreSQLStore) async throws -> [LogoutDelivery] {
        try await store.takeLogoutDeliveries(dueAt: World.now + 1, until: World.now + 61, limit: 5)
    }

    /// The deliveries that several tasks have taken.
    private final class Taken: Sendable {
        private let list = Mutex<[LogoutDelivery]>([])
        var deliveries: [LogoutDelivery] { list.withLock { $0 } }

        func add(_ deliveries: [LogoutDelivery]) { list.withLock { $0 += deliveries } }
    }

    @Test func `several servers take each delivery once, and keep the limit of an owner together`() async throws {
        try await TestDatabase.withServer { server, database in
            let uri = try server.uri(database: database)
            let first = try await PostgreSQLStore.open(uri)
            try await Self.queueDeliveries(in: first, ownerless: 30, owned: 10)
            let stores = [first] + [try await PostgreSQLStore.open(uri), try await PostgreSQLStore.open(uri)]
            let expected = 30 + LogoutDelivery.ownerLimit
            let taken = Taken()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores + stores {
                    group.addTask {
                        while taken.deliveries.count < expected { taken.add(try await Self.take(from: store)) }
                    }
                }
                try await group.waitForAll()
            }
            let deliveries = taken.deliveries
            #expect(deliveries.count == expected)
            #expect(Set(deliveries.map(\.number)).count == expected)
            #expect(Set(deliveries.map(\.clientID)).count == expected)
            #expect(try await Self.take(from: first).isEmpty)
            for store in stores { await store.close() }
        }
    }

    @Test func `a server waits for no other that takes deliveries, and for no queue that is being changed`()
        async throws
    {
        try await TestDatabase.withServer { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            try await Self.queueDeliveries(in: store, ownerless: 3, owned: 0)
            let other = try Connection.open(server.uri(database: database).uri).connection
            func exchange(_ sql: String) throws { _ = try other.exchange([Statement(sql)], by: .now + .seconds(30)) }

            // To wait for a lock would be a fault after two seconds.
            try exchange("BEGIN")
            try exchange("SELECT 1 FROM attempt_locks WHERE slot = 0 FOR UPDATE")
            #expect(try await Self.take(from: store).isEmpty)
            try exchange("ROLLBACK")

            try exchange("BEGIN")
            try exchange("UPDATE logout_queues SET host_failures = 7 WHERE client_id = 'app-2'")
            #expect(try await Self.take(from: store).map(\.clientID.rawValue) == ["app-1", "app-3"])
            try exchange("COMMIT")
            let last = try await Self.take(from: store)
            #expect(last.map(\.clientID.rawValue) == ["app-2"] && last.first?.hostFailures == 7)
            await store.close()
        }
    }
}
