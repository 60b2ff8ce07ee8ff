import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: the sign-ins of apps")
struct AppSignInContractTests {
    private static let idle = DefaultIdleLifetimes(inBrowser: 100, elsewhere: 1000)

    /// Redeems the code of a new grant some seconds after `World.now`.
    private static func redeem(
        in world: World, after seconds: TimeInterval, accessFor lifetime: TimeInterval = 3600, refreshing: Bool = true
    ) async throws -> (grant: Grant, family: RefreshFamily) {
        let grant = world.grant()
        let time = World.now + seconds
        let code = try await world.approve(grant)
        let family = RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: time,
            lastUsedAt: time, expiresAt: time + 86_400)
        let outcome = try await world.store.consumeCode(
            code.digest, beginning: refreshing ? family : nil, givingAccessUntil: time + lifetime,
            attempt: CommitAttempt(), at: time)
        #expect(outcome == .consumed)
        return (grant, family)
    }

    private static func refresh(
        _ family: RefreshFamily, in world: World, after seconds: TimeInterval, accessFor lifetime: TimeInterval = 3600
    ) async throws {
        let facts = try #require(try await world.store.refreshFacts(family.digest))
        let outcome = try await world.store.recordRefresh(
            facts, .advance(to: facts.family.generation + 1), givingAccessUntil: World.now + seconds + lifetime,
            attempt: CommitAttempt(), now: World.now + seconds, recording: [])
        #expect(outcome == .recorded)
    }

    private static func listed(
        in world: World, after seconds: TimeInterval, limit: Int = 10
    ) async throws -> AppSignIns {
        try await world.store.appSignIns(of: world.user.id, at: World.now + seconds, idle: idle, limit: limit)
    }

    /// The whole seconds from `World.now` to a time.
    private static func seconds(_ time: Date?) -> Int? { time.map { Int($0.timeIntervalSince(World.now).rounded()) } }

    @Test(arguments: StoreKind.allCases)
    func `a grant is read back with its device, and keeps the beginning of each long value`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let device = GrantDevice(
                name: String(repeating: "ä", count: 70), userAgent: "TV/1.0\n" + String(repeating: "x", count: 300),
                source: String(repeating: "1", count: 65), isSeparate: true)
            #expect(device.name?.count == GrantDevice.nameLimit)
            #expect(device.userAgent.utf8.count == 256 && device.userAgent.hasPrefix("TV/1.0x"))
            #expect(device.source.utf8.count == 64)
            let grant = Grant(
                userID: world.user.id, clientID: world.client.id, scope: Scope([.openID]), sessionID: world.session.id,
                device: device, createdAt: World.now, lastUsedAt: World.now)
            try await world.approve(grant)
            #expect(try await world.store.grant(grant.id) == grant)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `grants with a valid access token or refresh token are listed, the last used first`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let other = try await world.adding("bob")
            #expect(try await Self.listed(in: world, after: 0) == AppSignIns(recent: [], count: 0))
            let lasting = try await Self.redeem(in: world, after: 1, accessFor: 60)
            let short = try await Self.redeem(in: world, after: 2, accessFor: 60, refreshing: false)
            _ = try await Self.redeem(in: other, after: 3)
            try await world.approve(world.grant())
            let revoked = try await Self.redeem(in: world, after: 4)
            let ended = try await world.store.revokeGrant(
                revoked.grant.id, of: world.user.id, because: .user, at: World.now + 5, recording: [])
            #expect(ended == .revoked)

            let both = try await Self.listed(in: world, after: 6)
            #expect(both.recent.map(\.grant.id) == [short.grant.id, lasting.grant.id])
            #expect(both.recent.allSatisfy { $0.client.id == world.client.id })
            #expect(both.count == 2)
            try await Self.refresh(lasting.family, in: world, after: 30, accessFor: 60)
            let one = try await Self.listed(in: world, after: 31, limit: 1)
            #expect(one.recent.map(\.grant.id) == [lasting.grant.id])
            #expect(Self.seconds(one.recent.first?.lastUsedAt) == 30)
            #expect(one.count == 2)
            #expect(try await Self.listed(in: world, after: 62).recent.map(\.grant.id) == [lasting.grant.id])
            #expect(try await Self.listed(in: world, after: 1029).count == 1)
            #expect(try await Self.listed(in: world, after: 1031) == AppSignIns(recent: [], count: 0))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the policy of a client decides when its refresh token is idle`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            _ = try await Self.redeem(in: world, after: 0, accessFor: 60)
            var client = world.client
            client.policy.refreshTokenLife.idleLifetime = 5000
            #expect(try await world.store.updateClient(client, logo: .keep) == .updated)
            #expect(try await Self.listed(in: world, after: 4999).count == 1)
            #expect(try await Self.listed(in: world, after: 5001).count == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what revoked grants left behind is read with the last expiry of an access token`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            let first = try await Self.redeem(in: world, after: 0)
            let second = try await Self.redeem(in: world, after: 0)
            // The time of use of a grant is not updated within a minute, but that of its refresh token is.
            try await Self.refresh(first.family, in: world, after: 30)
            try await Self.refresh(second.family, in: world, after: 100, accessFor: 7200)
            try await Self.refresh(second.family, in: world, after: 200, accessFor: 60)
            func left(
                to client: ClientIdentifier? = nil, under grant: Grant? = nil, after seconds: TimeInterval = 301
            ) async throws -> [LeftoverAccess] {
                try await store.leftoverAccess(of: user, to: client, under: grant?.id, at: World.now + seconds)
            }
            #expect(try await left().isEmpty, "no grant is revoked")
            for (grant, seconds) in [(first.grant, 299.0), (second.grant, 300)] {
                let outcome = try await store.revokeGrant(
                    grant.id, of: user, because: .user, at: World.now + seconds, recording: [])
                #expect(outcome == .revoked)
            }
            let all = try await left()
            #expect(all.count == 1)
            let both = try #require(all.first)
            #expect(both.clientID == world.client.id && both.scope == first.grant.scope && both.hadRefreshTokens)
            #expect(Self.seconds(both.until) == 7300 && Self.seconds(both.endedAt) == 300)
            #expect(try await left(to: world.client.id) == all)
            let one = try #require(try await left(under: first.grant).first)
            #expect(Self.seconds(one.until) == 3630 && Self.seconds(one.endedAt) == 299)
            #expect(try await left(to: ClientIdentifier("app-other")).isEmpty)
            #expect(try await left(after: 7300 + 901).isEmpty)
            let bob = try await world.adding("bob").user.id
            #expect(try await store.leftoverAccess(of: bob, to: nil, under: nil, at: World.now).isEmpty)
            #expect(
                try await store.leftoverAccess(of: bob, to: nil, under: first.grant.id, at: World.now).isEmpty)
        }
    }

    // RFC 8628 §5.4, anyone can send the user the code of a device.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `signing out everywhere else, or changing the password, ends the grant of a device that showed a code`(
        _ kind: StoreKind, changesPassword: Bool
    ) async throws {
        try await kind.withWorld { world async throws in
            let kept = try await Self.redeem(in: world, after: 0).grant
            let device = try await world.addDevice()
            let grant = Grant(
                userID: world.user.id, clientID: world.client.id, scope: Scope([.openID]), sessionID: world.session.id,
                device: device.device, createdAt: World.now, lastUsedAt: World.now)
            let approval = world.approval(grant, .example(of: device, for: grant), pkce: .notNeeded)
            #expect(try await world.store.recordConsent(approval) == .recorded)
            #expect(try await world.store.consumeCode(device.digest, beginning: nil, at: World.now) == .consumed)
            if changesPassword {
                let outcome = try await world.store.changePassword(
                    of: world.user.id, from: .example, to: .other, keeping: world.session.digest, at: World.now + 1)
                #expect(outcome == .changed)
            } else {
                _ = try await world.store.signOutEverywhere(
                    world.user.id, except: world.session.digest, at: World.now + 1)
            }
            #expect(try await world.store.grantFacts(grant.id)?.hold == false)
            #expect(try await world.store.grantFacts(kept.id)?.hold == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user can revoke only an own grant, and only once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try await world.adding("bob").user.id
            let (grant, kept) = (world.grant(), world.grant())
            try await world.approve(grant)
            try await world.approve(kept)
            func revoke(_ id: GrantIdentifier, of user: UserIdentifier) async throws -> RevokeGrantOutcome {
                try await world.store.revokeGrant(id, of: user, because: .user, at: World.now, recording: [])
            }
            #expect(try await revoke(grant.id, of: bob) == .notFound)
            #expect(try await world.store.grantFacts(grant.id)?.hold == true)
            #expect(try await revoke(GrantIdentifier(), of: world.user.id) == .notFound)
            #expect(try await revoke(grant.id, of: world.user.id) == .revoked)
            #expect(try await revoke(grant.id, of: world.user.id) == .alreadyRevoked)
            #expect(try await world.store.grantFacts(kept.id)?.hold == true)
            #expect(try await world.consent != nil)
            #expect(try await revoke(kept.id, of: world.user.id) == .revoked)
            #expect(try await world.consent == nil)
        }
    }
}
