import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The lists of registered clients, in pages, and their use.
@Suite("The contract: queries for clients")
struct ClientQueryContractTests {
    private static func client(
        _ id: String, _ name: String, owner: User? = nil, after seconds: TimeInterval = 0,
        approval: ClientApproval = .open
    ) throws -> RegisteredClient {
        var client = try RegisteredClient.named(id, owner: owner?.id, createdAt: World.now + seconds)
        client.presentation.name = name
        client.approval = approval
        client.policy.isFirstParty = false
        return client
    }

    private static func ids(_ query: ClientQuery, in world: World) async throws -> [String] {
        var query = query
        var ids: [String] = []
        repeat {
            let found = try await world.store.clients(matching: query)
            ids += found.clients.map(\.client.id.rawValue)
            query.after = found.next
        } while query.after != nil
        return ids
    }

    private static func ids(_ typed: String, in world: World) async throws -> [String] {
        try await ids(ClientQuery(search: ClientSearch(typed)), in: world)
    }

    @Test(arguments: StoreKind.allCases)
    func `clients are found by the beginning of the name, by identifier, by owner and by state`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, ada) = (world.store, world.user)
            let clients = [
                try Self.client("app_1", "Åse's Photos", owner: ada, after: 3),
                try Self.client("app_2", "photos", after: 2, approval: .pending),
                try Self.client("app_3", "Photo 100%", after: 1, approval: .development),
                // The name of this one is the identifier of another, and the user name of an owner.
                try Self.client("app_4", "app_1"), try Self.client("app_5", "Ada"),
            ]
            for client in clients { #expect(try await store.addClient(client) == .added) }
            let suspended = try await store.decide(
                .suspend(reason: "Spam"), on: clients[1].id, at: World.now, recording: [])
            #expect(suspended == .decided)
            #expect(try await Self.ids("PHOTO", in: world) == ["app_3", "app_2"])
            // The letter A and a ring, as some keyboards type it.
            #expect(try await Self.ids("a\u{30A}se", in: world) == ["app_1"])
            #expect(try await Self.ids("app_1", in: world) == ["app_4", "app_1"])
            #expect(try await Self.ids("ada", in: world) == ["app_5", "app_1"])
            for wildcard in ["%", "_", "photo_", "*", "'", "app"] {
                #expect(try await Self.ids(wildcard, in: world) == (wildcard == "app" ? ["app_4"] : []), "\(wildcard)")
            }
            #expect(try await Self.ids(ClientQuery(state: .pending), in: world).isEmpty)
            #expect(try await Self.ids(ClientQuery(state: .suspended), in: world) == ["app_2"])
            #expect(try await Self.ids(ClientQuery(state: .development), in: world) == ["app_3"])
            let newest = try await Self.ids(ClientQuery(search: ClientSearch("photo"), order: .newest), in: world)
            #expect(newest == ["app_2", "app_3"])
            #expect(try await store.clientCount(matching: ClientQuery(search: ClientSearch("photo"))) == UserCount(2))
            #expect(try await store.clientCount(matching: ClientQuery()) == UserCount(6))
            let listed = try await store.clients(matching: ClientQuery(search: ClientSearch("åse")))
            #expect(listed.clients.map(\.owner) == [ada] && listed.clients.map(\.client) == [clients[0]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a service is found until each of its scopes is approved for requests without a user`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            for name in ["photos.read", "photos.write"] {
                let scope = ScopeDefinition(token: try #require(Scope.Token(name)), description: "See photos")
                #expect(try await store.addScope(scope) == .added)
            }
            for (id, scope, approved) in [
                ("app_1", "photos.read", ""), ("app_2", "openid photos.read photos.write email", "photos.write"),
                ("app_3", "photos.read openid photos.write", "photos.write photos.read"),
                ("app_4", "openid offline_access", ""), ("app_5", "", ""),
            ] {
                let service = RegisteredClient(
                    id: try #require(ClientIdentifier(id)), type: .service,
                    presentation: ClientPresentation(name: id), redirectURIs: [], scope: try Scope(lenient: scope),
                    policy: ClientPolicy(machineScope: try Scope(lenient: approved)), createdAt: World.now)
                #expect(try await store.addClient(service) == .added)
            }
            let query = ClientQuery(state: .machineAccess)
            #expect(try await Self.ids(query, in: world) == ["app_1", "app_2"])
            #expect(try await store.clientCount(matching: query) == UserCount(2))
            #expect(try await store.clientCounts().machineAccess == 2)
            let first = try #require(ClientIdentifier("app_1"))
            let suspended = try await store.decide(.suspend(reason: "Spam"), on: first, at: World.now, recording: [])
            #expect(suspended == .decided)
            #expect(try await Self.ids(query, in: world) == ["app_2"])
            let id = try #require(ClientIdentifier("app_2"))
            var second = try #require(try await store.client(id))
            second.policy.machineScope = try Scope(lenient: "photos.read photos.write")
            #expect(try await store.updateClient(second, logo: .keep) == .updated)
            #expect(try await Self.ids(query, in: world).isEmpty)
            #expect(try await store.clientCounts().machineAccess == 0)
        }
    }

    @Test(arguments: StoreKind.allCases, ClientQuery.Order.allCases)
    func `pages continue after a client with the same key, also if it is deleted`(
        _ kind: StoreKind, _ order: ClientQuery.Order
    ) async throws {
        try await kind.withWorld { world async throws in
            // Three names and three times, four clients each.
            let clients = try (0..<12).map { try Self.client("app_\($0 + 10)", "App \($0 % 3)", after: Double($0 % 3)) }
            for client in clients { #expect(try await world.store.addClient(client) == .added) }
            let sorted = clients.sorted { one, other in
                let (key, otherKey) = (one.presentation.name, other.presentation.name)
                return key == otherKey ? one.id.rawValue < other.id.rawValue : key < otherKey
            }.map(\.id.rawValue)
            let expected = order == .name ? sorted : sorted.reversed()
            for search in [nil, ClientSearch("app")] {
                var query = ClientQuery(search: search, order: order, limit: 5)
                let all = try await Self.ids(query, in: world).filter { $0.hasPrefix("app_") }
                #expect(all == expected)
                query.search = ClientSearch("app")
                let first = try await world.store.clients(matching: query)
                query.after = first.next
                #expect(first.clients.map(\.client.id.rawValue) == Array(expected.prefix(5)))
                let last = try #require(first.clients.last?.client)
                _ = try await world.store.removeClient(last.id, recording: [])
                let second = try await world.store.clients(matching: query)
                #expect(second.clients.map(\.client.id.rawValue) == Array(expected.dropFirst(5).prefix(5)))
                // Back for the next search; a client without an owner can have its identifier again.
                while try await world.store.continueRemovals(atMost: 100) > 0 {}
                var again = last
                again.revision = 0
                #expect(try await world.store.addClient(again) == .added)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the use of a client has its users, and the hour of the last one`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            var client = try Self.client("app_used", "Used")
            client.policy.isFirstParty = false
            #expect(try await world.store.addClient(client) == .added)
            #expect(try await world.store.use(of: client.id) == ClientUse(users: UserCount(0), lastUsedAt: nil))
            for world in [world, try await world.adding("bob")] {
                let user = World(world.store, user: world.user, client: client, session: world.session)
                _ = try await user.refreshFamily(of: user.grant())
            }
            let use = try await world.store.use(of: client.id)
            #expect(use == ClientUse(users: UserCount(2), lastUsedAt: World.now))
            // The client of the world is first-party, and asks for no consent.
            for _ in 1...2 { _ = try await world.refreshFamily(of: world.grant()) }
            #expect(try await world.store.use(of: world.client.id).users == UserCount(1))
            _ = try await world.store.removeClient(client.id, recording: [])
            #expect(try await world.store.use(of: client.id) == ClientUse(users: UserCount(0), lastUsedAt: nil))
        }
    }

    @Test(arguments: [
        ("a\0", "app_1", ClientQuery.Order.name), ("Photo", "app_1", .name), ("photo", "", .name),
        (String(repeating: "a", count: 300), "app_1", .name), ("photo", "app_1", .newest), ("", "app_1", .newest),
        ("1.5", "app_1", .newest), ("99999999999999999999", "app_1", .newest),
    ])
    func `a place of another list is no place in this one`(key: String, id: String, order: ClientQuery.Order) {
        #expect(ClientCursor(key, id, in: order) == nil)
    }
}
