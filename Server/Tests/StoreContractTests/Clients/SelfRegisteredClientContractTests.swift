import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: clients that register themselves")
struct SelfRegisteredClientContractTests {
    private static let day: TimeInterval = 86_400

    private static func client(
        _ id: String, at time: Date = World.now, scope: Scope = Scope([.openID])
    ) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(id)), type: .web, presentation: ClientPresentation(name: "Darkroom"),
            redirectURIs: [try RedirectURI("https://rp.example.net/cb")], scope: scope,
            keysURI: try AbsoluteURI(parsing: "https://rp.example.net/keys"),
            source: .registration(
                DynamicRegistration(
                    metadata: Array(#"{"client_name":"Darkroom · 爱达"}"#.utf8),
                    accessToken: ArtefactDigest(of: RegistrationAccessToken()))),
            policy: ClientPolicy(), createdAt: time)
    }

    private static func add(
        _ client: RegisteredClient, to store: any AuthorizationServerStore, secret: ClientSecretRecord? = nil,
        unusedLimit: Int = 100
    ) async throws -> AddClientOutcome {
        try await store.addSelfRegisteredClient(client, secret: secret, unusedLimit: unusedLimit)
    }

    private static func sweep(
        _ store: any AuthorizationServerStore, at now: Date, unused: TimeInterval = 7 * day,
        idle: TimeInterval = 90 * day, atMost rows: Int = 100
    ) async throws {
        let limits = ExpirationLimits(
            now: now, codesBefore: now - day, sessionsIdleBefore: now - day, refreshIdleBefore: now - 30 * day,
            grantsBefore: now - 2 * day, unusedClientsBefore: now - unused, idleClientsBefore: now - idle)
        while try await store.deleteExpired(limits, atMost: rows) > 0 {}
    }

    @Test(arguments: StoreKind.allCases)
    func `a client is stored with its secret, its metadata and its token`(_ kind: StoreKind) async throws {
        let client = try Self.client("app_one")
        try await kind.withStore { store async throws in
            let secret = ClientSecretRecord.example(of: client)
            #expect(try await Self.add(client, to: store, secret: secret) == .added)
            #expect(try await store.client(client.id) == client)
            #expect(try await store.clientSecrets(of: client.id) == [secret])
            #expect(try await Self.add(client, to: store) == .identifierTaken)
            let scope = try Scope(parsing: "openid unknown.scope")
            let other = try Self.client("app_two", scope: scope)
            #expect(try await Self.add(other, to: store) == .unknownScopes(try Scope(parsing: "unknown.scope")))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change keeps the token and replaces the metadata`(_ kind: StoreKind) async throws {
        var client = try Self.client("app_one")
        try await kind.withStore { store async throws in
            #expect(try await Self.add(client, to: store) == .added)
            guard case .registration(let registered) = client.source else { return }
            client.source = .registration(
                DynamicRegistration(metadata: Array("{}".utf8), accessToken: registered.accessToken))
            #expect(try await store.updateClient(client, logo: .keep) == .updated)
            client.revision += 1
            #expect(try await store.client(client.id) == client)
        }
    }

    // Only clients that no user has allowed anything count.
    @Test(arguments: StoreKind.allCases)
    func `the number of unused clients is limited`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (one, two, three) = (
                try Self.client("app_one"), try Self.client("app_two"), try Self.client("app_three")
            )
            #expect(try await Self.add(one, to: world.store, unusedLimit: 1) == .added)
            #expect(try await Self.add(two, to: world.store, unusedLimit: 1) == .tooMany)
            #expect(try await world.store.client(two.id) == nil)
            try await World(world.store, user: world.user, client: one, session: world.session)
                .approve(
                    World(world.store, user: world.user, client: one, session: world.session)
                        .grant(Scope([.openID])))
            #expect(try await world.store.userCount(of: one.id, atMost: 5) == 1)
            #expect(try await Self.add(two, to: world.store, unusedLimit: 1) == .added)
            #expect(try await Self.add(three, to: world.store, unusedLimit: 1) == .tooMany)
        }
    }

    // The check and the insertion are one transaction.
    @Test(arguments: StoreKind.allCases)
    func `concurrent registrations do not exceed the limit`(_ kind: StoreKind) async throws {
        let clients = try (0..<12).map { try Self.client("app_\($0)") }
        try await kind.withStore { store async throws in
            let added = try await withThrowingTaskGroup(of: AddClientOutcome.self) { group in
                for client in clients { group.addTask { try await Self.add(client, to: store, unusedLimit: 5) } }
                return try await group.reduce(into: 0) { $0 += $1 == .added ? 1 : 0 }
            }
            #expect(added == 5)
            #expect(try await store.unregisteredClientCount(of: .registrations).clients == 5)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `unused clients are deleted in time, and others are kept`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let (unused, fresh, used) = (
                try Self.client("app_unused"), try Self.client("app_fresh", at: World.now + 7 * Self.day),
                try Self.client("app_used")
            )
            for client in [unused, fresh, used] {
                #expect(
                    try await Self.add(client, to: store, secret: ClientSecretRecord.example(of: client)) == .added)
            }
            let user = World(store, user: world.user, client: used, session: world.session)
            try await user.approve(user.grant(Scope([.openID])))
            try await Self.sweep(store, at: World.now + 6 * Self.day)
            #expect(try await store.client(unused.id) != nil)
            try await Self.sweep(store, at: World.now + 8 * Self.day, atMost: 1)
            #expect(try await store.client(unused.id) == nil)
            #expect(try await store.clientSecrets(of: unused.id).isEmpty)
            #expect(try await store.client(fresh.id) != nil)
            #expect(try await store.client(used.id) != nil)
            // A client that a person registered stays.
            #expect(try await store.client(world.client.id) != nil)
            try await Self.sweep(store, at: World.now + 89 * Self.day)
            #expect(try await store.client(used.id) != nil)
            try await Self.sweep(store, at: World.now + 91 * Self.day)
            #expect(try await store.client(used.id) == nil)
            #expect(try await store.consent(of: world.user.id, to: used.id) == nil)
            #expect(try await store.client(world.client.id) != nil)
        }
    }

    // The identifier is random, and the identifiers of many deleted clients would fill the store.
    @Test(arguments: StoreKind.allCases)
    func `the identifier of a deleted client is not kept`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try Self.client("app_one")
            #expect(try await Self.add(client, to: world.store) == .added)
            #expect(try await world.store.removeClient(client.id))
            let owned = try RegisteredClient.named("app_one", owner: world.user.id)
            #expect(
                try await world.store.addClient(owned, logo: nil, secret: nil, ownerLimit: 10) == .added)
            #expect(try await world.store.removeClient(owned.id))
            #expect(
                try await world.store.addClient(owned, logo: nil, secret: nil, ownerLimit: 10) == .identifierTaken)
        }
    }

    private static func token(_ name: String, at time: Date = World.now) -> InitialAccessToken {
        InitialAccessToken(
            digest: ArtefactDigest(of: InitialAccessTokenText()), name: name, createdAt: time,
            expiresAt: time + 30 * day)
    }

    // RFC 7591 §3
    @Test(arguments: StoreKind.allCases)
    func `initial access tokens are read until they expire or are deleted`(_ kind: StoreKind) async throws {
        let (first, second) = (Self.token("Build · 爱达"), Self.token("Second", at: World.now + 1))
        try await kind.withStore { store async throws in
            try await store.addInitialAccessToken(second)
            try await store.addInitialAccessToken(first)
            #expect(try await store.initialAccessTokens() == [first, second])
            #expect(try await store.initialAccessToken(first.digest, at: first.expiresAt - 1) == first)
            #expect(try await store.initialAccessToken(first.digest, at: first.expiresAt) == nil)
            #expect(try await store.initialAccessToken(Self.token("Third").digest, at: World.now) == nil)
            #expect(try await store.removeInitialAccessToken(second.digest))
            #expect(try await !store.removeInitialAccessToken(second.digest))
            #expect(try await store.initialAccessToken(second.digest, at: World.now) == nil)
            try await Self.sweep(store, at: first.expiresAt - 1)
            #expect(try await store.initialAccessTokens() == [first])
            try await Self.sweep(store, at: first.expiresAt + 1)
            #expect(try await store.initialAccessTokens().isEmpty)
        }
    }
}
