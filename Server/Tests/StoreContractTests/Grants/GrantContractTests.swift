import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: grants and codes")
struct GrantContractTests {
    // RFC 7636 §4.4, the challenge is kept with the code.
    @Test(arguments: StoreKind.allCases)
    func `a code is read back with its challenge, its grant and its user`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            let facts = try #require(try await world.store.code(code.digest))
            #expect(facts == CodeFacts(code: code, grant: grant, user: world.user))
            #expect(facts.code.codeChallenge == code.codeChallenge)
            #expect(facts.code.redirectURI?.uri.rawValue == code.redirectURI?.uri.rawValue)
            #expect(facts.code.nonce?.exposed == code.nonce?.exposed)
            #expect(try await world.store.grant(grant.id) == grant)
        }
    }

    // The grant and its user are read in one step, also if either has ended.
    @Test(arguments: StoreKind.allCases)
    func `a grant is read back with its user, also after it ended, and is deleted with its client`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            #expect(try await world.store.grantFacts(grant.id) == nil)
            try await world.approve(grant)
            let facts = try #require(try await world.store.grantFacts(grant.id))
            #expect(facts == GrantFacts(grant: grant, user: world.user))
            #expect(facts.hold)
            try await world.store.revokeGrant(grant.id, because: .client, at: World.now)
            let ended = try #require(try await world.store.grantFacts(grant.id))
            #expect(ended.grant.revokedAt == World.now)
            #expect(!ended.hold)
            try await world.store.removeClient(world.client.id)
            #expect(try await world.store.grantFacts(grant.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a code without challenge, nonce and redirect URI is read back without them`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = CodeRecord(
                digest: ArtefactDigest(of: AuthorizationCode()),
                interaction: ArtefactDigest(of: InteractionIdentifier()),
                grantID: grant.id,
                redirectURI: .registered(try RedirectURI("https://app.example.com/callback")),
                codeChallenge: nil,
                nonce: nil,
                issuedAt: World.now,
                expiresAt: World.now
            )
            #expect(try await world.store.recordConsent(world.approval(grant, code)) == .recorded)
            #expect(try await world.store.code(code.digest)?.code == code)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval for a deleted client or user writes nothing`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let disabled = try User.named("gone", disabledAt: World.now)
            #expect(try await world.store.addUser(disabled) == .added)
            let client = try #require(ClientIdentifier("unknown"))
            let cases: [(UserIdentifier, ClientIdentifier, RecordConsentOutcome)] = [
                (world.user.id, client, .clientDeleted),
                (UserIdentifier(), world.client.id, .userNotActive),
                (disabled.id, world.client.id, .userNotActive),
            ]
            for (user, client, outcome) in cases {
                let grant = Grant(
                    userID: user, clientID: client, scope: Scope(), createdAt: World.now, lastUsedAt: World.now)
                let code = try CodeRecord.example(for: grant)
                #expect(try await world.store.recordConsent(world.approval(grant, code)) == outcome)
                #expect(try await world.store.grant(grant.id) == nil)
                #expect(try await world.store.code(code.digest) == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred submissions of one page one gives a code`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let page = InteractionIdentifier()
            let grants = (0..<100).map { _ in world.grant() }
            let store = world.store
            let counts = try await outcomes(of: 100) { number in
                try await store.recordConsent(
                    world.approval(grants[number], .example(for: grants[number], interaction: page)))
            }
            #expect(counts == [.recorded: 1, .alreadyAnswered: 99])
            var kept = 0
            for grant in grants where try await store.grant(grant.id) != nil { kept += 1 }
            #expect(kept == 1)
        }
    }

    /// RFC 6749 §4.1.2: the client must not use the code more than once.
    @Test(arguments: StoreKind.allCases)
    func `of a hundred redemptions of a code one succeeds`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            let store = world.store
            let counts = try await outcomes(of: 100) { number in
                try await store.consumeCode(code.digest, beginning: nil, at: World.now.addingTimeInterval(1))
            }
            #expect(counts == [.consumed: 1, .alreadyUsed: 99])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a redemption marks the code and its grant and nothing else`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            let (otherGrant, time) = (world.grant(), World.now.addingTimeInterval(1.5))
            let other = try await world.approve(otherGrant)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: time) == .consumed)
            var (usedCode, usedGrant) = (code, grant)
            usedCode.usedAt = time
            usedGrant.lastUsedAt = time
            let expected = CodeFacts(code: usedCode, grant: usedGrant, user: world.user)
            #expect(try await world.store.code(code.digest) == expected)
            #expect(
                try await world.store.consumeCode(code.digest, beginning: nil, at: time.addingTimeInterval(1))
                    == .alreadyUsed)
            #expect(try await world.store.code(code.digest) == expected)
            #expect(try await world.store.code(other.digest)?.code == other)
            #expect(try await world.store.grant(otherGrant.id) == otherGrant)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `wrong verifiers are counted up to five, and then the code is invalid`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            for count in 1...5 {
                #expect(try await world.store.countFailedRedemption(code.digest) == count)
            }
            #expect(try await world.store.countFailedRedemption(code.digest) == 5)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .gone)
            var counted = code
            counted.failedRedemptions = 5
            let facts = CodeFacts(code: counted, grant: grant, user: world.user)
            #expect(try await world.store.code(code.digest) == facts)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `four wrong verifiers leave the facts and the code unchanged`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let code = try await world.approve(world.grant())
            for _ in 1...4 { try await world.store.countFailedRedemption(code.digest) }
            var counted = code
            counted.failedRedemptions = 4
            #expect(try await world.store.code(code.digest)?.code == counted)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred concurrent wrong verifiers five are counted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, code) = (world.store, try await world.approve(world.grant()))
            let counts = try await outcomes(of: 100) { _ in try await store.countFailedRedemption(code.digest) }
            #expect(counts == [1: 1, 2: 1, 3: 1, 4: 1, 5: 96])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the code of a revoked grant is not found`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            let time = World.now.addingTimeInterval(2)
            #expect(try await world.store.revokeGrant(grant.id, because: .client, at: time) == .revoked)
            #expect(
                try await world.store.revokeGrant(grant.id, because: .client, at: time.addingTimeInterval(1))
                    == .alreadyRevoked)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: time) == .gone)
            var revoked = grant
            revoked.revokedAt = time
            #expect(try await world.store.grant(grant.id) == revoked)
            let facts = CodeFacts(code: code, grant: revoked, user: world.user)
            #expect(try await world.store.code(code.digest) == facts)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a used code is reported as used even if its grant is revoked`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
            #expect(try await world.store.revokeGrant(grant.id, because: .client, at: World.now) == .revoked)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .alreadyUsed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unknown code or grant is not found and not created`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let digest = ArtefactDigest(of: AuthorizationCode())
            #expect(try await world.store.code(digest) == nil)
            #expect(try await world.store.consumeCode(digest, beginning: nil, at: World.now) == .gone)
            #expect(try await world.store.countFailedRedemption(digest) == 0)
            #expect(try await world.store.code(digest) == nil)
            let grant = GrantIdentifier()
            #expect(try await world.store.grant(grant) == nil)
            #expect(try await world.store.revokeGrant(grant, because: .client, at: World.now) == .notFound)
            #expect(try await world.store.grant(grant) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a cancelled caller still learns what was written`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, code) = (world.store, try await world.approve(world.grant()))
            let redemption = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await store.consumeCode(code.digest, beginning: nil, at: World.now)
            }
            #expect(try await redemption.value == .consumed)
            #expect(try await store.code(code.digest)?.code.usedAt == World.now)
        }
    }
}
