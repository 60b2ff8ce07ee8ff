import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: clients that no person registered, and their use")
struct UnregisteredUseContractTests {
    private static func document(_ url: String, after seconds: TimeInterval = 0) throws -> RegisteredClient {
        var client = try RegisteredClient.named(url, createdAt: World.now + seconds)
        client.source = .document(Array("{}".utf8))
        return client
    }

    private static func registration(_ id: String, after seconds: TimeInterval = 0) throws -> RegisteredClient {
        var client = try RegisteredClient.named(id, createdAt: World.now + seconds)
        client.source = .registration(
            DynamicRegistration(metadata: Array("{}".utf8), accessToken: ArtefactDigest(of: ClientSecret())))
        return client
    }

    /// Adds clients, and lets the user of a world allow them something.
    private static func allow(_ clients: [RegisteredClient], _ scope: Scope, in world: World) async throws {
        for client in clients {
            let world = World(world.store, user: world.user, client: client, session: world.session)
            if try await world.store.client(client.id) == nil {
                #expect(try await world.store.addClient(client) == .added)
            }
            try await world.approve(world.grant(scope))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the lists of registered clients contain no others`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            for client in [try Self.document("https://a.example/c"), try Self.registration("app_self")] {
                #expect(try await world.store.addClient(client) == .added)
                #expect(try await world.store.client(client.id) == client)
            }
            #expect(try await world.store.clients() == [world.client])
            #expect(try await world.store.unregisteredClient(world.client.id) == nil)
            #expect(try await world.store.removeUnregisteredClient(world.client.id) == false)
        }
    }

    // The host is a name, whatever the port.
    @Test(arguments: StoreKind.allCases)
    func `hosts are listed by name, in pages, with their clients`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let urls = [
                "https://b.example/1", "https://b.example/2", "https://b.example:8443/3", "https://a.example/c?d",
                "https://c.example/x",
            ]
            let clients = try urls.map { try Self.document($0) }
            for client in clients { #expect(try await world.store.addClient(client) == .added) }
            try await Self.allow([clients[1]], Scope([.openID]), in: world)
            let hosts = try await world.store.unregisteredClientHosts(startingWith: "", after: nil, limit: 2)
            #expect(hosts.map(\.name) == ["a.example", "b.example"])
            #expect(hosts.last?.count == UnregisteredClientCount(clients: 3, unused: 2))
            let rest = try await world.store.unregisteredClientHosts(startingWith: "", after: "b.example", limit: 2)
            #expect(rest.map(\.name) == ["c.example"])
            for (prefix, last, names) in [
                ("b.ex", nil, ["b.example"]), ("b.example", nil, ["b.example"]), ("b.ex", "b.example", []),
                ("a", "b.example", []), ("b.example.", nil, []), ("d", nil, []), ("%", nil, []),
            ] as [(String, String?, [String])] {
                let found = try await world.store.unregisteredClientHosts(
                    startingWith: prefix, after: last, limit: 9)
                #expect(found.map(\.name) == names, "\(prefix) after \(last ?? "nothing")")
            }
            #expect(
                try await world.store.unregisteredClientCount(of: .registrations)
                    == UnregisteredClientCount(clients: 0, unused: 0))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the clients of a family are listed newest first, in pages`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let times: [TimeInterval] = [0, 5, 5, 5, 9]
            let clients = try times.enumerated().map { try Self.registration("app_\($0.offset)", after: $0.element) }
            for client in clients { #expect(try await world.store.addClient(client) == .added) }
            #expect(try await world.store.addClient(Self.document("https://a.example/c")) == .added)
            var listed: [String] = []
            var cursor: UnregisteredClientCursor?
            for _ in 0..<3 {
                let page = try await world.store.unregisteredClients(of: .registrations, after: cursor, limit: 2)
                listed += page.map(\.client.id.rawValue)
                cursor = page.last.map { UnregisteredClientCursor(of: $0.client) }
            }
            #expect(listed == ["app_4", "app_3", "app_2", "app_1", "app_0"])
            #expect(
                try await world.store.unregisteredClients(of: .registrations, after: cursor, limit: 2).isEmpty)
            let ofHost = try await world.store.unregisteredClients(of: .host("a.example"), after: nil, limit: 9)
            #expect(ofHost.map(\.client.id.rawValue) == ["https://a.example/c"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the use of a client is its users, their scopes and the last use`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try Self.document("https://a.example/c")
            #expect(try await world.store.addClient(client) == .added)
            let unused = try #require(try await world.store.unregisteredClient(client.id))
            #expect(unused == UnregisteredClientUse(client: client, users: 0, lastUsedAt: nil, scope: Scope()))
            try await Self.allow([client], Scope([.openID, .profile]), in: world)
            try await Self.allow([client], Scope([.email]), in: try await world.adding("bob"))
            let used = try #require(try await world.store.unregisteredClient(client.id))
            #expect(used.users == 2)
            #expect(used.scope == Scope([.email, .openID, .profile]))
        }
    }

    // SEC: a deleted client keeps no grant and no code; its users can allow it again.
    @Test(arguments: StoreKind.allCases)
    func `a deleted client loses every grant, and is not remembered`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try Self.document("https://a.example/c")
            let ofClient = World(world.store, user: world.user, client: client, session: world.session)
            #expect(try await world.store.addClient(client) == .added)
            let code = try await ofClient.approve(ofClient.grant())
            #expect(try await world.store.removeUnregisteredClient(client.id))
            #expect(try await world.store.removeUnregisteredClient(client.id) == false)
            #expect(try await world.store.code(code.digest) == nil)
            #expect(try await world.store.grant(code.grantID) == nil)
            #expect(try await ofClient.consent == nil)
            #expect(try await world.store.addClient(client) == .added)
            #expect(try await world.store.client(world.client.id) == world.client)
        }
    }

    // SEC: the next request would store a client with a document again, without its suspension.
    @Test(arguments: StoreKind.allCases)
    func `a suspended client with a document is not deleted, one that registered itself is`(_ kind: StoreKind)
        async throws
    {
        try await kind.withWorld { world async throws in
            let clients = [try Self.document("https://a.example/c"), try Self.registration("app_self")]
            for client in clients {
                #expect(try await world.store.addClient(client) == .added)
                let outcome = try await world.store.decide(
                    .suspend(reason: "Spam"), on: client.id, at: World.now, recording: [])
                #expect(outcome == .decided)
            }
            #expect(try await world.store.removeUnregisteredClient(clients[0].id) == false)
            #expect(try await world.store.removeUnregisteredClients(of: .host("a.example"), atMost: 9) == 0)
            #expect(try await world.store.client(clients[0].id)?.suspension != nil)
            #expect(try await world.store.removeUnregisteredClient(clients[1].id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the clients of a host are deleted in batches, and no others`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let clients = try (0..<5).map { try Self.document("https://a.example/\($0)") }
            let others = [try Self.document("https://sub.a.example/c"), try Self.registration("app_self")]
            for client in clients + others { #expect(try await world.store.addClient(client) == .added) }
            try await Self.allow(Array(clients.prefix(2)), Scope([.openID]), in: world)
            #expect(try await world.store.removeUnregisteredClients(of: .host("a.example"), atMost: 3) == 3)
            #expect(try await world.store.removeUnregisteredClients(of: .host("a.example"), atMost: 3) == 2)
            #expect(try await world.store.removeUnregisteredClients(of: .host("a.example"), atMost: 3) == 0)
            for client in others { #expect(try await world.store.client(client.id) == client) }
            #expect(try await world.store.consents(of: world.user.id).isEmpty)
        }
    }

    // The document of an adopted client is read by no later request, so its update must lose against the adoption.
    @Test(arguments: StoreKind.allCases)
    func `an adopted client is a registered one of no host`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try Self.document("https://a.example/c")
            #expect(try await world.store.addClient(client) == .added)
            try await Self.allow([client], Scope([.openID]), in: world)
            let adopted = client.adopted(
                under: UnregisteredClientPolicy(), of: try await world.store.scopes(), now: World.now + 1)
            #expect(try await world.store.updateClient(adopted, logo: .keep) == .updated)
            #expect(try await world.store.updateClient(client, logo: .keep) == .changedMeanwhile)
            #expect(try await world.store.client(client.id)?.source == .console)
            #expect(try await world.store.clients().map(\.id).contains(client.id))
            #expect(try await world.store.unregisteredClient(client.id) == nil)
            #expect(try await world.store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9).isEmpty)
            #expect(try await world.store.removeUnregisteredClients(of: .host("a.example"), atMost: 9) == 0)
            #expect(try await world.store.consent(of: world.user.id, to: client.id) != nil)
        }
    }
}
