@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: a refresh and concurrent changes")
struct RefreshStepContractTests {
    static let steps: [RefreshStep] =
        [.advance(to: 1), .repeat, .stay]
        + [KeyThumbprint.example].compactMap { key in key.map { .bind(to: $0, advancingTo: 1) } }

    /// A token family of a grant with two scopes, and a third scope for claims only.
    private struct Held {
        let world: World
        let digest = ArtefactDigest(ofFamily: RandomBytes().bytes(16))

        init(_ world: World, for scope: Scope = Scope([.openID, .email])) async throws {
            self.world = world
            let grant = Grant(
                userID: world.user.id, clientID: world.client.id, scope: scope,
                claims: RequestedClaims(userInfo: ["name"]), claimScope: Scope([.profile]), sessionID: world.session.id,
                createdAt: World.now, lastUsedAt: World.now)
            let code = try await world.approve(grant)
            let family = RefreshFamily(
                digest: digest, grantID: grant.id, rotatedAt: World.now, lastUsedAt: World.now,
                expiresAt: World.now + 86_400)
            #expect(try await world.store.consumeCode(code.digest, beginning: family, at: World.now) == .consumed)
        }

        func facts() async throws -> RefreshFacts { try #require(try await world.store.refreshFacts(digest)) }

        func record(_ step: RefreshStep, of facts: RefreshFacts, after seconds: TimeInterval) async throws
            -> RecordRefreshOutcome
        {
            try await world.store.recordRefresh(facts, step, now: World.now + seconds)
        }

        func narrow(to kept: Scope = Scope([.openID])) async throws {
            let outcome = try await world.store.narrowConsent(
                of: world.user.id, to: world.client.id, keeping: kept, at: World.now + 1)
            #expect(outcome == .narrowed)
        }
    }

    @Test(arguments: StoreKind.allCases, steps)
    func `a refresh that was judged by a deleted scope is not recorded, even if the name exists again`(
        _ kind: StoreKind, _ step: RefreshStep
    ) async throws {
        try await kind.withWorld { world in
            let token = try #require(Scope.Token("photos.read"))
            let definition = ScopeDefinition(token: token, description: "See your photos")
            #expect(try await world.store.addScope(definition) == .added)
            let held = try await Held(world, for: Scope([.openID, token]))
            let judged = try await held.facts()
            _ = try await world.store.removeScope(token, takingFromUses: true, at: World.now + 1)
            #expect(try await world.store.addScope(definition) == .added)
            #expect(try await held.record(step, of: judged, after: 2) == .changedMeanwhile)
            #expect(try await held.facts().grant.scope == Scope([.openID]))
        }
    }

    @Test(arguments: StoreKind.allCases, steps)
    func `a refresh that was judged by a revoked scope is not recorded`(
        _ kind: StoreKind, _ step: RefreshStep
    ) async throws {
        try await kind.withWorld { world in
            // The second narrowing withdraws claims only.
            for kept in [Scope([.openID]), Scope([.openID, .email])] {
                let held = try await Held(world)
                let judged = try await held.facts()
                try await held.narrow(to: kept)
                #expect(try await held.record(step, of: judged, after: 2) == .changedMeanwhile)
                let now = try await held.facts()
                #expect(now.family == judged.family)
                #expect(now.grant.allowed == kept)
                #expect(try await held.record(step, of: now, after: 2) == .recorded)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, steps)
    func `a scope that is revoked after a refresh is missing from the next one`(
        _ kind: StoreKind, _ step: RefreshStep
    ) async throws {
        try await kind.withWorld { world in
            let held = try await Held(world)
            #expect(try await held.record(step, of: try await held.facts(), after: 1) == .recorded)
            try await held.narrow()
            #expect(try await held.facts().grant.scope == Scope([.openID]))
        }
    }

    // RFC 9449 §5
    @Test(arguments: StoreKind.allCases)
    func `a family is bound once, together with a rotation`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world in
            let key = try #require(KeyThumbprint.example)
            let other = try #require(KeyThumbprint("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"))
            let held = try await Held(world)
            let unbound = try await held.facts()
            #expect(unbound.family.keyThumbprint == nil)
            #expect(try await held.record(.bind(to: key, advancingTo: 1), of: unbound, after: 1) == .recorded)
            let bound = try await held.facts()
            #expect(bound.family.keyThumbprint == key)
            #expect(bound.family.generation == 1)
            #expect(bound.family.rotatedAt == World.now + 1)
            // A refresh that was judged before the family was bound.
            for step in Self.steps + [.bind(to: other, advancingTo: 1)] {
                #expect(try await held.record(step, of: unbound, after: 2) == .changedMeanwhile)
            }
            #expect(try await held.record(.bind(to: other, advancingTo: 2), of: bound, after: 2) == .changedMeanwhile)
            #expect(try await held.facts().family == bound.family)
            #expect(try await held.record(.stay, of: bound, after: 3) == .recorded)
            #expect(try await held.facts().family.keyThumbprint == key)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a response is repeated fifty times at once, and then once in each pause`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world in
            let held = try await Held(world)
            #expect(try await held.record(.advance(to: 1), of: try await held.facts(), after: 1) == .recorded)
            let facts = try await held.facts()
            for _ in 0..<RefreshFamily.repeatLimit {
                #expect(try await held.record(.repeat, of: facts, after: 1) == .recorded)
            }
            let times: [(TimeInterval, RecordRefreshOutcome)] = [
                (1, .changedMeanwhile), (2.9, .changedMeanwhile), (3, .recorded), (4.9, .changedMeanwhile),
                (5, .recorded),
            ]
            for (seconds, outcome) in times {
                #expect(try await held.record(.repeat, of: facts, after: seconds) == outcome)
            }
            #expect(try await held.facts().family.repeats == RefreshFamily.repeatLimit + 2)
        }
    }
}
