import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: consents")
struct ConsentContractTests {
    private static let later = World.now.addingTimeInterval(3600)

    @Test(arguments: StoreKind.allCases)
    func `an approval is stored with the appearance of the client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.consent == nil)
            let scope = Scope([.openID, .profile])
            try await world.approve(world.grant(scope))
            let expected = Consent(
                userID: world.user.id, clientID: world.client.id, scope: scope, remembered: scope,
                appearance: ClientAppearance(of: world.client), since: World.now, allowedAt: World.now
            )
            #expect(try await world.consent == expected)
            #expect(
                try await world.store.consents(of: world.user.id)
                    == [ConsentFacts(consent: expected, client: world.client)])
            #expect(try await world.store.consents(of: UserIdentifier()) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a second approval extends the consent and removes what was left out`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            try await world.approve(world.grant(Scope([.openID, .profile])))
            try await world.approve(
                world.grant(Scope([.openID, .email]), at: Self.later), asked: Scope([.openID, .profile, .email]))
            let consent = try #require(try await world.consent)
            // The first grant can still read the profile, but the user left it out in the last decision.
            #expect(consent.scope == Scope([.openID, .profile, .email]))
            #expect(consent.remembered == Scope([.openID, .email]))
            #expect(consent.since == World.now)
            #expect(consent.allowedAt == Self.later)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval of a client that has changed since is not recorded`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.store.updateClient(world.client, logo: .keep) == .updated)
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            #expect(try await world.store.recordConsent(world.approval(grant, code, pkce: .plain)) == .clientChanged)
            #expect(try await world.store.grant(grant.id) == nil)
            #expect(try await world.store.code(code.digest) == nil)
            #expect(try await world.consent == nil)
            #expect(try await world.store.pkceExceptionUse(of: world.client.id) == nil)
            let renewed = World(
                world.store, user: world.user, client: try #require(try await world.store.client(world.client.id)),
                session: world.session)
            try await renewed.approve(grant)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page submitted twice is reported even if the client has changed`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (grant, page) = (world.grant(), InteractionIdentifier())
            let code = try CodeRecord.example(for: grant, interaction: page)
            #expect(try await world.store.recordConsent(world.approval(grant, code)) == .recorded)
            #expect(try await world.store.updateClient(world.client, logo: .keep) == .updated)
            let again = try CodeRecord.example(for: world.grant(), interaction: page)
            #expect(try await world.store.recordConsent(world.approval(world.grant(), again)) == .alreadyAnswered)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `concurrent approvals add up`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let tokens = try (0..<150).map { try #require(Scope.Token("permission.\($0)")) }
            let counts = try await outcomes(of: 150) { number in
                let grant = world.grant(Scope([tokens[number]]))
                return try await world.store.recordConsent(world.approval(grant, .example(for: grant)))
            }
            #expect(counts == [.recorded: 150])
            // The consent contains more scopes than one request may ask for, and it can still be read.
            #expect(try await world.consent?.scope == Scope(tokens))
            #expect(try await world.consent?.remembered == Scope(tokens))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a redemption marks the consent as used, and the time only moves forward`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let codes = [try await world.approve(world.grant()), try await world.approve(world.grant())]
            #expect(try await world.consent?.lastUsedAt == nil)
            #expect(try await world.store.consumeCode(codes[0].digest, beginning: nil, at: Self.later) == .consumed)
            #expect(try await world.consent?.lastUsedAt == Self.later)
            #expect(try await world.store.consumeCode(codes[1].digest, beginning: nil, at: World.now) == .consumed)
            #expect(try await world.consent?.lastUsedAt == Self.later)
            try await world.approve(world.grant())
            #expect(try await world.consent?.lastUsedAt == Self.later)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `all consents of a user are listed, most recent first`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bobs = try await world.adding("bob")
            var worlds = [world]
            for id in ["app-b", "app-a"] {
                let client = try RegisteredClient.named(id)
                #expect(try await world.store.addClient(client) == .added)
                worlds.append(World(world.store, user: world.user, client: client, session: world.session))
            }
            for world in worlds { try await world.approve(world.grant()) }
            try await bobs.approve(bobs.grant(Scope([.openID])))
            try await worlds[1].approve(worlds[1].grant(at: Self.later))
            let listed = try await world.store.consents(of: world.user.id)
            #expect(listed.map(\.client.id.rawValue) == ["app-b", "app-a", "app-lightbox"])
            #expect(try await world.store.consents(of: bobs.user.id).map(\.consent.scope) == [Scope([.openID])])
        }
    }

    // The user withdraws all access of a client.
    @Test(arguments: StoreKind.allCases)
    func `revoking everything revokes every grant and deletes pending codes`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (used, waiting, empty) = (world.grant(), world.grant(Scope([.email])), world.grant(Scope()))
            let usedCode = try await world.approve(used)
            #expect(try await world.store.consumeCode(usedCode.digest, beginning: nil, at: World.now) == .consumed)
            let code = try await world.approve(waiting)
            try await world.approve(empty)
            #expect(try await world.narrow(to: Scope(), at: Self.later) == .narrowed)
            for grant in [used, waiting, empty] {
                #expect(try await world.store.grant(grant.id)?.revokedAt == Self.later)
            }
            #expect(try await world.consent == nil)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: Self.later) == .gone)
            #expect(try await world.store.consumeCode(usedCode.digest, beginning: nil, at: Self.later) == .alreadyUsed)
            #expect(try await world.narrow(to: Scope(), at: Self.later) == .notFound)
            // A new approval starts a new consent.
            try await world.approve(world.grant(at: Self.later))
            #expect(try await world.consent?.since == Self.later)
        }
    }

    // The user withdraws a part of the access of a client.
    @Test(arguments: StoreKind.allCases)
    func `revoking a part narrows every grant and ends those with nothing left`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let wide = world.grant(Scope([.openID, .profile, .email]))
            let (same, gone, untouched) = (
                world.grant(Scope([.email, .profile, .openID])), world.grant(Scope([.email])),
                world.grant(Scope([.openID]))
            )
            var codes: [GrantIdentifier: CodeRecord] = [:]
            for grant in [wide, same, gone, untouched] { codes[grant.id] = try await world.approve(grant) }
            #expect(try await world.narrow(to: Scope([.openID, .profile, .phone]), at: Self.later) == .narrowed)
            for grant in [wide, same] {
                #expect(try await world.store.grant(grant.id)?.scope == Scope([.openID, .profile]))
                #expect(try await world.store.grant(grant.id)?.revokedAt == nil)
            }
            var revoked = gone
            revoked.revokedAt = Self.later
            #expect(try await world.store.grant(gone.id) == revoked)
            #expect(try await world.store.grant(untouched.id) == untouched)
            #expect(try await world.consent?.scope == Scope([.openID, .profile]))
            #expect(try await world.consent?.remembered == Scope([.openID, .profile]))
            // A code is invalid if its grant no longer has the scopes that the code was issued for; the
            // other codes stay valid.
            for grant in [wide, same, gone, untouched] {
                let code = try #require(codes[grant.id])
                let outcome = try await world.store.consumeCode(code.digest, beginning: nil, at: Self.later)
                #expect(outcome == (grant.id == untouched.id ? .consumed : .gone))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keeping more than was allowed changes nothing`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (grant, empty) = (world.grant(), world.grant(Scope()))
            let code = try await world.approve(grant)
            try await world.approve(empty)
            let before = try await world.consent
            #expect(try await world.narrow(to: grant.scope.union(Scope([.phone])), at: Self.later) == .narrowed)
            #expect(try await world.consent == before)
            #expect(try await world.store.grant(grant.id) == grant)
            #expect(try await world.store.grant(empty.id) == empty)
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: Self.later) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a revocation does not affect other users and other clients`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try RegisteredClient.named("other")
            #expect(try await world.store.addClient(client) == .added)
            let others = [
                try await world.adding("bob"),
                World(world.store, user: world.user, client: client, session: world.session),
            ]
            try await world.approve(world.grant())
            for other in others { try await other.approve(other.grant()) }
            #expect(try await world.narrow(to: Scope(), at: Self.later) == .narrowed)
            for other in others { #expect(try await other.consent?.scope == other.grant().scope) }
        }
    }

    // The consent stays correct after one of its grants is revoked.
    @Test(arguments: StoreKind.allCases)
    func `a consent is the union of the valid grants, and is deleted with the last`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (first, second) = (world.grant(Scope([.openID, .profile])), world.grant(Scope([.openID, .email])))
            for grant in [first, second] { try await world.approve(grant) }
            #expect(try await world.store.revokeGrant(first.id, because: .client, at: Self.later) == .revoked)
            #expect(try await world.consent?.scope == Scope([.openID, .email]))
            #expect(try await world.consent?.remembered == Scope([.openID, .email]))
            #expect(try await world.store.revokeGrant(second.id, because: .client, at: Self.later) == .revoked)
            #expect(try await world.consent == nil)
            #expect(try await world.store.consents(of: world.user.id) == [])
        }
    }

    // A token is issued before the consent is narrowed, or not at all.
    @Test(arguments: StoreKind.allCases)
    func `a code that is redeemed while its grant is narrowed is redeemed before or not at all`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            var codes: [CodeRecord] = []
            for _ in 0..<50 { codes.append(try await world.approve(world.grant(Scope([.openID, .email])))) }
            let waiting = codes
            let counts = try await outcomes(of: 51) { number in
                guard number < 50 else {
                    return "\(try await world.narrow(to: Scope([.openID]), at: Self.later))"
                }
                let digest = waiting[number].digest
                return "\(try await world.store.consumeCode(digest, beginning: nil, at: World.now))"
            }
            #expect(counts["narrowed"] == 1)
            #expect((counts["consumed"] ?? 0) + (counts["gone"] ?? 0) == 50)
            for code in codes {
                let facts = try #require(try await world.store.code(code.digest))
                #expect(facts.grant.scope == Scope([.openID]))
                // The narrowing also ends a redeemed code while it is not recorded whether its tokens were sent.
                let isDead = facts.code.failedRedemptions == CodeRecord.failedRedemptionLimit
                #expect(facts.code.usedAt != nil || isDead)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope that was allowed for claims alone is kept, remembered and revoked`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let plain = world.grant(Scope([.openID, .email]))
            let grant = Grant(
                userID: world.user.id, clientID: world.client.id, scope: Scope([.openID, .email]),
                claims: RequestedClaims(userInfo: ["name"]), claimScope: Scope([.profile]), sessionID: world.session.id,
                createdAt: World.now, lastUsedAt: World.now)
            try await world.approve(plain)
            try await world.approve(grant, asked: Scope([.openID, .email, .profile]))
            #expect(try await world.store.grant(grant.id) == grant)
            let consent = try #require(try await world.consent)
            #expect(consent.scope == Scope([.openID, .email, .profile]))
            #expect(consent.remembered == Scope([.openID, .email, .profile]))
            #expect(
                try await world.store.narrowConsent(
                    of: world.user.id, to: world.client.id, keeping: Scope([.openID, .email]), at: Self.later)
                    == .narrowed)
            let narrowed = try #require(try await world.store.grant(grant.id))
            #expect(narrowed.claimScope.isEmpty)
            #expect(narrowed.scope == Scope([.openID, .email]))
            #expect(narrowed.revokedAt == nil)
            #expect(try await world.store.grant(plain.id) == plain)
            #expect(try await world.consent?.scope == Scope([.openID, .email]))
        }
    }
}

extension World {
    fileprivate func narrow(to kept: Scope, at time: Date) async throws -> NarrowConsentOutcome {
        try await store.narrowConsent(of: user.id, to: client.id, keeping: kept, at: time)
    }
}
