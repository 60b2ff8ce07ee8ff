@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("The contract: maintenance")
struct MaintenanceContractTests {
    private static let day: TimeInterval = 86_400

    private static func limits(at now: Date) -> ExpirationLimits {
        ExpirationLimits(
            now: now, codesBefore: now - day, sessionsIdleBefore: now - 8 * 3600, refreshIdleBefore: now - 30 * day,
            grantsBefore: now - 2 * day)
    }

    private static func line(
        of grant: Grant, usedAt time: Date, until end: Date = World.now + 180 * day
    ) -> RefreshFamily {
        RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: time,
            lastUsedAt: time,
            expiresAt: end)
    }

    private static func sweep(_ store: any AuthorizationServerStore, at now: Date, atMost rows: Int = 100) async throws
    {
        while try await store.deleteExpired(limits(at: now), atMost: rows) > 0 {}
    }

    // Expired records are deleted; those that can still be used or presented are kept.
    @Test(arguments: StoreKind.allCases)
    func `expired records are deleted, and others are kept`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, now) = (world.store, World.now + 3 * Self.day)
            let (unused, refreshed, shown) = (world.grant(), world.grant(), world.grant())
            let (revoked, idle, ended) = (world.grant(), world.grant(), world.grant())
            var codes: [CodeRecord] = []
            for grant in [unused, refreshed, shown, revoked, idle, ended] {
                codes.append(try await world.approve(grant))
            }
            let live = Self.line(of: refreshed, usedAt: now - 3600)
            let stolen = Self.line(of: revoked, usedAt: now - 3600)
            let forgotten = Self.line(of: idle, usedAt: now - 31 * Self.day)
            let old = Self.line(of: ended, usedAt: now - 3600, until: now - 1)
            let times: [(Int, RefreshFamily?, Date)] = [
                (1, live, World.now), (2, nil, now - Self.day), (3, stolen, World.now), (4, forgotten, World.now),
                (5, old, World.now),
            ]
            for (index, family, time) in times {
                #expect(try await store.consumeCode(codes[index].digest, beginning: family, at: time) == .consumed)
            }
            #expect(try await store.revokeGrant(revoked.id, because: .user, at: World.now + 1) == .revoked)

            try await Self.sweep(store, at: now)
            for code in codes { #expect(try await store.code(code.digest) == nil) }
            #expect(try await store.grant(unused.id) == nil)
            #expect(try await store.refreshFacts(live.digest)?.grant.id == refreshed.id)
            // Its last access token can still be presented.
            #expect(try await store.grant(shown.id) != nil)
            #expect(try await store.grant(revoked.id) == nil)
            #expect(try await store.refreshFacts(stolen.digest) == nil)
            #expect(try await store.refreshFacts(forgotten.digest) == nil)
            #expect(try await store.grant(idle.id) == nil)
            #expect(try await store.refreshFacts(old.digest) == nil)
            // The consent is kept.
            #expect(try await world.consent != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unexpired code is kept with its grant`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let code = try await world.approve(grant)
            try await Self.sweep(world.store, at: World.now + 3600)
            #expect(try await world.store.code(code.digest)?.code == code)
        }
    }

    // The grant of a token family that is used often is updated at most once a minute.
    // A family is idle only if it is not used itself.
    @Test(arguments: StoreKind.allCases)
    func `a token family in use is kept, and so is the last use of its grant`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, grant) = (world.store, world.grant())
            let line = Self.line(of: grant, usedAt: World.now)
            let code = try await world.approve(grant)
            #expect(try await store.consumeCode(code.digest, beginning: line, at: World.now) == .consumed)
            for (seconds, seen) in [(59.0, 0.0), (60, 60), (61, 60), (3599, 3599), (3600, 3599), (4000, 4000)] {
                let now = World.now + seconds
                let facts = try #require(try await store.refreshFacts(line.digest))
                #expect(try await store.recordRefresh(facts, .stay, now: now) == .recorded)
                #expect(try await store.grant(grant.id)?.lastUsedAt == World.now + seen)
                #expect(try await world.consent?.lastUsedAt == World.now + seen)
                #expect(try await store.refreshFacts(line.digest)?.family.lastUsedAt == now)
            }
            try await Self.sweep(store, at: World.now + 3999 + 30 * Self.day)
            #expect(try await store.refreshFacts(line.digest) != nil)
            try await Self.sweep(store, at: World.now + 4001 + 30 * Self.day)
            #expect(try await store.refreshFacts(line.digest) == nil)
        }
    }

    // Idle and expired sessions are deleted; a session in use is kept.
    @Test(arguments: StoreKind.allCases)
    func `expired sessions are deleted in batches, and others are kept`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let (store, now) = (world.store, World.now + 9 * 3600)
            for _ in 0..<25 {
                let idle = Session.example(of: world.user)
                #expect(try await store.beginSession(idle, proving: .example, replacing: nil) == .begun(idle.id))
            }
            let live = Session.example(of: world.user, lastSeenAt: now - 60)
            #expect(try await store.beginSession(live, proving: .example, replacing: nil) == .begun(live.id))
            var batches: [Int] = []
            for _ in 0..<4 { batches.append(try await store.deleteExpired(Self.limits(at: now), atMost: 10)) }
            #expect(batches == [10, 10, 5, 0])
            #expect(try await store.sessions(of: world.user.id).map(\.digest) == [live.digest])
        }
    }

    // OpenID Connect Back-Channel Logout §2.5: a client is notified even if the user signed in to it days
    // ago.
    @Test(arguments: StoreKind.allCases)
    func `a grant is kept for as long as its session can end, and its client is then notified`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let user = try User.named("ada")
            var client = try RegisteredClient.named("app-told")
            client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app.example.com/logout")
            #expect(try await store.addUser(user) == .added)
            #expect(try await store.addClient(client) == .added)
            let later = World.now + 3 * Self.day
            let session = Session(
                digest: ArtefactDigest(of: SessionToken()), userID: user.id, authenticatedAt: World.now,
                lastSeenAt: later, expiresAt: World.now + 7 * Self.day)
            #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            let grant = Grant(
                userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
                createdAt: World.now, lastUsedAt: World.now)
            try await World(store, user: user, client: client, session: session).approve(grant)
            try await Self.sweep(store, at: later)
            #expect(try await store.grantFacts(grant.id) != nil)
            #expect(try await store.endSession(session.digest, at: later))
            let told = try await store.takeLogoutDeliveries(dueAt: later, until: later + 60, limit: 10)
            #expect(told.map(\.clientID) == [client.id])
            try await Self.sweep(store, at: later)
            #expect(try await store.grantFacts(grant.id) == nil)
        }
    }

    // RFC 7523 §3: an assertion is accepted once until it expires.
    @Test(arguments: StoreKind.allCases)
    func `an assertion is recorded once, and deleted after it expired`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let digest = ArtefactDigest(ofAssertion: "jti", of: world.client.id)
            let counts = try await outcomes(of: 20) { _ in
                try await store.noteAssertion(digest, expires: World.now + 60, now: World.now)
            }
            #expect(counts == [true: 1, false: 19])
            try await Self.sweep(store, at: World.now + 30)
            #expect(try await store.noteAssertion(digest, expires: World.now + 60, now: World.now + 30) == false)
            try await Self.sweep(store, at: World.now + 61)
            #expect(try await store.noteAssertion(digest, expires: World.now + 200, now: World.now + 61))
        }
    }

    @Test func `a database with many expired records does not grow`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        var sizes: [Int] = []
        for round in 0..<6 {
            let time = World.now + Double(round) * 10 * Self.day
            for _ in 0..<150 {
                let grant = world.grant(at: time)
                let code = try await world.approve(grant)
                let family = Self.line(of: grant, usedAt: time, until: time + Self.day)
                #expect(try await store.consumeCode(code.digest, beginning: family, at: time) == .consumed)
                let session = Session.example(of: world.user, lastSeenAt: time)
                #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            }
            try await Self.sweep(store, at: time + 9 * Self.day)
            sizes.append(
                try await DatabaseQueue(path: store.path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 })
        }
        let (second, last) = (try #require(sizes.dropFirst().first), try #require(sizes.last))
        #expect(second > 0)
        #expect(last <= second * 11 / 10, "pages: \(sizes)")
        #expect(try await store.sessions(of: world.user.id) == [world.session])
        await store.close()
    }
}
