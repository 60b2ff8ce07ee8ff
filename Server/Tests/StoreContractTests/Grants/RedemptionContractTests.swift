@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: redemptions whose result is unknown")
struct RedemptionContractTests {
    /// A code of a new grant, and a token family that begins with it.
    private struct Issued {
        let world: World
        let grant: Grant
        let code: CodeRecord
        let attempt = CommitAttempt()
        let family: RefreshFamily

        init(_ world: World) async throws {
            self.world = world
            grant = world.grant(Scope([.openID, .offlineAccess, .email]))
            code = try await world.approve(grant)
            family = RefreshFamily(
                digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: World.now,
                lastUsedAt: World.now, expiresAt: World.now + 86_400)
        }

        func redeem(_ other: CommitAttempt? = nil) async throws -> ConsumeCodeOutcome {
            try await world.store.consumeCode(
                code.digest, beginning: family, attempt: other ?? attempt, at: World.now + 1)
        }

        func contest() async throws -> ContestRedemptionOutcome {
            try await world.store.contestRedemption(code.digest, at: World.now + 2)
        }

        func settle(answered: Bool, _ other: CommitAttempt? = nil) async throws -> [GrantIdentifier] {
            let settlement = RedemptionSettlement(
                code: code.digest, attempt: other ?? attempt, isAnswered: answered)
            return try await world.store.settleRedemptions([settlement], at: World.now + 3).map(\.id)
        }

        var stored: CodeRecord { get async throws { try #require(try await world.store.code(code.digest)).code } }
        var revokedAt: Date? { get async throws { try await world.store.grant(grant.id)?.revokedAt } }
    }

    private static func withCode(_ kind: StoreKind, _ test: (Issued) async throws -> Void) async throws {
        try await kind.withWorld { world async throws in try await test(try await Issued(world)) }
    }

    @Test(arguments: StoreKind.allCases)
    func `the attempt that redeemed a code succeeds again, and any other is refused`(_ kind: StoreKind) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.redeem() == .consumed)
            let stored = try await issued.stored
            #expect(stored.attempt == issued.attempt && stored.usedAt == World.now + 1)
            #expect(try await issued.redeem() == .consumed)
            #expect(try await issued.redeem(CommitAttempt()) == .alreadyUsed)
            #expect(try await issued.stored == stored)
            #expect(try await issued.world.store.refreshFacts(issued.family.digest)?.family == issued.family)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the attempt that redeemed a code of a revoked grant is refused`(_ kind: StoreKind) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.redeem() == .consumed)
            try await issued.world.store.revokeGrant(issued.grant.id, because: .user, at: World.now + 2)
            #expect(try await issued.redeem() == .gone)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of two attempts that are sent many times at once, one redeems the code`(_ kind: StoreKind) async throws {
        try await Self.withCode(kind) { issued async throws in
            let attempts = [CommitAttempt(), CommitAttempt()]
            let counts = try await outcomes(of: 20) { number in try await issued.redeem(attempts[number % 2]) }
            #expect(counts == [.consumed: 10, .alreadyUsed: 10])
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a contested redemption revokes the grant if its tokens were sent, in both orders`(
        _ kind: StoreKind, isContestedFirst: Bool
    ) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.redeem() == .consumed)
            if isContestedFirst {
                for _ in 1...2 { #expect(try await issued.contest() == .undecided) }
                #expect(try await issued.revokedAt == nil)
                #expect(try await issued.settle(answered: true) == [issued.grant.id])
                #expect(try await issued.revokedAt == World.now + 3)
                #expect(try await issued.world.consent == nil)
            } else {
                #expect(try await issued.settle(answered: true) == [])
                #expect(try await issued.revokedAt == nil)
            }
            #expect(try await issued.contest() == .answered)
            #expect(try await issued.settle(answered: true) == [])
            #expect(try await issued.stored.attempt == nil)
            #expect(try await issued.stored.usedAt != nil)
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a redemption without tokens is withdrawn, and the code can be redeemed`(
        _ kind: StoreKind, isContested: Bool
    ) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.redeem() == .consumed)
            if isContested { #expect(try await issued.contest() == .undecided) }
            #expect(try await issued.settle(answered: false) == [])
            #expect(try await issued.stored == issued.code)
            #expect(try await issued.world.store.refreshFacts(issued.family.digest) == nil)
            #expect(try await issued.contest() == .notRedeemed)
            let next = CommitAttempt()
            #expect(try await issued.redeem(next) == .consumed)
            #expect(try await issued.settle(answered: true, next) == [])
            #expect(try await issued.revokedAt == nil)
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a settlement of another attempt changes nothing`(_ kind: StoreKind, isAnswered: Bool) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.settle(answered: isAnswered) == [])
            #expect(try await issued.stored == issued.code)
            #expect(try await issued.redeem() == .consumed)
            let stored = try await issued.stored
            #expect(try await issued.contest() == .undecided)
            #expect(try await issued.settle(answered: isAnswered, CommitAttempt()) == [])
            #expect(try await issued.stored == stored)
            #expect(try await issued.revokedAt == nil)
        }
    }

    // A redemption that read the former scope must not succeed after it was withdrawn.
    @Test(arguments: StoreKind.allCases)
    func `a code whose redemption is withdrawn after a narrower consent stays invalid`(_ kind: StoreKind) async throws {
        try await Self.withCode(kind) { issued async throws in
            #expect(try await issued.redeem() == .consumed)
            #expect(
                try await issued.world.store.narrowConsent(
                    of: issued.world.user.id, to: issued.world.client.id, keeping: Scope([.openID]), at: World.now + 2
                )
                    == .narrowed)
            _ = try await issued.settle(answered: false)
            #expect(try await issued.redeem(CommitAttempt()) == .gone)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval that is sent again finds its own record`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            let approval = world.approval(grant, code)
            for _ in 1...2 { #expect(try await world.store.recordConsent(approval) == .recorded) }
            #expect(try await world.store.code(code.digest)?.code == code)
            // The same page and code, of another request.
            let other = world.grant()
            let again = CodeRecord(
                digest: code.digest, interaction: code.interaction, grantID: other.id, redirectURI: code.redirectURI,
                codeChallenge: code.codeChallenge, nonce: nil, issuedAt: code.issuedAt, expiresAt: code.expiresAt)
            #expect(try await world.store.recordConsent(world.approval(other, again)) == .alreadyAnswered)
            #expect(try await world.store.grant(other.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases, RefreshStepContractTests.steps)
    func `the attempt that refreshed a family succeeds again, and is counted once`(
        _ kind: StoreKind, _ step: RefreshStep
    ) async throws {
        try await Self.withCode(kind) { issued async throws in
            let store = issued.world.store
            #expect(try await issued.redeem() == .consumed)
            let facts = try #require(try await store.refreshFacts(issued.family.digest))
            let attempt = CommitAttempt()
            for seconds in [2.0, 3] {
                #expect(
                    try await store.recordRefresh(facts, step, attempt: attempt, now: World.now + seconds) == .recorded)
            }
            let family = try #require(try await store.refreshFacts(issued.family.digest)).family
            #expect(family.lastUsedAt == World.now + 2)
            #expect(family.repeats == (step == .repeat ? 1 : 0))
            #expect(try await store.refreshStatistics(of: issued.world.client.id).repeats == family.repeats)
            let other = try await store.recordRefresh(facts, step, attempt: CommitAttempt(), now: World.now + 4)
            #expect(other == (step == .repeat || step == .stay ? .recorded : .changedMeanwhile))
            try await store.revokeGrant(issued.grant.id, because: .user, at: World.now + 5)
            #expect(try await store.recordRefresh(facts, step, attempt: attempt, now: World.now + 6) == .gone)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the attempt that used a client assertion succeeds again, and any other is refused`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let digest = ArtefactDigest(ofAssertion: "jti", of: world.client.id)
            let attempt = CommitAttempt()
            func note(_ attempt: CommitAttempt) async throws -> Bool {
                try await world.store.noteAssertion(
                    digest, expires: World.now + 60, attempt: attempt, now: World.now)
            }
            for _ in 1...2 { #expect(try await note(attempt)) }
            #expect(try await !note(CommitAttempt()))
            #expect(try await note(attempt))
        }
    }
}
