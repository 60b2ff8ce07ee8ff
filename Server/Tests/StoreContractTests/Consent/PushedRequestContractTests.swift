import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: pushed authorization requests")
struct PushedRequestContractTests {
    private static let limits = PushedRequestLimits(ofClient: 4, fromSource: 2)

    private static func request(
        of client: RegisteredClient, source: String? = "2001:db8::7", at time: Date = World.now
    ) -> PushedRequest {
        PushedRequest(
            digest: ArtefactDigest(of: PushedRequestURI()), clientID: client.id,
            parameters: "client_id=app-lightbox&state=%C3%A9%00&scope=openid",
            source: source, pushedAt: time,
            expiresAt: time + 60)
    }

    /// Adds a request to a store.
    private static func added(
        _ world: World, source: String? = "2001:db8::7", at time: Date = World.now
    ) async throws -> PushedRequest {
        let request = request(of: world.client, source: source, at: time)
        #expect(try await world.store.addPushedRequest(request, within: limits) == .added)
        return request
    }

    /// Opens a request a second after it was pushed, or at another time.
    private static func open(
        _ request: PushedRequest, _ world: World, of client: ClientIdentifier? = nil, after seconds: TimeInterval = 1
    ) async throws -> PushedRequest? {
        try await world.store.openPushedRequest(
            request.digest, of: client ?? world.client.id, at: World.now + seconds, until: World.now + seconds + 1800)
    }

    @Test(arguments: StoreKind.allCases)
    func `the first opening extends the lifetime, and no other opening does`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            var opened = request
            opened.openedAt = World.now + 1
            opened.expiresAt = World.now + 1801
            #expect(try await Self.open(request, world) == opened)
            for seconds in [1.0, 2, 61, 1800] {
                #expect(try await Self.open(request, world, after: seconds) == opened)
            }
            #expect(try await Self.open(request, world, after: 1801) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a request cannot be opened after its lifetime, by another client, or after its removal`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            #expect(try await Self.open(request, world, after: 60) == nil)
            let other = try RegisteredClient.named("app-other")
            #expect(try await world.store.addClient(other) == .added)
            #expect(try await Self.open(request, world, of: other.id) == nil)
            #expect(try await Self.open(Self.request(of: world.client), world) == nil)
            #expect(try await Self.open(request, world, after: 59)?.openedAt == World.now + 59)
            #expect(try await world.store.removePushedRequest(request.digest))
            #expect(try await world.store.removePushedRequest(request.digest) == false)
            #expect(try await Self.open(request, world) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `concurrent openings all succeed, and one of them is the first`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            let counts = try await outcomes(of: 20) { number in
                try await Self.open(request, world, after: TimeInterval(number))
            }
            #expect(counts.count == 1)
            #expect(counts.keys.allSatisfy { $0 != nil })
        }
    }

    // RFC 9126 §2.3
    @Test(arguments: StoreKind.allCases)
    func `a client has a limited number of requests that have not expired`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (client, store) = (world.client, world.store)
            func add(from source: String?, at time: Date = World.now) async throws -> AddPushedRequestOutcome {
                try await store.addPushedRequest(
                    Self.request(of: client, source: source, at: time), within: Self.limits)
            }
            _ = try await Self.added(world, at: World.now - 10)
            _ = try await Self.added(world)
            #expect(try await add(from: "2001:db8::7") == .tooMany(until: World.now + 50))
            #expect(try await add(from: nil) == .added)
            #expect(try await add(from: "192.0.2.1") == .added)
            #expect(try await add(from: "192.0.2.2") == .tooMany(until: World.now + 50))
            // Another client has its own limit.
            let other = try RegisteredClient.named("app-other")
            #expect(try await store.addClient(other) == .added)
            #expect(try await store.addPushedRequest(Self.request(of: other), within: Self.limits) == .added)
            // An expired request does not count.
            #expect(try await add(from: "192.0.2.2", at: World.now + 50) == .added)
            let noSource = PushedRequestLimits(ofClient: 100, fromSource: nil)
            #expect(try await store.addPushedRequest(Self.request(of: client), within: noSource) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an IPv6 network of 56 or 48 bits has twice or four times the limit of one of 64 bits`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            func added(_ sources: [String], _ limits: PushedRequestLimits) async throws -> Int {
                var added = 0
                for source in sources {
                    let request = Self.request(of: world.client, source: "\(source)::/64")
                    if try await world.store.addPushedRequest(request, within: limits) == .added { added += 1 }
                }
                return added
            }
            let limits = PushedRequestLimits(ofClient: 1000, fromSource: 3)
            // 56 bits: the second one has no leading zeros.
            #expect(try await added((0..<9).map { "2001:db8:1:12f\($0)" }, limits) == 6)
            #expect(try await added(["2001:db8:2:0", "2001:db8:2:9", "2001:db8:2:a"], limits) == 3)
            #expect(try await added((0x10..<0x19).map { "2001:db8:2:\(String($0, radix: 16))" }, limits) == 3)
            // 48 bits, of which six are counted already.
            #expect(try await added((1..<10).map { "2001:db8:1:\($0)00" }, limits) == 6)
            #expect(try await added(["2001:db8:11:1", "2001:db8:10:1"], limits) == 2)
            // Twenty are stored. From the thirtieth on, the rest is for networks with fewer than two.
            let few = PushedRequestLimits(ofClient: 60, fromSource: 20)
            #expect(try await added((0..<60).map { "2001:db8:9:\($0)" }, few) == 10)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `concurrent requests do not exceed the limit`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let counts = try await outcomes(of: 20) { _ in
                try await world.store.addPushedRequest(Self.request(of: world.client), within: Self.limits)
            }
            #expect(counts[.added] == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pushed request yields one code`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            let counts = try await outcomes(of: 20) { _ in
                let grant = world.grant(at: World.now + 1)
                return try await world.store.recordConsent(
                    world.approval(grant, .example(for: grant), pushedRequest: request.digest))
            }
            #expect(counts == [.recorded: 1, .pushedRequestGone: 19])
            #expect(try await Self.open(request, world) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval that is not recorded keeps the pushed request`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            let grant = world.grant()
            let refused = world.approval(
                grant, try .example(for: grant), basis: .rememberedConsent, pushedRequest: request.digest)
            #expect(try await world.store.recordConsent(refused) == .consentWithdrawn)
            #expect(try await Self.open(request, world) != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval of an expired request, or of that of another client, is not recorded`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            let other = try RegisteredClient.named("app-other")
            #expect(try await world.store.addClient(other) == .added)
            let foreign = Self.request(of: other)
            #expect(try await world.store.addPushedRequest(foreign, within: Self.limits) == .added)
            for (digest, seconds) in [(request.digest, 60.0), (foreign.digest, 1)] {
                let grant = world.grant(at: World.now + seconds)
                let approval = world.approval(grant, try .example(for: grant), pushedRequest: digest)
                #expect(try await world.store.recordConsent(approval) == .pushedRequestGone)
                #expect(try await world.store.grant(grant.id) == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `expired requests are deleted, and those of a deleted client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let request = try await Self.added(world)
            let opened = try await Self.added(world)
            _ = try await Self.open(opened, world)
            let now = World.now + 61
            let limits = ExpirationLimits(
                now: now, codesBefore: now, sessionsIdleBefore: now - 3600, refreshIdleBefore: now, grantsBefore: now)
            #expect(try await world.store.deleteExpired(limits, atMost: 10) == 1)
            #expect(try await world.store.removePushedRequest(request.digest) == false)
            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await world.store.removePushedRequest(opened.digest) == false)
            let gone = Self.request(of: world.client)
            #expect(try await world.store.addPushedRequest(gone, within: Self.limits) == .clientDeleted)
        }
    }
}
