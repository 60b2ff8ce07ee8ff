import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: APIs, users, keys and logout notifications")
struct RecordContractTests {
    private static func resource(_ uri: String, _ client: String) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource(uri), clientID: try #require(ClientIdentifier(client)), name: "Photos",
            scope: Scope([.openID]), secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
    }

    private static func key(_ id: String, at time: Date, signsFrom: Date? = nil) -> SealedSigningKey {
        SealedSigningKey(
            id: KeyIdentifier(id), algorithm: .es256, sealed: [0, 1], createdAt: time, signsFrom: signsFrom)
    }

    @Test(arguments: StoreKind.allCases)
    func `an API is found by its indicator and by its client identifier`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let photos = try Self.resource("https://photos.example.com", "api_photos")
            #expect(try await store.addResource(photos) == .added)
            #expect(try await store.addResource(photos) == .exists)
            #expect(
                try await store.addResource(try Self.resource("https://photos.example.com", "api_other")) == .exists)
            #expect(
                try await store.addResource(try Self.resource("https://other.example.com", "api_photos")) == .exists)
            var unknown = try Self.resource("https://other.example.com", "api_other")
            let token = try #require(Scope.Token("nothing"))
            unknown.scope = Scope([token])
            #expect(try await store.addResource(unknown) == .unknownScopes(Scope([token])))
            #expect(try await store.resources() == [photos])
            #expect(try await store.resource(photos.resource) == photos)
            #expect(try await store.resource(authenticatingAs: photos.clientID) == photos)
            #expect(try await store.removeResource(photos.resource))
            #expect(try await store.removeResource(photos.resource) == false)
            #expect(try await store.resource(authenticatingAs: photos.clientID) == nil)
        }
    }

    // A user whose account is disabled has no session.
    @Test(arguments: StoreKind.allCases)
    func `an account is changed, and loses its sessions when it is disabled`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let session = Session.example(of: world.user)
            #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            var changed = world.user
            changed.displayName = "Ada Lovelace"
            changed.email = EmailAddress("lovelace@example.com")
            #expect(try await store.updateUser(changed, at: World.now + 5) == .updated)
            let kept = try #require(try await store.user(changed.id))
            #expect(kept.displayName == "Ada Lovelace")
            #expect(kept.email == changed.email)
            #expect(kept.passwordHash == world.user.passwordHash)
            #expect(kept.changedAt == World.now + 5)
            #expect(try await store.session(session.digest) != nil)

            #expect(try await store.disableUser(changed.id, at: World.now + 6, recording: []) == .changed)
            #expect(try await store.session(session.digest) == nil)
            #expect(try await store.updateUser(try .named("nobody"), at: World.now) == .notFound)
            let other = try User.named("grace", email: "grace@example.com")
            #expect(try await store.addUser(other) == .added)
            changed.email = other.email
            #expect(try await store.updateUser(changed, at: World.now + 7) == .emailTaken)
            // A record that was read before the account was disabled does not enable it.
            changed.email = nil
            #expect(try await store.updateUser(changed, at: World.now + 8) == .updated)
            #expect(try await store.user(changed.id)?.disabledAt == World.now + 6)
            #expect(try await store.enableUser(changed.id, at: World.now + 9, recording: []) == .changed)
            let enabled = try #require(try await store.user(changed.id))
            #expect(enabled.disabledAt == nil && enabled.changedAt == World.now + 9)
            #expect(try await store.enableUser(UserIdentifier(), at: World.now, recording: []) == .notFound)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `users are listed by name, in pages`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for name in ["carol", "alice", "dan", "bob"] { #expect(try await store.addUser(.named(name)) == .added) }
            let first = try await store.users(after: nil, limit: 3).map(\.username.rawValue)
            #expect(first == ["alice", "bob", "carol"])
            let rest = try await store.users(after: Username("carol"), limit: 3).map(\.username.rawValue)
            #expect(rest == ["dan"])
        }
    }

    // A key has one successor, and is deleted when its last signature has expired.
    @Test(arguments: StoreKind.allCases)
    func `of many successors of a key one is stored, and the key is deleted in time`(_ kind: StoreKind) async throws {
        let first = Self.key("first", at: World.now)
        let start = World.now + 900
        try await kind.withStore { store async throws in
            #expect(try await store.addFirstSigningKey(first) == .added)
            #expect(try await store.removeSigningKey(first.id) == false)
            let counts = try await outcomes(of: 20) { number in
                try await store.addSigningKey(
                    Self.key("key\(number)", at: World.now + 1, signsFrom: start), replacing: first.id)
            }
            #expect(counts == [.added: 1, .algorithmHasKey: 19])
            let keys = try await store.signingKeys()
            #expect(keys.map(\.replacedAt) == [start, nil])
            #expect(keys.last?.signsFrom == start)
            #expect(try await store.removeSigningKeys(replacedBefore: start) == 0)
            #expect(try await store.removeSigningKeys(replacedBefore: start + 1) == 1)
            let left = try await store.signingKeys()
            #expect(left.map(\.replacedAt) == [nil])
            let next = Self.key("next", at: World.now + 2)
            #expect(try await store.addSigningKey(next, replacing: try #require(left.first).id) == .added)
            #expect(try await store.removeSigningKey(try #require(left.first).id))
            #expect(try await store.signingKeys().map(\.id) == [next.id])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new key ends the signing period of every other key of its algorithm`(_ kind: StoreKind) async throws {
        let first = Self.key("first", at: World.now)
        let planned = Self.key("planned", at: World.now + 1, signsFrom: World.now + 900)
        let immediate = Self.key("immediate", at: World.now + 60)
        try await kind.withStore { store async throws in
            #expect(try await store.addFirstSigningKey(first) == .added)
            #expect(try await store.addSigningKey(planned, replacing: first.id) == .added)
            #expect(try await store.addSigningKey(immediate, replacing: planned.id) == .added)
            let keys = try await store.signingKeys()
            let start = try #require(keys.last).signsFrom
            #expect(keys.map(\.id) == [first.id, planned.id, immediate.id])
            #expect(keys.map(\.replacedAt) == [start, start, nil])
        }
    }

    // OpenID Connect Back-Channel Logout §2.5: each registered client is notified once, by one process.
    @Test(arguments: StoreKind.allCases)
    func `the end of a session is queued for notification, and claimed by one process`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let user = try User.named("ada")
            var client = try RegisteredClient.named("app-told")
            client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app.example.com/logout")
            #expect(try await store.addUser(user) == .added)
            #expect(try await store.addClient(client) == .added)
            let session = Session.example(of: user)
            let world = World(store, user: user, client: client, session: session)
            #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            let grant = Grant(
                userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
                createdAt: World.now, lastUsedAt: World.now)
            let code = try await world.approve(grant)
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
            #expect(try await store.takeLogoutDeliveries(dueAt: World.now, until: World.now + 60, limit: 10).isEmpty)

            #expect(try await store.endSession(session.digest, at: World.now + 1))
            let taken = try await outcomes(of: 10) { _ in
                try await store.takeLogoutDeliveries(dueAt: World.now + 1, until: World.now + 61, limit: 10)
            }
            let delivery = try #require(taken.keys.first { !$0.isEmpty }?.first)
            #expect(taken[[]] == 9)
            #expect(delivery.clientID == client.id)
            #expect(delivery.subject == .user(user.id))
            #expect(delivery.sessionID == session.id)
            #expect(delivery.attempts == 0)

            try await store.settleLogoutDelivery(delivery, .refused(retryAt: World.now + 120))
            #expect(
                try await store.takeLogoutDeliveries(dueAt: World.now + 100, until: World.now + 200, limit: 10).isEmpty)
            let again = try await store.takeLogoutDeliveries(dueAt: World.now + 120, until: World.now + 200, limit: 10)
            #expect(again.map(\.attempts) == [1])
            try await store.settleLogoutDelivery(delivery, .done)
            #expect(
                try await store.takeLogoutDeliveries(dueAt: World.now + 999, until: World.now + 1000, limit: 10).isEmpty
            )
        }
    }
}
