import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The accounts that a directory reads and changes.
@Suite("The contract: provisioning by a directory")
struct ProvisioningContractTests {
    private static func user(
        _ name: String, externalID: String? = nil, role: UserRole? = nil, disabledAt: Date? = nil
    ) throws -> User {
        User(
            username: try #require(Username(name)), email: nil, displayName: name, passwordHash: .example, role: role,
            createdAt: World.now, disabledAt: disabledAt, externalID: externalID.flatMap { ExternalIdentifier($0) })
    }

    @Test(arguments: StoreKind.allCases)
    func `a listing has the users at a number, and their count`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for user in [
                try Self.user("cat"), try Self.user("ann"), try Self.user("ben", disabledAt: World.now),
            ] { #expect(try await store.addUser(user) == .added) }
            for (offset, limit, state, names, count) in [
                (0, 10, nil, ["ann", "ben", "cat"], 3), (1, 1, nil, ["ben"], 3), (3, 10, nil, [], 3),
                (0, 0, nil, [], 3), (Int.max, 10, nil, [], 3), (0, 10, .enabled, ["ann", "cat"], 2),
                (1, 10, .enabled, ["cat"], 2), (0, 10, .disabled, ["ben"], 1),
            ] as [(Int, Int, UserQuery.State?, [String], Int)] {
                let listing = try await store.users(from: offset, limit: limit, state: state)
                #expect(listing.users.map(\.username.rawValue) == names)
                #expect(listing.count == count && listing.isComplete)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a listing ends after its limit, and says that it is not complete`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            try await store.addMany(UserListing.limit)
            #expect(try await store.users(from: 0, limit: 1, state: nil).isComplete)
            #expect(try await store.addUser(try Self.user("zoe")) == .added)
            #expect(try await store.addUser(try Self.user("zora", disabledAt: World.now)) == .added)
            for state in [nil, .enabled] as [UserQuery.State?] {
                let listing = try await store.users(from: UserListing.limit - 1, limit: 5, state: state)
                #expect(listing.users.map(\.username.rawValue) == ["u10000"])
                #expect(listing.count == UserListing.limit && !listing.isComplete)
            }
            let disabled = try await store.users(from: 0, limit: 5, state: .disabled)
            #expect(disabled.users.map(\.username.rawValue) == ["zora"])
            #expect(disabled.isComplete)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an external identifier is stored, found, changed and removed`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (ann, ben) = (try Self.user("ann", externalID: "E1"), try Self.user("ben", externalID: "E1"))
            for user in [ben, ann, try Self.user("cat", externalID: "e1")] {
                #expect(try await store.addUser(user) == .added)
            }
            let first = try #require(ExternalIdentifier("E1"))
            #expect(try await store.users(withExternalID: first, limit: 10) == [ann, ben])
            #expect(try await store.users(withExternalID: first, limit: 1) == [ann])
            var changed = ann
            changed.externalID = ExternalIdentifier("E2")
            func change(_ user: User, from former: User) async throws -> ProvisionUserOutcome {
                try await store.provisionUser(user, from: former, at: World.now + 1, recording: [])
            }
            #expect(try await change(changed, from: ann) == .updated)
            #expect(try await store.users(withExternalID: first, limit: 10) == [ben])
            #expect(try await change(ann, from: ann) == .changedMeanwhile)
            let stored = try #require(try await store.user(ann.id))
            #expect(stored.externalID == ExternalIdentifier("E2"))
            changed.externalID = nil
            #expect(try await change(changed, from: stored) == .updated)
            #expect(try await store.user(ann.id)?.externalID == nil)
        }
    }

    @Test(arguments: ["", "a\0", "a\nb", String(repeating: "a", count: 256)])
    func `an external identifier that no store can have is refused`(_ text: String) {
        #expect(ExternalIdentifier(text) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `values and standing change in one transaction, or not at all`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, former) = (world.store, world.user)
            var disabled = former
            (disabled.displayName, disabled.disabledAt) = ("Other", World.now)
            func change(_ user: User, from former: User) async throws -> ProvisionUserOutcome {
                try await store.provisionUser(user, from: former, at: World.now + 1, recording: [])
            }
            let outcome = try await store.setRole(
                .owner, of: former.id, from: former.role, at: World.now, recording: [])
            #expect(outcome == .changed)
            let owner = try #require(try await store.user(former.id))
            disabled.role = .owner
            #expect(try await change(disabled, from: former) == .lastOwner)
            #expect(try await change(disabled, from: owner) == .lastOwner)
            #expect(try await store.user(former.id) == owner)
            #expect(try await store.addUser(try Self.user("root", role: .owner)) == .added)
            #expect(try await change(disabled, from: former) == .changedMeanwhile)
            #expect(try await store.user(former.id)?.disabledAt == nil)

            #expect(try await change(disabled, from: owner) == .updated)
            let stored = try #require(try await store.user(former.id))
            #expect(stored.displayName == "Other" && stored.disabledAt == World.now + 1)
            #expect(try await store.sessions(of: former.id).isEmpty)
            var enabled = stored
            enabled.disabledAt = nil
            #expect(try await change(enabled, from: stored) == .updated)
            #expect(try await store.user(former.id)?.disabledAt == nil)

            let current = try #require(try await store.user(former.id))
            let outcomeOfOther = try await store.disableUser(
                former.id, requiredRole: nil, at: World.now + 2, recording: [])
            #expect(outcomeOfOther == .changed)
            var renamed = current
            renamed.displayName = "Third"
            #expect(try await change(renamed, from: current) == .changedMeanwhile)
            #expect(try await store.user(former.id)?.displayName == "Other")
            #expect(try await change(try Self.user("nobody"), from: try Self.user("nobody")) == .notFound)
        }
    }
}
