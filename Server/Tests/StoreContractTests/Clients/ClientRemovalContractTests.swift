import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: deletion of a client with many records")
struct ClientRemovalContractTests {
    private static let url = "https://app.example.net/client.json"

    private static func documentClient(_ url: String = url) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(url)), type: .native,
            presentation: ClientPresentation(name: "App"), redirectURIs: [try RedirectURI("http://127.0.0.1/callback")],
            scope: Scope([.openID, .offlineAccess]), source: .document(Array("{}".utf8)),
            policy: .standard(for: .native), createdAt: World.now)
    }

    private static func approval(_ world: World, of client: RegisteredClient) throws -> Approval {
        let grant = Grant(
            userID: world.user.id, clientID: client.id, scope: Scope([.openID]), sessionID: world.session.id,
            createdAt: World.now, lastUsedAt: World.now)
        return Approval(
            grant: grant, code: try .example(for: grant), asked: grant.scope, appearance: ClientAppearance(of: client),
            clientRevision: client.revision, pkce: .s256, passwordHash: world.user.passwordHash, basis: .answer,
            newClient: client.isUnregistered ? client : nil)
    }

    private static func device(of client: RegisteredClient) throws -> DeviceAuthorization {
        DeviceAuthorization(
            digest: ArtefactDigest(of: DeviceCode()), userCode: ArtefactDigest(of: ClientSecret()),
            clientID: client.id, scope: Scope([.openID]), resources: [], codeChallenge: nil,
            requestedAt: World.now, expiresAt: World.now + 600, source: "2001:db8::9", userAgent: "TV/1.0")
    }

    private static func pushed(by client: RegisteredClient) -> PushedRequest {
        PushedRequest(
            digest: ArtefactDigest(of: PushedRequestURI()), clientID: client.id, parameters: "state=x", source: nil,
            pushedAt: World.now, expiresAt: World.now + 60)
    }

    private static let deviceLimits = DeviceAuthorizationLimits(perSource: nil, total: 1000)
    private static let pushedLimits = PushedRequestLimits(ofClient: 1000, fromSource: nil)

    /// A client with more records than the commit of its deletion deletes.
    private struct Busy {
        let world: World
        let client: RegisteredClient
        let waiting: CodeRecord
        let grant: Grant
        let facts: RefreshFacts
        let device: DeviceAuthorization
        let pushed: PushedRequest

        init(_ world: World, _ client: RegisteredClient) async throws {
            let store = world.store
            self.client = client
            self.world = World(store, user: world.user, client: client, session: world.session)
            for _ in 0..<ClientRemoval.rowsAtOnce + 20 {
                let approval = try ClientRemovalContractTests.approval(world, of: client)
                #expect(try await store.recordConsent(approval) == .recorded)
            }
            grant = self.world.grant(Scope([.openID]))
            let family = try await self.world.refreshFamily(of: grant)
            facts = try #require(try await store.refreshFacts(family.digest))
            waiting = try await self.world.approve(self.world.grant(Scope([.openID])))
            device = try ClientRemovalContractTests.device(of: client)
            #expect(
                try await store.addDeviceAuthorization(device, within: ClientRemovalContractTests.deviceLimits)
                    == .added)
            pushed = ClientRemovalContractTests.pushed(by: client)
            #expect(
                try await store.addPushedRequest(pushed, within: ClientRemovalContractTests.pushedLimits) == .added)
        }

        /// Expects that nothing of the deleted client has an effect, or appears in a list.
        func expectGone() async throws {
            let (store, user) = (world.store, world.user)
            #expect(try await store.client(client.id) == nil)
            #expect(try await store.clients().allSatisfy { $0.id != client.id })
            #expect(try await store.unregisteredClient(client.id) == nil)
            #expect(try await store.userCount(of: client.id, atMost: 9) == 0)
            #expect(try await store.consent(of: user.id, to: client.id) == nil)
            #expect(try await store.consents(of: user.id).allSatisfy { $0.client.id != client.id })
            #expect(
                try await store.grants(of: user.id, after: nil, limit: 999).allSatisfy {
                    $0.grant.clientID != client.id
                })
            #expect(try await store.grant(grant.id) == nil)
            #expect(try await store.grantFacts(grant.id) == nil)
            #expect(try await store.code(waiting.digest) == nil)
            #expect(try await store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            #expect(try await store.refreshFacts(facts.family.digest) == nil)
            #expect(try await store.recordRefresh(facts, .stay, now: World.now) == .gone)
            #expect(try await store.revokeGrant(grant.id, because: .client, at: World.now) == .notFound)
            #expect(
                try await store.narrowConsent(of: user.id, to: client.id, keeping: Scope([]), at: World.now)
                    == .notFound)
            #expect(try await store.deviceAuthorization(userCode: device.userCode, at: World.now) == nil)
            #expect(try await store.denyDevice(device.digest, at: World.now) == .notPending)
            #expect(try await store.pollDevice(device.digest, by: client.id, at: World.now) == .unknown)
            #expect(
                try await store.openPushedRequest(pushed.digest, of: client.id, at: World.now, until: World.now + 1)
                    == nil)
        }
    }

    /// Registers one client, and approves requests of one with a document.
    private static func clients(in world: World) async throws -> [Busy] {
        [try await Busy(world, world.client), try await Busy(world, documentClient())]
    }

    // The commit of the deletion is the end of the access.
    @Test(arguments: StoreKind.allCases)
    func `a deleted client is gone before its last record is deleted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let other = World(
                store, user: world.user, client: try .named("app-another"), session: world.session)
            #expect(try await store.addClient(other.client) == .added)
            let kept = try await other.refreshFamily(of: other.grant())
            for busy in try await Self.clients(in: world) {
                let revision = try await store.registryRevision()
                #expect(try await store.removeClient(busy.client.id))
                #expect(try await store.registryRevision() != revision)
                #expect(try await !store.removeClient(busy.client.id))
                try await busy.expectGone()
                #expect(try await store.continueRemovals(atMost: 5) == 5)
                try await busy.expectGone()
            }
            #expect(try await store.refreshFacts(kept.digest) != nil)
            #expect(try await store.consents(of: world.user.id).map(\.client) == [other.client])
            // The end of the session reaches the grants of the other client only.
            #expect(try await store.signOutEverywhere(world.user.id, except: nil, at: World.now) == 1)
            #expect(try await store.refreshFacts(kept.digest)?.grant.revokedAt == World.now)
            #expect(try await world.finishRemovals(atMost: 10).allSatisfy { $0 <= 10 })
            #expect(try await store.refreshFacts(kept.digest) != nil)
        }
    }

    // The records of one client never belong to another one.
    @Test(arguments: StoreKind.allCases)
    func `no client gets the identifier of a deleted one while records of it are left`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let clients = try await Self.clients(in: world)
            for busy in clients { #expect(try await store.removeClient(busy.client.id)) }
            let document = clients[1].client
            for _ in 1...2 {
                #expect(try await store.addClient(world.client) == .identifierBeingFreed)
                #expect(try await store.addClient(document) == .identifierBeingFreed)
                #expect(try await store.recordConsent(try Self.approval(world, of: document)) == .clientDeleted)
                #expect(
                    try await store.addDeviceAuthorization(Self.device(of: document), within: Self.deviceLimits)
                        == .clientDeleted)
                #expect(
                    try await store.addPushedRequest(Self.pushed(by: document), within: Self.pushedLimits)
                        == .clientDeleted)
                #expect(try await store.client(document.id) == nil)
                #expect(try await store.continueRemovals(atMost: 3) == 3)
            }
            try await world.finishRemovals(atMost: 50)
            #expect(try await store.addClient(world.client) == .added)
            #expect(try await store.grants(of: world.user.id, after: nil, limit: 9).isEmpty)
            #expect(try await world.consent == nil)
            #expect(try await store.recordConsent(try Self.approval(world, of: document)) == .recorded)
            #expect(try await store.grants(of: world.user.id, after: nil, limit: 9).count == 1)
            #expect(try await store.userCount(of: document.id, atMost: 9) == 1)
        }
    }

    // A process that ends between two transactions loses nothing.
    @Test(arguments: StoreKind.allCases)
    func `the records of deleted clients go in transactions of a limited size, also after a restart`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStorage { storage async throws in
            let world = try await World(in: storage.store)
            for busy in try await Self.clients(in: world) {
                #expect(try await storage.store.removeClient(busy.client.id))
            }
            var steps: [Int] = []
            while true {
                try await storage.reopen()
                let step = try await storage.store.continueRemovals(atMost: 10)
                guard step > 0 else { break }
                steps.append(step)
            }
            #expect(steps.count >= 4 && steps.allSatisfy { $0 <= 10 }, "\(steps)")
            #expect(try await storage.store.addClient(world.client) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client with few records leaves none, and its identifier is free at once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            for _ in 1...3 { _ = try await world.refreshFamily(of: world.grant()) }
            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await world.store.continueRemovals(atMost: 9) == 0)
            #expect(try await world.store.addClient(world.client) == .added)
        }
    }

    // The clients of a host, those of a user, and those that housekeeping deletes.
    @Test(arguments: StoreKind.allCases)
    func `a commit that deletes several clients deletes no more records than that of one`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let documents = try (1...3).map { try Self.documentClient("https://app.example.net/\($0)") }
            for document in documents {
                for _ in 0..<ClientRemoval.rowsAtOnce * 3 / 4 {
                    #expect(try await store.recordConsent(try Self.approval(world, of: document)) == .recorded)
                }
            }
            #expect(try await store.removeUnregisteredClients(of: .host("app.example.net"), atMost: 9) == 3)
            #expect(try await store.unregisteredClientCount(of: .host("app.example.net")).clients == 0)
            #expect(try await store.consents(of: world.user.id).isEmpty)
            // What the commit left of the grants, and two consents.
            let left = try await world.finishRemovals(atMost: 1000).reduce(0, +)
            #expect(left >= ClientRemoval.rowsAtOnce * 5 / 4, "\(left)")

            let owned = try RegisteredClient.named("app-owned", owner: world.user.id)
            #expect(try await store.addClient(owned) == .added)
            let bob = try await world.adding("bob")
            let busy = try await Busy(bob, owned)
            #expect(try await world.beginRemoval(ownedClients: .delete([owned.id])) == .begun([owned.id]))
            try await busy.expectGone()
            #expect(try await store.addClient(RegisteredClient.named("app-owned")) == .identifierBeingFreed)
            try await world.finishRemovals(atMost: 7)
            #expect(try await store.addClient(RegisteredClient.named("app-owned")) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `one transaction deletes the records of several clients, up to its limit`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let owned = try (1...9).map { try RegisteredClient.named("app-\($0)", owner: world.user.id) }
            for client in owned { #expect(try await store.addClient(client) == .added) }
            let bob = try await world.adding("bob")
            let busy = World(store, user: bob.user, client: owned[0], session: bob.session)
            for _ in 0..<ClientRemoval.rowsAtOnce + 50 { try await busy.approve(busy.grant()) }
            let ids = owned.map(\.id)
            #expect(try await world.beginRemoval(ownedClients: .delete(ids)) == .begun(ids))
            // Fifty grants and a consent are left of one client, and nothing of the others but their identifiers.
            let steps = try await world.finishRemovals(atMost: 1000)
            #expect(steps.count == 2 && steps.last == 51 + 9, "\(steps)")
            for client in owned {
                var again = client
                again.owner = nil
                #expect(try await store.addClient(again) == .added)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the removal of a scope and the deletion of a user do not wait for a deleted client`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let photos = try #require(Scope.Token("photos"))
            #expect(try await store.addScope(ScopeDefinition(token: photos, description: "Photos")) == .added)
            let client = try RegisteredClient.named("app-photos", scope: Scope([.openID, photos]))
            #expect(try await store.addClient(client) == .added)
            let busy = World(store, user: world.user, client: client, session: world.session)
            for _ in 0...ClientRemoval.rowsAtOnce { try await busy.approve(busy.grant(Scope([photos]))) }
            #expect(try await store.removeClient(client.id))
            #expect(
                try await store.removeScope(photos, takingFromUses: false, at: World.now)
                    == .removed(from: ScopeUses(clients: [], resources: [])))
            #expect(try await store.refreshStatistics() == RefreshStatistics())
            #expect(try await world.beginRemoval() == .begun([]))
            try await world.finishRemovals(atMost: 20)
            #expect(try await store.addClient(client) == .unknownScopes(Scope([photos])))
        }
    }

    /// A kind of request to a client, concurrent with its deletion.
    enum Request: CaseIterable, Sendable {
        case approval, redemption, refresh
    }

    private enum Ended: Hashable { case committed, refused, deleted }

    // A request is carried out before the deletion or not at all, and leaves nothing behind.
    @Test(arguments: StoreKind.allCases, Request.allCases)
    func `a request is carried out before the deletion of its client, or is refused`(
        _ kind: StoreKind, _ request: Request
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            for _ in 0..<ClientRemoval.rowsAtOnce { try await world.approve(world.grant()) }
            var codes: [CodeRecord] = []
            if request == .redemption { for _ in 0..<40 { codes.append(try await world.approve(world.grant())) } }
            let family = try await world.refreshFamily(of: world.grant())
            let facts = try #require(try await store.refreshFacts(family.digest))
            let grants = (0..<40).map { _ in world.grant() }
            let waiting = codes
            let counts = try await outcomes(of: 41) { number -> Ended in
                guard number != 20 else {
                    #expect(try await store.removeClient(world.client.id))
                    return .deleted
                }
                let index = number < 20 ? number : number - 1
                switch request {
                case .approval:
                    let outcome = try await store.recordConsent(
                        world.approval(grants[index], .example(for: grants[index])))
                    if outcome == .recorded { return .committed }
                    #expect(outcome == .clientDeleted)
                case .redemption:
                    let outcome = try await store.consumeCode(waiting[index].digest, beginning: nil, at: World.now)
                    if outcome == .consumed { return .committed }
                    #expect(outcome == .gone)
                case .refresh:
                    let outcome = try await store.recordRefresh(facts, .stay, now: World.now + 1)
                    if outcome == .recorded { return .committed }
                    #expect(outcome == .gone)
                }
                return .refused
            }
            #expect(counts[.deleted] == 1)
            #expect(counts[.committed, default: 0] + counts[.refused, default: 0] == 40)
            _ = try await outcomes(of: 4) { _ in try await world.finishRemovals(atMost: 7).count }
            #expect(try await store.continueRemovals(atMost: 7) == 0)
            #expect(try await store.addClient(world.client) == .added)
            #expect(try await store.grants(of: world.user.id, after: nil, limit: 9).isEmpty)
            #expect(try await store.refreshFacts(family.digest) == nil)
        }
    }
}
