import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: what several servers count and decide together")
struct SharedStateContractTests {
    private static func key(_ text: String, failures: Int = 3, delayFrom: Int? = nil) -> CountedKey {
        CountedKey(
            ArtefactDigest(ofFamily: Array(text.utf8)),
            limit: AttemptLimit(failures: failures, window: 60, delayFromFailure: delayFrom))
    }

    private static func tooEarly(_ seconds: Int, by name: String = "alice") -> AttemptVerdict {
        .tooEarly(retryAfter: seconds, by: key(name).digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `attempts are admitted up to the limit of each key, and again after the window`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { store async throws in
            let attempt = CountedAttempt([Self.key("alice"), Self.key("192.0.2.1", failures: 5)])
            for second in 0..<3 {
                #expect(try await store.admitAttempt(attempt, at: World.now + Double(second)) == .admitted)
            }
            #expect(try await store.admitAttempt(attempt, at: World.now + 10) == Self.tooEarly(50))
            // A refused attempt counts for no key, so the source has two left.
            let other = CountedAttempt([Self.key("bob"), Self.key("192.0.2.1", failures: 5)])
            for _ in 0..<2 { #expect(try await store.admitAttempt(other, at: World.now + 11) == .admitted) }
            #expect(try await store.admitAttempt(other, at: World.now + 12) == Self.tooEarly(48, by: "192.0.2.1"))
            #expect(try await store.admitAttempt(attempt, at: World.now + 60) == .admitted)
            #expect(try await store.admitAttempt(attempt, at: World.now + 60) == Self.tooEarly(1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each failure beyond a number doubles the wait`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let attempt = CountedAttempt([Self.key("alice", failures: 10, delayFrom: 2)])
            #expect(try await store.admitAttempt(attempt, at: World.now) == .admitted)
            #expect(try await store.admitAttempt(attempt, at: World.now) == .admitted)
            var now = World.now
            for wait in [1, 2, 4] {
                #expect(try await store.admitAttempt(attempt, at: now) == Self.tooEarly(wait))
                now += Double(wait)
                #expect(try await store.admitAttempt(attempt, at: now) == .admitted)
            }
        }
    }

    // The limit of the concealed key is not reported, but it holds, and the other keys count on.
    @Test(arguments: StoreKind.allCases)
    func `a concealed key refuses without a word, and the other keys still count`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let account = Self.key("account", failures: 2)
            let decoy = Self.key("no account").digest
            let byName = CountedAttempt([Self.key("alice")], concealed: [account], decoy: decoy)
            let byEmail = CountedAttempt([Self.key("alice@example.com")], concealed: [account], decoy: decoy)
            #expect(try await store.admitAttempt(byName, at: World.now) == .admitted)
            #expect(try await store.admitAttempt(byEmail, at: World.now) == .admitted)
            #expect(try await store.admitAttempt(byName, at: World.now) == .concealed)
            #expect(try await store.admitAttempt(byName, at: World.now) == .concealed)
            #expect(try await store.admitAttempt(byName, at: World.now) == Self.tooEarly(60))
        }
    }

    // Each attempt counts under both concealed keys, whose limits hold one by one.
    @Test(arguments: StoreKind.allCases)
    func `the first of two concealed keys that is reached refuses`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (all, decoy) = (Self.key("all networks", failures: 3), Self.key("no account").digest)
            let attempts = ["home", "work"].map { network in
                CountedAttempt(
                    [Self.key("alice", failures: 100)], concealed: [Self.key(network, failures: 2), all], decoy: decoy)
            }
            for _ in 0..<2 { #expect(try await store.admitAttempt(attempts[0], at: World.now) == .admitted) }
            #expect(try await store.admitAttempt(attempts[0], at: World.now) == .concealed)
            #expect(try await store.admitAttempt(attempts[1], at: World.now) == .admitted)
            #expect(try await store.admitAttempt(attempts[1], at: World.now) == .concealed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a withdrawn attempt does not count, and a success clears the failures`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (name, source) = (Self.key("alice"), Self.key("192.0.2.1"))
            let attempt = CountedAttempt([name, source])
            for _ in 0..<3 { #expect(try await store.admitAttempt(attempt, at: World.now) == .admitted) }
            try await store.settleAttempt(
                forgetting: [], withdrawing: [name.digest, source.digest], admittedAt: World.now)
            // One attempt was withdrawn, although three were admitted at the same time.
            #expect(try await store.admitAttempt(attempt, at: World.now + 1) == .admitted)
            #expect(try await store.admitAttempt(attempt, at: World.now + 1) == Self.tooEarly(59))
            try await store.settleAttempt(
                forgetting: [name.digest], withdrawing: [source.digest], admittedAt: World.now + 1)
            #expect(try await store.admitAttempt(attempt, at: World.now + 2) == .admitted)
            let alone = CountedAttempt([name])
            for _ in 0..<2 { #expect(try await store.admitAttempt(alone, at: World.now + 3) == .admitted) }
            #expect(try await store.admitAttempt(attempt, at: World.now + 3) == Self.tooEarly(59))
        }
    }

    // Of many attempts at the same time, no more are admitted than the limit allows.
    @Test(arguments: StoreKind.allCases)
    func `attempts at the same time do not exceed the limit`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other async throws in
            let attempt = CountedAttempt([Self.key("alice", failures: 5)])
            let verdicts = try await outcomes(of: 40) { number in
                try await (number.isMultiple(of: 2) ? store : other).admitAttempt(attempt, at: World.now)
            }
            #expect(verdicts[.admitted] == 5)
            #expect(verdicts[Self.tooEarly(60)] == 35)
        }
    }

    // Many users sign in at the same time, each with another name.
    @Test(arguments: StoreKind.allCases)
    func `attempts with different keys do not hinder each other`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other async throws in
            let verdicts = try await outcomes(of: 60) { number in
                let attempt = CountedAttempt(
                    [Self.key("user\(number)"), Self.key("192.0.2.1", failures: 100)],
                    concealed: [Self.key("account\(number)")], decoy: Self.key("none\(number)").digest)
                return try await (number.isMultiple(of: 2) ? store : other).admitAttempt(attempt, at: World.now)
            }
            #expect(verdicts == [.admitted: 60])
        }
    }

    // Failures from before the clock was set back lock no user for longer than the window.
    @Test(arguments: StoreKind.allCases)
    func `failures from the future do not count`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let attempt = CountedAttempt([Self.key("alice", failures: 1)])
            #expect(try await store.admitAttempt(attempt, at: World.now + 86_400) == .admitted)
            #expect(try await store.admitAttempt(attempt, at: World.now) == .admitted)
            #expect(try await store.admitAttempt(attempt, at: World.now + 1) == Self.tooEarly(59))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `failures are deleted after their window`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let attempt = CountedAttempt([Self.key("alice"), Self.key("192.0.2.1")])
            #expect(try await store.admitAttempt(attempt, at: World.now) == .admitted)
            let limits = { (now: Date) in
                ExpirationLimits(
                    now: now, codesBefore: now, sessionsIdleBefore: .distantPast, refreshIdleBefore: .distantPast,
                    grantsBefore: .distantPast)
            }
            #expect(try await store.deleteExpired(limits(World.now + 60), atMost: 10) == 0)
            #expect(try await store.deleteExpired(limits(World.now + 61), atMost: 10) == 2)
            for _ in 0..<3 { #expect(try await store.admitAttempt(attempt, at: World.now + 61) == .admitted) }
        }
    }

    // RFC 9449 §11.1: a proof counts once, wherever it is sent.
    @Test(arguments: StoreKind.allCases)
    func `a proof counts once`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let thumbprint = try #require(KeyThumbprint.example)
            func proof(_ text: String, lasting seconds: TimeInterval = 300) -> UsedProof {
                UsedProof(
                    digest: ArtefactDigest(ofFamily: Array(text.utf8)), holder: .key(thumbprint),
                    expires: World.now + seconds)
            }
            #expect(try await store.noteProof(proof("first"), at: World.now) == .new)
            #expect(try await store.noteProof(proof("first"), at: World.now + 1) == .used)
            #expect(try await store.noteProof(proof("second"), at: World.now + 1) == .new)
            // A proof with the same `jti` that was issued earlier or later.
            for seconds in [1.0, 60, 240, 299, 301, 360, 540, 600] {
                #expect(try await store.noteProof(proof("first", lasting: seconds), at: World.now) == .used)
            }
            let same = proof("third")
            let recorded = try await outcomes(of: 20) { _ in try await store.noteProof(same, at: World.now + 2) }
            #expect(recorded == [.new: 1, .used: 19])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the link for the first administrator is common to all, until there is one`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (first, second) = (SetupNonce(), SetupNonce())
            #expect(try await store.setupNonce() == nil)
            #expect(
                try await store.renewSetupNonce(first, unlessStoredAfter: World.now - 60, at: World.now) == first)
            #expect(
                try await store.renewSetupNonce(second, unlessStoredAfter: World.now - 1, at: World.now + 59) == first)
            #expect(try await store.setupNonce() == first)
            #expect(
                try await store.renewSetupNonce(second, unlessStoredAfter: World.now + 1, at: World.now + 61) == second)
            #expect(try await store.setupNonce() == second)
            #expect(try await store.addFirstOwner(try .named("root")) == .added)
            #expect(try await store.setupNonce() == nil)
            #expect(
                try await store.renewSetupNonce(first, unlessStoredAfter: .distantPast, at: World.now + 62) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `one server at a time has the lease of the maintenance`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other async throws in
            let (first, second) = (LeaseHolder(), LeaseHolder())
            #expect(try await store.takeMaintenanceLease(first, until: World.now + 100, at: World.now))
            #expect(try await !other.takeMaintenanceLease(second, until: World.now + 101, at: World.now + 1))
            #expect(try await store.takeMaintenanceLease(first, until: World.now + 150, at: World.now + 50))
            #expect(
                try await other.maintenanceLease(at: World.now + 149)
                    == MaintenanceLease(holder: first, end: World.now + 150))
            #expect(try await other.maintenanceLease(at: World.now + 150) == nil)
            #expect(try await !other.takeMaintenanceLease(second, until: World.now + 249, at: World.now + 149))
            #expect(try await other.takeMaintenanceLease(second, until: World.now + 250, at: World.now + 150))
            // A server without the lease cannot return it.
            try await store.returnMaintenanceLease(first)
            #expect(try await !store.takeMaintenanceLease(first, until: World.now + 251, at: World.now + 151))
            try await other.returnMaintenanceLease(second)
            #expect(try await store.takeMaintenanceLease(first, until: World.now + 251, at: World.now + 151))
            // The clock was set back by an hour.
            let earlier = World.now - 3600
            #expect(try await other.takeMaintenanceLease(second, until: earlier + 100, at: earlier))
        }
    }
}
