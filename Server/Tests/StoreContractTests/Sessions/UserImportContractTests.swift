import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: users of other servers")
struct UserImportContractTests {
    static func user(_ name: String, id: String? = nil, email: String? = nil) throws -> ImportedUser {
        let user = User(
            id: try id.map { try #require(UserIdentifier($0)) } ?? UserIdentifier(),
            username: try #require(Username(name)), email: try email.map { try #require(EmailAddress($0)) },
            displayName: name, passwordHash: PasswordHash(encoded: "$6$salt$hash"), createdAt: World.now)
        return ImportedUser(user, keepsIdentifier: id != nil)
    }

    static func event(of user: User) -> [AuditEvent] {
        [AuditEvent(at: World.now, .account, userID: user.id, detail: "imported")]
    }

    @Test(arguments: StoreKind.allCases)
    func `users are added in one commit, without those whose unique values are taken`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let taken = try #require(world.user.email)
            let users = [
                try Self.user("erin", id: "17"), try Self.user(world.user.username.rawValue, id: "18"),
                try Self.user("fay", id: "19", email: taken.rawValue), try Self.user("gus", id: world.user.id.rawValue),
                try Self.user("hal"), try Self.user("ida", id: "20", email: "ida@example.com"),
            ]
            let expected: [ImportUserOutcome] = [
                .added, .usernameTaken, .emailTaken, .identifierTaken, .added, .added,
            ]
            #expect(try await store.outcomes(ofImporting: users) == expected)
            #expect(try await store.user(users[0].user.id) == nil)
            #expect(try await store.importUsers(users, recording: Self.event) == expected)
            for index in [0, 4, 5] { #expect(try await store.user(users[index].user.id) == users[index].user) }
            let events = try await store.audit(AuditQuery(kind: .account)).map(\.event.userID)
            #expect(Set(events) == Set([0, 4, 5].map { users[$0].user.id }) && events.count == 3)

            // Started again: the user with a new identifier is found by name and address.
            let again = try await store.importUsers(
                [users[0], try Self.user("hal"), users[5], try Self.user("ida")], recording: Self.event)
            #expect(again == [.exists, .exists, .exists, .usernameTaken])
            #expect(try await store.audit(AuditQuery(kind: .account)).count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an imported user has groups, attributes and identities, and none of a client's identifiers`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let plain = try Self.user("erin", id: "erin")
            let attributes = try UserAttributesContractTests.attributes(["staff"], ["floor": .integer(3)])
            let identity = try UserIdentityContractTests.identity("7", of: plain.user)
            let full = ImportedUser(
                plain.user, attributes: attributes, identities: [identity], keepsIdentifier: true)
            #expect(try await store.importUsers([full], recording: Self.event) == [.added])
            #expect(try await store.attributes(of: plain.user.id) == attributes)
            #expect(try await store.identities(of: plain.user.id) == [identity])
            let fay = try Self.user("fay", id: "fay").user
            let second = ImportedUser(
                fay, identities: [try UserIdentityContractTests.identity("7", of: fay)], keepsIdentifier: true)
            #expect(try await store.importUsers([second], recording: Self.event) == [.identityTaken])

            // RFC 9700 §4.15
            #expect(try await store.addClient(try .named("erin")) == .identifierTaken)
            let removed = try await store.beginRemoval(
                of: plain.user.id, by: World.terms(of: plain.user), recording: { _ in [] }, at: World.now)
            #expect(removed == .begun([]))
            #expect(try await store.importUsers([plain], recording: Self.event) == [.identifierTaken])
            while try await store.continueRemovals(atMost: 100) > 0 {}
            #expect(try await store.importUsers([plain], recording: Self.event) == [.added])
        }
    }
}
