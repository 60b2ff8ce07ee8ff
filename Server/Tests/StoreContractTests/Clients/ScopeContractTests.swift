import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: scopes")
struct ScopeContractTests {
    private static let read = Scope.Token("photos.read") ?? .openID
    /// A scope that contains the name of the other one.
    private static let longer = Scope.Token("photos.read.all") ?? .openID

    @Test(arguments: StoreKind.allCases)
    func `the standard scopes exist from the start, by name`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.scopes() == ScopeDefinition.standard.sorted { $0.token < $1.token })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope is added once, and names differ by case`(_ kind: StoreKind) async throws {
        let read = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See your photos")
        let other = ScopeDefinition(token: try #require(Scope.Token("Photos.Read")), description: "Something else")
        try await kind.withStore { store async throws in
            #expect(try await store.addScope(read) == .added)
            #expect(try await store.addScope(ScopeDefinition(token: read.token, description: "Changed")) == .exists)
            #expect(try await store.addScope(ScopeDefinition(token: .openID, description: "Changed")) == .exists)
            #expect(try await store.addScope(other) == .added)
            let scopes = try await store.scopes()
            #expect(scopes == (ScopeDefinition.standard + [read, other]).sorted { $0.token < $1.token })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope is changed only from the revision that was read`(_ kind: StoreKind) async throws {
        let added = ScopeDefinition(token: Self.read, description: "See your photos")
        try await kind.withStore { store async throws in
            #expect(try await store.updateScope(added, from: added) == .notFound)
            #expect(try await store.addScope(added) == .added)
            var changed = added
            changed.isListed = true
            changed.startsTicked = true
            changed.claims = ReleasedClaims(names: [.groups], places: [.idToken, .userInfo])
            #expect(try await store.updateScope(changed, from: added) == .updated)
            #expect(try await store.updateScope(added, from: added) == .changedMeanwhile)
            #expect(try await store.scopes().first { $0.token == Self.read } == changed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope keeps its texts, which a change replaces and a removal deletes`(_ kind: StoreKind) async throws {
        let added = ScopeDefinition(
            token: Self.read, description: "See your photos",
            texts: [.german: "Ihre Fotos sehen", .french: "Voir vos photos"])
        try await kind.withStore { store async throws in
            #expect(try await store.addScope(added) == .added)
            #expect(try await store.addScope(ScopeDefinition(token: Self.longer, description: "More")) == .added)
            #expect(try await store.scopes().filter { !$0.token.isStandard }.map(\.texts) == [added.texts, [:]])
            var changed = added
            changed.texts = [.german: "Alle Fotos sehen", .norwegian: "Se bildene"]
            #expect(try await store.updateScope(changed, from: added) == .updated)
            #expect(try await store.scopes().first { $0.token == Self.read } == changed)
            // A text alone makes a definition another one.
            var stale = changed
            stale.texts[.norwegian] = nil
            #expect(try await store.updateScope(added, from: stale) == .changedMeanwhile)
            #expect(
                try await store.removeScope(Self.read, takingFromUses: false, at: World.now)
                    == .removed(from: ScopeUses()))
            #expect(try await store.addScope(ScopeDefinition(token: Self.read, description: "Again")) == .added)
            #expect(try await store.scopes().first { $0.token == Self.read }?.texts == [:])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the use of scopes is counted up to a limit, and named up to another`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            for token in [Self.read, Self.longer] {
                #expect(try await store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
            }
            var first = try RegisteredClient.named("app_a", scope: Scope([Self.read, Self.longer]))
            first.optionalScope = Scope([Self.read])
            #expect(try await store.addClient(first) == .added)
            #expect(try await store.addClient(try .named("app_b", scope: Scope([Self.longer]))) == .added)
            _ = try await world.approve(world.grant(Scope([.openID, Self.read])))
            let usage = try await store.scopeUsage(atMost: 100)
            #expect(usage.hasAllClients && usage.hasAllGrants)
            #expect(usage.clients(withAnyOf: Scope([Self.read])) == 1)
            #expect(usage.clients(withAnyOf: Scope([Self.longer, Self.read])) == 2)
            #expect(usage.clients(withOptional: Self.read) == 1)
            #expect(usage.grants(with: Self.read) == 1 && usage.grants(with: Self.longer) == 0)
            let bounded = try await store.scopeUsage(atMost: 1)
            #expect(!bounded.hasAllClients && bounded.hasAllGrants)
            #expect(bounded.clients.reduce(0) { $0 + $1.count } == 1)
            #expect(try await store.scopeUses(of: Self.longer, atMost: 1).clients == [first.id])
            #expect(try await store.scopeUses(of: Self.longer, atMost: 9).clients.count == 2)
            let whole = try await store.clients(withAnyOf: Scope([Self.longer]), atMost: 9, among: 100)
            #expect(whole.clients.count == 2 && whole.isWhole)
            let some = try await store.clients(withAnyOf: Scope([Self.longer]), atMost: 1, among: 1)
            #expect(some.clients.count <= 1 && !some.isWhole)
            #expect(try await store.clients(withAnyOf: Scope([]), atMost: 9, among: 100).clients.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred changes of a scope from one revision one is stored`(_ kind: StoreKind) async throws {
        let added = ScopeDefinition(token: Self.read, description: "See your photos")
        try await kind.withStore { store async throws in
            #expect(try await store.addScope(added) == .added)
            let counts = try await outcomes(of: 100) { number in
                try await store.updateScope(
                    ScopeDefinition(token: Self.read, description: "Number \(number)"), from: added)
            }
            #expect(counts == [.updated: 1, .changedMeanwhile: 99])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope of a client or an API is removed on request only`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store async throws in
            for token in [Self.read, Self.longer] {
                #expect(try await store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
            }
            var client = try RegisteredClient.named("app_a", scope: Scope([.openID, Self.read, Self.longer]))
            client.optionalScope = Scope([Self.read])
            #expect(try await store.addClient(client) == .added)
            #expect(try await store.addClient(try .named("app_b", scope: Scope([Self.longer]))) == .added)
            let api = try Resource("https://a.example.com")
            let registered = RegisteredResource(
                resource: api, clientID: try #require(RegisteredResource.newClientID()), name: "A",
                scope: Scope([Self.read, Self.longer]), secret: ArtefactDigest(of: ClientSecret()),
                createdAt: World.now)
            #expect(try await store.addResource(registered) == .added)

            let uses = ScopeUses(clients: [client.id], resources: [api])
            #expect(
                try await store.removeScope(Self.read, takingFromUses: false, at: World.now) == .inUse(uses))
            #expect(try await store.client(client.id) == client)
            let later = World.now.addingTimeInterval(60)
            #expect(
                try await store.removeScope(Self.read, takingFromUses: true, at: later) == .removed(from: uses))
            let narrowed = try #require(try await store.client(client.id))
            #expect(narrowed.scope == Scope([.openID, Self.longer]))
            #expect(narrowed.optionalScope.isEmpty)
            #expect(narrowed.revision == client.revision + 1)
            #expect(narrowed.changedAt == later)
            #expect(try await store.resource(api)?.scope == Scope([Self.longer]))
            #expect(try await store.scopes().contains { $0.token == Self.read } == false)
            #expect(try await store.removeScope(Self.read, takingFromUses: true, at: later) == .notFound)
            #expect(try await store.updateClient(client, logo: .keep) == .changedMeanwhile)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a standard scope is never removed`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for scope in ScopeDefinition.standard {
                #expect(
                    try await store.removeScope(scope.token, takingFromUses: true, at: World.now) == .isStandard)
            }
            #expect(try await store.scopes().count == ScopeDefinition.standard.count)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `after a scope is removed no user has allowed it, even under the same name`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            for token in [Self.read, Self.longer] {
                #expect(try await store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
            }
            let mixed = world.grant(Scope([.openID, Self.read, Self.longer]))
            let only = world.grant(Scope([Self.read]))
            let other = world.grant(Scope([Self.longer]))
            let codes = [
                try await world.approve(mixed), try await world.approve(only), try await world.approve(other),
            ]
            let later = World.now.addingTimeInterval(60)
            #expect(
                try await store.removeScope(Self.read, takingFromUses: false, at: later)
                    == .removed(from: ScopeUses()))
            #expect(try await store.grant(mixed.id)?.scope == Scope([.openID, Self.longer]))
            #expect(try await store.grant(only.id)?.revokedAt == later)
            #expect(try await store.grant(other.id) == other)
            let consent = try #require(try await world.consent)
            #expect(consent.scope == Scope([.openID, Self.longer]))
            #expect(consent.remembered == Scope([.openID, Self.longer]))
            for (code, outcome) in zip(codes, [ConsumeCodeOutcome.gone, .gone, .consumed]) {
                #expect(try await store.consumeCode(code.digest, beginning: nil, at: World.now) == outcome)
            }
            #expect(try await store.refreshStatistics(of: world.client.id).revocations == 1)
        }
    }
}
