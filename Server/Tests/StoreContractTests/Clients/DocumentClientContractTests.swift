import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: clients with documents")
struct DocumentClientContractTests {
    private static let url = "https://app.example.net/client.json"

    /// A client with every property that a document can have.
    private static func client(_ url: String = url) throws -> RegisteredClient {
        var policy = ClientPolicy.standard(for: .native)
        policy.requiresPushedRequests = true
        policy.requiresBoundTokens = true
        policy.subjectType = .pairwise
        policy.accessTokenLifetime = 300
        policy.refreshTokenLife = RefreshTokenLife(idleLifetime: 3600, lifetime: 86_400)
        let uri = "https://app.example.net/callback"
        return RegisteredClient(
            id: try #require(ClientIdentifier(url)), type: .native,
            presentation: ClientPresentation(
                name: "App Ä · 爱", privacyURI: try AbsoluteURI(parsing: "https://app.example.net/privacy")),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback"), try RedirectURI(uri)],
            scope: Scope([.openID, .offlineAccess]),
            origins: [RegisteredOrigin](of: [try RedirectURI(uri)]),
            postLogoutRedirectURIs: [try RedirectURI(uri)],
            keys: JSONWebKeySet(keys: [try SigningKey.generate(.es256).publicKey]),
            keysURI: try AbsoluteURI(parsing: "https://app.example.net/keys.json"),
            source: .document(Array(#"{"client_id":"\#(url)"}"#.utf8)), policy: policy, createdAt: World.now)
    }

    /// Returns the approval of a user that adds the client if it is not stored.
    private static func approval(
        _ world: World, of client: RegisteredClient, revision: Int? = nil, adds: Bool = true
    ) throws -> Approval {
        let grant = Grant(
            userID: world.user.id, clientID: client.id, scope: Scope([.openID]), sessionID: world.session.id,
            createdAt: World.now, lastUsedAt: World.now)
        return Approval(
            grant: grant, code: try .example(for: grant), asked: grant.scope, appearance: ClientAppearance(of: client),
            clientRevision: revision ?? client.revision, pkce: .s256, passwordHash: world.user.passwordHash,
            basis: .answer, newClient: adds ? client : nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `the first approval adds its client, as it is`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            let approval = try Self.approval(world, of: client)
            #expect(try await store.recordConsent(approval) == .recorded)
            #expect(try await store.client(client.id) == client)
            #expect(try await store.code(approval.code.digest)?.code == approval.code)
            #expect(try await store.consent(of: world.user.id, to: client.id) != nil)
            #expect(try await store.consumeCode(approval.code.digest, beginning: nil, at: World.now) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the approval of a second user finds the client stored`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            let other = try await world.adding("bob")
            #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .recorded)
            #expect(try await store.recordConsent(try Self.approval(other, of: client)) == .recorded)
            #expect(try await store.client(client.id) == client)
            #expect(
                try await store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9).map(\.count.clients)
                    == [1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of first approvals at the same time each is recorded, and one adds the client`(_ kind: StoreKind) async throws
    {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            let approvals = try (0..<30).map { _ in try Self.approval(world, of: client) }
            let counts = try await outcomes(of: 30) { number in try await store.recordConsent(approvals[number]) }
            #expect(counts == [.recorded: 30])
            #expect(try await store.client(client.id) == client)
            #expect(
                try await store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9).map(\.count.clients)
                    == [1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval of another revision is not recorded, and adds no client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            let early = try Self.approval(world, of: client, revision: 1)
            #expect(try await store.recordConsent(early) == .clientChanged)
            let unknown = try Self.approval(world, of: client, adds: false)
            #expect(try await store.recordConsent(unknown) == .clientDeleted)
            #expect(try await store.client(client.id) == nil)
            #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .recorded)
            #expect(try await store.updateClient(client, logo: .keep) == .updated)
            #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .clientChanged)
            // A deleted client is added with the revision that the user saw.
            #expect(try await store.removeClient(client.id))
            var changed = client
            changed.revision = 1
            #expect(try await store.recordConsent(try Self.approval(world, of: changed)) == .recorded)
            #expect(try await store.client(client.id) == changed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval that is not recorded adds no client`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let client = try Self.client()
            #expect(try await world.store.recordConsent(try Self.approval(world, of: client)) == .sessionEnded)
            #expect(try await world.store.client(client.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of the document can change the type of the client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .recorded)
            let changed = RegisteredClient(
                id: client.id, type: .web, presentation: client.presentation, redirectURIs: client.redirectURIs,
                scope: client.scope, source: .document(Array("{}".utf8)), policy: client.policy,
                createdAt: client.createdAt, changedAt: World.now + 1, revision: 0)
            #expect(try await store.updateClient(changed, logo: .keep) == .updated)
            let stored = try #require(try await store.client(client.id))
            #expect(stored.type == .web)
            #expect(stored.source == .document(Array("{}".utf8)))
            #expect(stored.keys == nil && stored.keysURI == nil)
        }
    }

    // The client is stored only when a user allows it something.
    @Test(arguments: StoreKind.allCases)
    func `a client with a document pushes requests and asks for devices before it is stored`(_ kind: StoreKind)
        async throws
    {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, try Self.client())
            func push(_ client: ClientIdentifier, from source: String = "192.0.2.1") async throws
                -> AddPushedRequestOutcome
            {
                try await store.addPushedRequest(
                    PushedRequest(
                        digest: ArtefactDigest(of: ClientSecret()), clientID: client, parameters: "a=b", source: source,
                        pushedAt: World.now, expiresAt: World.now + 60),
                    within: PushedRequestLimits(ofClient: 4, fromSource: 2))
            }
            #expect(try await push(client.id) == .added)
            #expect(try await push(try #require(ClientIdentifier("app_unknown"))) == .clientDeleted)
            // All clients with documents count as one.
            let others = try (0..<3).map { try #require(ClientIdentifier("https://host\($0).example.net/c")) }
            #expect(try await push(others[0]) == .added)
            #expect(try await push(others[1]) == .tooMany(until: World.now + 60))
            #expect(try await push(others[1], from: "192.0.2.2") == .added)
            // The second half of the limit is for sources with few requests.
            #expect(try await push(others[1], from: "192.0.2.2") == .tooMany(until: World.now + 60))
            #expect(try await push(others[1], from: "192.0.2.4") == .added)
            #expect(try await push(others[2], from: "192.0.2.3") == .tooMany(until: World.now + 60))
            #expect(try await push(world.client.id) == .added)

            let device = DeviceAuthorization(
                digest: ArtefactDigest(of: ClientSecret()), userCode: ArtefactDigest(of: ClientSecret()),
                clientID: client.id, scope: Scope([.openID]), resources: [], codeChallenge: nil,
                requestedAt: World.now, expiresAt: World.now + 600, source: "192.0.2.1", userAgent: "")
            let limits = DeviceAuthorizationLimits(perSource: 10, total: 10)
            #expect(try await store.addDeviceAuthorization(device, within: limits) == .added)
            #expect(
                try await store.deviceAuthorization(userCode: device.userCode, at: World.now)?.clientID == client.id)
            // The deletion of a client deletes its requests, whether it is stored or not.
            #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .recorded)
            #expect(try await store.removeClient(client.id))
            #expect(try await store.deviceAuthorization(userCode: device.userCode, at: World.now) == nil)
        }
    }

    // Only clients of documents and registrations are deleted, and only without consent and grants.
    @Test(arguments: StoreKind.allCases)
    func `a client to which no user allows anything is deleted after its time`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let week: TimeInterval = 7 * 86_400
            func sweep(at now: Date, atMost rows: Int = 100) async throws -> Int {
                try await store.deleteExpired(
                    ExpirationLimits(
                        now: now, codesBefore: now - 60, sessionsIdleBefore: .distantPast,
                        refreshIdleBefore: .distantPast, grantsBefore: now - 60, unusedClientsBefore: now - week),
                    atMost: rows)
            }
            let clients = try (0..<5).map { try Self.client("https://host\($0).example.net/c") }
            for client in clients {
                #expect(try await store.recordConsent(try Self.approval(world, of: client)) == .recorded)
            }
            for client in clients.dropLast() {
                let outcome = try await store.narrowConsent(
                    of: world.user.id, to: client.id, keeping: Scope(), at: World.now)
                #expect(outcome == .narrowed)
            }
            // Its document would be accepted again.
            let suspended = try await store.decide(
                .suspend(reason: "Spam"), on: clients[3].id, at: World.now, recording: [])
            #expect(suspended == .decided)
            func hosts() async throws -> [String] {
                try await store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9).map(\.name)
            }
            _ = try await sweep(at: World.now + 3600)
            #expect(try await hosts().count == 5)
            let later = World.now + week + 1
            _ = try await sweep(at: later, atMost: 2)
            #expect(try await hosts().count == 3)
            while try await sweep(at: later, atMost: 2) > 0 {}
            #expect(try await hosts() == ["host3.example.net", "host4.example.net"])
            #expect(try await store.clients() == [world.client])
            // The identifier is not remembered, so that the client can be added again.
            #expect(try await store.recordConsent(try Self.approval(world, of: clients[0])) == .recorded)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the scopes are read as they are after each change`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let token = try #require(Scope.Token("photos.read"))
            var scope = ScopeDefinition(token: token, description: "See your photos")
            func read() async throws -> ScopeDefinition? { try await store.scopes().first { $0.token == token } }
            #expect(try await read() == nil)
            #expect(try await store.addScope(scope) == .added)
            #expect(try await read() == scope)
            let former = scope
            scope.isListed = true
            #expect(try await store.updateScope(scope, from: former) == .updated)
            #expect(try await read() == scope)
            _ = try await store.removeScope(token, takingFromUses: true, at: World.now)
            #expect(try await read() == nil)
        }
    }
}
