import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: back-channel logout queues")
struct LogoutQueueContractTests {
    /// A user whose sessions end, and clients that are notified.
    private struct Queues {
        let store: any AuthorizationServerStore
        let user: User

        init(_ store: any AuthorizationServerStore) async throws {
            self.store = store
            user = try User.named("ada")
            #expect(try await store.addUser(user) == .added)
        }

        func client(
            _ name: String, of owner: User? = nil, source: ClientSource = .console
        ) async throws -> RegisteredClient {
            let id = source.kind == .document ? "https://\(name).example.com/client.json" : name
            var client = try RegisteredClient.named(id, owner: owner?.id)
            client.source = source
            client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://\(name).example.com/logout")
            #expect(try await store.addClient(client) == .added)
            return client
        }

        /// Ends a session with a grant for each of the clients.
        func endSession(with clients: [RegisteredClient], at time: Date = World.now) async throws {
            let session = Session.example(of: user)
            #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            for client in clients {
                let grant = Grant(
                    userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
                    createdAt: World.now, lastUsedAt: World.now)
                try await World(store, user: user, client: client, session: session).approve(grant)
            }
            #expect(try await store.endSession(session.digest, at: time))
        }

        func take(at seconds: TimeInterval, limit: Int = 100) async throws -> [LogoutDelivery] {
            try await store.takeLogoutDeliveries(
                dueAt: World.now + seconds, until: World.now + seconds + 60, limit: limit)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client has one notification in flight, and the next after it or after its lease`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let queues = try await Queues(store)
            let client = try await queues.client("app-one")
            for _ in 1...3 { try await queues.endSession(with: [client]) }
            #expect(try await store.logoutBacklog() == LogoutBacklog(count: 3, oldest: World.now))
            let first = try #require(try await queues.take(at: 1).first)
            #expect(try await queues.take(at: 1).isEmpty)
            try await store.settleLogoutDelivery(first, .done)
            let second = try #require(try await queues.take(at: 1).first)
            #expect(second.number != first.number)
            #expect(try await queues.take(at: 60).isEmpty)
            // The process that took the delivery has ended.
            #expect(try await queues.take(at: 61).map(\.number) == [second.number])
            try await store.settleLogoutDelivery(second, .untried(dueAt: World.now + 63))
            #expect(try await queues.take(at: 62).isEmpty)
            #expect(try await queues.take(at: 63).map(\.attempts) == [0])
            #expect(try await store.logoutBacklog().count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the clients of one owner have only a few notifications in flight`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let queues = try await Queues(store)
            let owner = try User.named("dora")
            #expect(try await store.addUser(owner) == .added)
            var clients: [RegisteredClient] = []
            for number in 1...10 { clients.append(try await queues.client("app-owned-\(number)", of: owner)) }
            let (own, other) = (try await queues.client("app-x"), try await queues.client("app-y"))
            try await queues.endSession(with: clients)
            try await queues.endSession(with: [own, other], at: World.now + 1)
            let taken = try await queues.take(at: 2)
            #expect(LogoutDelivery.ownerLimit == 4)
            #expect(taken.count == LogoutDelivery.ownerLimit + 2)
            #expect(Set(taken.map(\.clientID)).isSuperset(of: [own.id, other.id]))
            #expect(try await queues.take(at: 2).isEmpty)
            let owned = try #require(taken.first { $0.clientID != own.id && $0.clientID != other.id })
            try await store.settleLogoutDelivery(owned, .done)
            #expect(try await queues.take(at: 2).count == 1)
            #expect(try await queues.take(at: 2).isEmpty)
        }
    }

    // A stranger can register any number of clients, and none of them has an owner.
    @Test(arguments: StoreKind.allCases)
    func `all unregistered clients together have only a few notifications in flight`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let queues = try await Queues(store)
            var strangers: [RegisteredClient] = []
            for number in 1...5 {
                let registration = DynamicRegistration(
                    metadata: Array("{}".utf8), accessToken: ArtefactDigest(of: ClientSecret()))
                strangers.append(try await queues.client("app-self-\(number)", source: .registration(registration)))
                strangers.append(
                    try await queues.client("document-\(number)", source: .document(Array("{}".utf8))))
            }
            let (own, other) = (try await queues.client("app-x"), try await queues.client("app-y"))
            try await queues.endSession(with: strangers)
            try await queues.endSession(with: [own, other], at: World.now + 1)
            let taken = try await queues.take(at: 2)
            #expect(taken.count == LogoutDelivery.ownerLimit + 2)
            #expect(Set(taken.map(\.clientID)).isSuperset(of: [own.id, other.id]))
            #expect(try await queues.take(at: 2).isEmpty)
            // One that is settled makes room for one, whatever the kind of either client.
            var inFlight = taken.filter { $0.clientID != own.id && $0.clientID != other.id }
            for _ in LogoutDelivery.ownerLimit..<strangers.count {
                try await store.settleLogoutDelivery(try #require(inFlight.popLast()), .done)
                let next = try await queues.take(at: 2)
                #expect(next.count == 1)
                inFlight = next + inFlight
            }
            #expect(try await queues.take(at: 2).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a host that does not respond pauses its client, and an error of a client does not`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let queues = try await Queues(store)
            let client = try await queues.client("app-one")
            for _ in 1...2 { try await queues.endSession(with: [client]) }
            let first = try #require(try await queues.take(at: 0).first)
            #expect(try await store.settleLogoutDelivery(first, .refused(retryAt: World.now + 10)) == 0)
            let second = try #require(try await queues.take(at: 0).first)
            #expect(second.number != first.number)
            let paused = LogoutDeliverySettlement.hostFailed(
                retryAt: World.now + 30, pausedUntil: World.now + 30, removingBefore: World.now - 60)
            #expect(try await store.settleLogoutDelivery(second, paused) == 0)
            // A delivery that is queued during the pause waits too.
            try await queues.endSession(with: [client], at: World.now + 1)
            #expect(try await queues.take(at: 29).isEmpty)
            let third = try #require(try await queues.take(at: 30).first)
            #expect(third.hostFailures == 1)
            let over = LogoutDeliverySettlement.hostFailed(
                retryAt: nil, pausedUntil: World.now + 90, removingBefore: World.now + 1)
            #expect(try await store.settleLogoutDelivery(third, over) >= 2)
            #expect(try await store.logoutBacklog().count <= 1)
            for delivery in try await queues.take(at: 90) {
                #expect(delivery.hostFailures == 2)
                try await store.settleLogoutDelivery(delivery, .done)
            }
            #expect(try await store.logoutBacklog() == LogoutBacklog(count: 0, oldest: nil))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted client leaves no queue`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let queues = try await Queues(store)
            let client = try await queues.client("app-one")
            try await queues.endSession(with: [client])
            #expect(try await store.removeClient(client.id))
            #expect(try await queues.take(at: 1).isEmpty)
            #expect(try await store.logoutBacklog().count == 0)
        }
    }
}
