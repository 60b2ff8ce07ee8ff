import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: the numbers of events by the hour")
struct ActivityContractTests {
    /// The beginning of an hour.
    private static let hour = Date(timeIntervalSince1970: 1_800_000_000)

    private static func counts(_ store: any ActivityStore, _ hours: Double...) async throws -> [ActivityCounts] {
        try await store.activity(between: hours.map { hour + $0 * 3600 })
    }

    @Test(arguments: StoreKind.allCases)
    func `the numbers of several servers add up in the hour of each time`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other in
            let numbers: [Double: ActivityCounts] = [
                0: [.signIn: 3, .refresh: 5], 3599.999: [.signIn: 4], 3600: [.signIn: 1],
            ]
            for (seconds, counts) in numbers { try await store.addActivity([Self.hour + seconds: counts]) }
            try await other.addActivity([Self.hour + 60: [.signIn: 2, .failedSignIn: 1]])
            try await other.addActivity([:])
            let (first, second): (ActivityCounts, ActivityCounts) = (
                [.signIn: 9, .refresh: 5, .failedSignIn: 1], [.signIn: 1]
            )
            #expect(try await Self.counts(store, -1, 0, 1, 2, 3) == [[:], first, second, [:]])
            // An hour belongs to the period in which it begins.
            #expect(try await Self.counts(other, -0.5, 0.5, 1.5) == [first, second])
            #expect(try await Self.counts(store, 0) == [])
            let large = Int(Int32.max) * 1000
            try await store.addActivity([Self.hour: [.refresh: large]])
            #expect(try await Self.counts(other, 0, 1).first?[.refresh] == large + 5)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new user counts in the commit that adds the user, and also after the deletion`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let hour = ActivityHour.beginning(of: world.user.createdAt)
            let times = [hour, hour + 3600]
            #expect(try await world.store.activity(between: times) == [[.newUser: 1]])
            // A user name that is taken adds no one.
            #expect(try await world.store.addUser(.named("ada")) == .usernameTaken)
            let bob = try await world.adding("bob")
            #expect(try await world.store.activity(between: times) == [[.newUser: 2]])
            _ = try await bob.beginRemoval()
            #expect(try await world.store.activity(between: times) == [[.newUser: 2]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `numbers are kept for a year, and then deleted`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.addActivity([Self.hour: [.signIn: 1, .refresh: 1], Self.hour + 7200: [.signIn: 1]])
            func expire(at time: Date) async throws -> Int {
                try await store.deleteExpired(
                    ExpirationLimits(
                        now: time, codesBefore: time, sessionsIdleBefore: time, refreshIdleBefore: time,
                        grantsBefore: time), atMost: 100)
            }
            #expect(try await expire(at: Self.hour + 366 * 86_400) == 0)
            #expect(try await expire(at: Self.hour + ActivityHour.retention + 3600) == 2)
            #expect(try await Self.counts(store, 0, 3) == [[.signIn: 1]])
        }
    }
}
