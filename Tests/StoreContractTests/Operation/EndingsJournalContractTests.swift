import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: the endings journal")
struct EndingsJournalContractTests {
    /// The stores in an SQL database, each on its own.
    private static let kinds: [StoreKind] = [.sqlite, .postgreSQL]

    /// A change that ends something, and the kinds of the lines that it leaves.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kinds: Set<String>
        let make: @Sendable (World) async throws -> Void

        init(_ name: String, _ kinds: Set<String>, _ make: @escaping @Sendable (World) async throws -> Void) {
            testDescription = name
            self.kinds = kinds
            self.make = make
        }
    }

    static let changes = [
        Change("a revocation", ["grant"]) { world async throws in
            let grant = world.grant()
            try await world.approve(grant)
            _ = try await world.store.revokeGrant(
                grant.id, because: .application, at: World.now, recording: [])
        },
        Change("a sign-out", ["session"]) { world async throws in
            _ = try await world.store.endSession(world.session.digest, at: World.now, recording: [])
        },
        Change("a new password", ["password", "session"]) { world async throws in
            _ = try await world.store.changePassword(
                of: world.person.id, from: .example, to: .other, keeping: nil, at: World.now, recording: [])
        },
        Change("a disabled user", ["user-disabled", "session"]) { world async throws in
            try await world.store.disablePerson(world.person.id, at: World.now, recording: [])
        },
        Change("a deleted user", ["user-deleted", "session"]) { world async throws in
            let terms = try World.terms(of: world.person, ownedClients: .refuse)
            _ = try await world.store.beginRemoval(
                of: world.person.id, by: terms, recording: { _ in [] }, at: World.now)
        },
        Change("a withdrawn consent", ["grant", "consent"]) { world async throws in
            try await world.approve(world.grant())
            _ = try await world.store.narrowConsent(
                of: world.person.id, to: world.client.id, keeping: Scope(), at: World.now, recording: [])
        },
        Change("a deleted client", ["client"]) { world async throws in
            _ = try await world.store.removeClient(world.client.id, recording: [])
        },
        Change("a deleted secret", ["client-secret"]) { world async throws in
            let secret = ClientSecretRecord.example(of: world.client)
            _ = try await world.store.addClientSecret(secret, recording: [])
            _ = try await world.store.removeClientSecret(secret.digest, of: world.client.id, recording: [])
        },
        Change("a deleted API and its former secret", ["api-secret", "api"]) { world async throws in
            let api = RegisteredResource(
                resource: try Resource("https://photos.example.com"),
                clientID: try #require(RegisteredResource.newClientID()), name: "Photos", scope: Scope([.openID]),
                secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
            _ = try await world.store.addResource(api, recording: [])
            _ = try await world.store.replaceSecret(
                of: api.resource, with: ArtefactDigest(of: ClientSecret()), recording: [])
            _ = try await world.store.removeResource(api.resource, recording: [])
        },
        Change("a deleted scope", ["scope"]) { world async throws in
            let scope = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See photos")
            _ = try await world.store.addScope(scope, recording: [])
            _ = try await world.store.removeScope(
                scope.token, takingFromUses: true, at: World.now, recording: { _ in [] })
        },
        Change("a deleted registration token", ["registration-token"]) { world async throws in
            let token = InitialAccessToken(
                digest: ArtefactDigest(of: ClientSecret()), name: "Partners", createdAt: World.now,
                expiresAt: World.now + 60)
            try await world.store.addInitialAccessToken(token, recording: [])
            _ = try await world.store.removeInitialAccessToken(token.digest, recording: [])
        },
        Change("a withdrawn signing key", ["signing-key"]) { world async throws in
            func key(_ id: String) -> SealedSigningKey {
                SealedSigningKey(
                    id: KeyIdentifier(id), algorithm: .es256, sealed: [1], createdAt: World.now, signsFrom: World.now)
            }
            _ = try await world.store.addFirstSigningKey(key("first"), recording: [])
            _ = try await world.store.addSigningKey(key("second"), replacing: KeyIdentifier("first"), recording: [])
            _ = try await world.store.removeSigningKey(KeyIdentifier("first"), recording: [])
        },
    ]

    // SEC-410
    @Test(arguments: kinds, changes)
    func `what a commit ends is in the journal when the commit returns`(
        _ kind: StoreKind, _ change: Change
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            try await change.make(world)
            #expect(try Self.ended(in: path).isSuperset(of: change.kinds))
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains(world.person.id.rawValue))
            for name in [world.person.username.rawValue, "ada@example.com", world.client.presentation.name] {
                #expect(!text.contains("\"\(name)\""))
            }
        }
    }

    // SEC-410: a new method of the store that ends something cannot be missed.
    @Test(arguments: kinds, AuditedCommitContractTests.steps)
    func `the journal lacks nothing after any commit with an event`(
        _ kind: StoreKind, _ step: AuditedCommitContractTests.Step
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let commit = try await step.make(world)
            _ = try await commit([])
            let store = try #require(world.store as? any SQLStore)
            let last = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(try Self.lines(in: path).map(\.number).max() == last)
        }
    }

    @Test(arguments: kinds) func `a refresh and an approval write nothing to the journal`(
        _ kind: StoreKind
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let family = try await world.refreshFamily(of: world.grant())
            let facts = try #require(try await world.store.refreshFacts(family.digest))
            let outcome = try await world.store.recordRefresh(
                facts, .advance(to: 1), attempt: CommitAttempt(), now: World.now, recording: [])
            #expect(outcome == .recorded)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    private static func withJournal(
        _ kind: StoreKind, _ test: (World, _ path: String) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let path = directory.path("endings")
            try await EndingsJournal.open(of: store, at: path, marking: true) { failure in
                Issue.record("\(failure)")
            }
            try await test(world, path)
        }
    }

    private static func lines(in path: String) throws -> [JournalLine] {
        try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n")).map { line in
            try #require(JournalLine(Data(line)))
        }
    }

    private static func ended(in path: String) throws -> Set<String> {
        var kinds: Set<String> = []
        for case .ending(let ending, _) in try lines(in: path) { kinds.insert(ending.kind) }
        return kinds
    }
}
