import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: networks of earlier sign-ins")
struct EarlierNetworkContractTests {
    private static func digest(_ number: Int) -> ArtefactDigest {
        ArtefactDigest(ofFamily: Array("network \(number)".utf8))
    }

    private static func noted(_ number: Int, in store: any SQLStore, after seconds: TimeInterval = 0) async throws
        -> Date?
    {
        try await store.earlierNetworkNoted(digest(number), at: World.now + seconds)
    }

    private static func expired(at time: Date) -> ExpirationLimits {
        ExpirationLimits(
            now: time, codesBefore: .distantPast, sessionsIdleBefore: .distantPast, refreshIdleBefore: .distantPast,
            grantsBefore: .distantPast)
    }

    @Test(arguments: StoreKind.allCases)
    func `a network is known for 180 days after it was noted last`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let user = try User.named("ada")
            #expect(try await store.addUser(user) == .added)
            #expect(try await Self.noted(1, in: store) == nil)
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(1), of: user.id), at: World.now)
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(2), of: user.id), at: World.now)
            #expect(try await Self.noted(1, in: store) == World.now)
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(1), of: user.id), at: World.now + 60)
            let end = EarlierNetwork.lifetime
            #expect(try await Self.noted(1, in: store, after: end) == World.now + 60)
            #expect(try await Self.noted(2, in: store, after: end - 1) == World.now)
            #expect(try await Self.noted(2, in: store, after: end) == nil)
            #expect(try await store.deleteExpired(Self.expired(at: World.now + end), atMost: 10) == 0)
            #expect(try await store.deleteExpired(Self.expired(at: World.now + end + 1), atMost: 10) == 1)
            #expect(try await Self.noted(1, in: store) == World.now + 60)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the latest networks of each user are kept`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (user, other) = (try User.named("ada"), try User.named("bob"))
            for user in [user, other] { #expect(try await store.addUser(user) == .added) }
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(100), of: other.id), at: World.now - 60)
            for number in 0..<EarlierNetwork.limit {
                try await store.noteEarlierNetwork(
                    EarlierNetwork(Self.digest(number), of: user.id), at: World.now + Double(number))
            }
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(0), of: user.id), at: World.now + 60)
            try await store.noteEarlierNetwork(EarlierNetwork(Self.digest(50), of: user.id), at: World.now + 61)
            #expect(try await Self.noted(1, in: store, after: 61) == nil)
            for number in [0, 2, 3, EarlierNetwork.limit - 1, 50, 100] {
                #expect(try await Self.noted(number, in: store, after: 61) != nil, "\(number)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the networks of a deleted user are deleted, and none is noted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let network = EarlierNetwork(Self.digest(1), of: world.user.id)
            try await world.store.noteEarlierNetwork(network, at: World.now)
            _ = try await world.beginRemoval()
            #expect(try await world.store.earlierNetworkNoted(network.digest, at: World.now) == nil)
            try await world.store.noteEarlierNetwork(network, at: World.now)
            #expect(try await world.store.earlierNetworkNoted(network.digest, at: World.now) == nil)
        }
    }
}
