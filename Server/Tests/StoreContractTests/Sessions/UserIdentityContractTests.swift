import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: identities at other issuers")
struct UserIdentityContractTests {
    static let issuer = "https://shop.example.com"

    static func identity(_ subject: String, at issuer: String = issuer, of user: User) throws -> UserIdentity {
        UserIdentity(
            subject: try #require(ExternalSubject(issuer: issuer, subject: subject)), userID: user.id,
            createdAt: World.now)
    }

    @Test(arguments: StoreKind.allCases)
    func `an identity is found by issuer and subject together, in their case`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, bob) = (world.store, try await world.adding("bob").user)
            let own = try Self.identity("A1", of: world.user)
            let others = [
                try Self.identity("a1", of: bob), try Self.identity("A1", at: "https://other.example", of: bob),
            ]
            for identity in [own] + others { #expect(try await store.addIdentity(identity, recording: []) == .added) }
            #expect(try await store.identity(own.subject) == UserIdentityFacts(identity: own, user: world.user))
            #expect(try await store.identity(others[0].subject)?.user.id == bob.id)
            #expect(try await store.identities(of: world.user.id) == [own])
            #expect(Set(try await store.identities(of: bob.id)) == Set(others))
            let unknown = try #require(ExternalSubject(issuer: Self.issuer, subject: "A1 "))
            #expect(try await store.identity(unknown) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an identity belongs to one user, and a user has a limited number`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, bob) = (world.store, try await world.adding("bob").user)
            for number in 1...UserIdentity.limitPerUser {
                #expect(
                    try await store.addIdentity(try Self.identity("\(number)", of: world.user), recording: [])
                        == .added)
            }
            #expect(try await store.addIdentity(try Self.identity("0", of: world.user), recording: []) == .tooMany)
            #expect(try await store.addIdentity(try Self.identity("1", of: bob), recording: []) == .exists)
            #expect(try await store.disableUser(bob.id, at: World.now, recording: []) == .changed)
            #expect(try await store.addIdentity(try Self.identity("0", of: bob), recording: []) == .userNotActive)
        }
    }

    // Two servers, or two tabs, bring the same new user at the same time.
    @Test(arguments: StoreKind.allCases)
    func `of many first sign-ins at once, one creates an account`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let counts = try await outcomes(of: 10) { number in
                let user = try User.named("bob\(number)")
                return try await world.store.addUser(user, with: try Self.identity("1", of: user), recording: [])
            }
            #expect(counts == [.added: 1, .identityExists: 9])
            #expect(try await world.store.users(after: nil, limit: 20).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an account with an identity takes no identifier, username or email address of another`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            func add(_ user: User) async throws -> AddIdentifiedUserOutcome {
                try await store.addUser(user, with: try Self.identity("1", of: user), recording: [])
            }
            #expect(try await add(try .named("ada")) == .usernameTaken)
            #expect(try await add(try .named("bob", email: "ada@example.com")) == .emailTaken)
            let same = User(
                id: world.user.id, username: try #require(Username("bob")), email: nil, displayName: "Bob",
                passwordHash: nil, createdAt: World.now)
            #expect(try await add(same) == .identifierTaken)
            // The grants of the deleted user still have the identifier.
            try await world.approve(world.grant())
            #expect(try await world.beginRemoval() == .begun([]))
            #expect(try await add(same) == .identifierTaken)
            #expect(try await store.users(after: nil, limit: 20).isEmpty)
            while try await store.continueRemovals(atMost: 100) > 0 {}
            #expect(try await add(same) == .added)
            #expect(try await store.user(same.id) == same)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion of a user deletes the identities, which another user can then have`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, bob) = (world.store, try await world.adding("bob").user)
            let identity = try Self.identity("1", of: world.user)
            #expect(try await store.addIdentity(identity, recording: []) == .added)
            #expect(try await world.beginRemoval() == .begun([]))
            #expect(try await store.identity(identity.subject) == nil)
            #expect(try await store.addIdentity(try Self.identity("1", of: bob), recording: []) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an identity is a way in only at an issuer that counts, and only of a user without a role`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            func removePassword(_ issuers: Set<String>) async throws -> ChangePasswordOutcome {
                try await store.changePassword(
                    of: user, from: .example, to: nil, keeping: nil, countingIdentitiesOf: issuers, at: World.now,
                    recording: [])
            }
            let (identity, passkey) = (try Self.identity("1", of: world.user), Passkey.example(1, of: world.user))
            #expect(try await store.addIdentity(identity, recording: []) == .added)
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            #expect(try await removePassword([]) == .neededAsWayIn)
            #expect(try await removePassword(["https://other.example"]) == .neededAsWayIn)
            #expect(
                try await store.setRole(.support, of: user, from: nil, at: World.now, recording: []) == .changed)
            #expect(try await removePassword([Self.issuer]) == .neededAsWayIn)
            #expect(
                try await store.setRole(nil, of: user, from: .support, at: World.now, recording: []) == .changed)
            #expect(try await removePassword([Self.issuer]) == .changed)
            #expect(try await store.removePasskey(passkey.digest, of: user, recording: []) == .neededAsWayIn)
            let removed = try await store.removePasskey(
                passkey.digest, of: user, countingIdentitiesOf: [Self.issuer], recording: [])
            #expect(removed == .removed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only the user removes an identity, and not the last way in`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, bob) = (world.store, try await world.adding("bob").user)
            let user = User(
                username: try #require(Username("eve")), email: nil, displayName: "Eve", passwordHash: nil,
                createdAt: World.now)
            let identity = try Self.identity("1", of: user)
            #expect(try await store.addUser(user, with: identity, recording: []) == .added)
            func remove(_ id: UserIdentityIdentifier, of user: User, _ issuers: Set<String> = [Self.issuer])
                async throws
                -> RemoveIdentityOutcome
            {
                try await store.removeIdentity(id, of: user.id, countingIdentitiesOf: issuers, recording: [])
            }
            #expect(try await remove(identity.id, of: bob) == .notFound)
            #expect(try await remove(identity.id, of: user) == .neededAsWayIn)
            let other = try Self.identity("2", of: user)
            #expect(try await store.addIdentity(other, recording: []) == .added)
            #expect(try await remove(identity.id, of: user) == .removed)
            #expect(try await remove(identity.id, of: user) == .notFound)
            #expect(try await remove(other.id, of: user) == .neededAsWayIn)
            // The server does not accept sign-ins of the issuer, so the identity is no way in.
            #expect(try await remove(other.id, of: user, []) == .removed)
            #expect(try await store.identities(of: user.id).isEmpty)
        }
    }

    @Test func `a pair has an issuer and a subject of a limited length without control characters`() {
        let long = String(repeating: "x", count: 255)
        #expect(ExternalSubject(issuer: Self.issuer, subject: long) != nil)
        for subject in ["", long + "x", "a\0", "a\nb", "a\u{7F}", "a\u{85}"] {
            #expect(ExternalSubject(issuer: Self.issuer, subject: subject) == nil)
        }
        #expect(ExternalSubject(issuer: "", subject: "1") == nil)
        #expect(UserIdentityIdentifier("idn_") == nil && UserIdentityIdentifier("\(UserIdentityIdentifier())") != nil)
    }
}
