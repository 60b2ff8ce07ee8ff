import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTokens
import Foundation
import GRDB
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: a file from an earlier version")
struct MigrationTests {
    private static let token = SessionToken()
    private static let code = AuthorizationCode()
    private static let page = InteractionIdentifier()
    private static let microsecond = Int64(1_800_000_000_000_000)

    /// Writes a database of the first schema version, with rows of every kind.
    private static func makeFirstVersion(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { (database: Database) throws in
            try Migration.firstTables.apply(database)
            try database.execute(sql: "PRAGMA application_id = \(SQLiteStore.applicationID); PRAGMA user_version = 1")
            try database.execute(
                sql: """
                    INSERT INTO clients VALUES
                        ('app_first', 'native', 'First', 'Ada', 'http://127.0.0.1/cb com.example:/cb', 'openid email', 1, 1,
                            'RS256', \(microsecond)),
                        ('app_second', 'spa', 'Second', NULL, 'https://example.com/cb', 'openid', 0, 0, 'ES256',
                            \(microsecond + 1));
                    INSERT INTO people VALUES
                        ('per_ada', 'ada', 'ada@example.com', 'Ada', 'hash', 1, \(microsecond), NULL),
                        ('per_bob', 'bob', NULL, 'Bob', 'hash', 0, \(microsecond), NULL);
                    INSERT INTO grants VALUES
                        ('gr_1', 'per_ada', 'app_first', 'openid', \(microsecond + 10), \(microsecond + 20), NULL),
                        ('gr_2', 'per_ada', 'app_first', 'email openid', \(microsecond + 30), \(microsecond + 30), NULL),
                        ('gr_3', 'per_ada', 'app_second', 'openid', \(microsecond + 30), \(microsecond + 30), 99),
                        ('gr_4', 'per_bob', 'app_first', 'email', \(microsecond + 5), \(microsecond + 5), NULL);
                    """
            )
            try database.execute(
                sql: "INSERT INTO sessions VALUES (?, 'per_ada', ?, ?, ?)",
                arguments: [
                    Data(ArtefactDigest(of: token).bytes), microsecond, microsecond, microsecond + 1_000_000,
                ]
            )
            for (digest, interaction, grant, usedAt) in [
                (ArtefactDigest(of: AuthorizationCode()), InteractionIdentifier(), "gr_1", microsecond + 20),
                (ArtefactDigest(of: code), page, "gr_2", nil),
            ] {
                try database.execute(
                    sql: """
                        INSERT INTO codes VALUES (?, ?, ?, 'http://127.0.0.1:1/cb', 1, NULL, NULL, NULL, 1, 2, 3, ?, 0)
                        """,
                    arguments: [
                        Data(digest.bytes), Data(ArtefactDigest(of: interaction).bytes), grant, usedAt,
                    ]
                )
            }
        }
        try database.close()
    }

    /// Writes a database of a later schema with the rows of the first version, and applies SQL statements
    /// to it.
    private static func make(schema version: Int, at path: String, _ changes: String) async throws {
        try makeFirstVersion(at: path)
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { (database: Database) throws in
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            for migration in Migration.all[1..<version] { try migration.apply(database) }
            try database.execute(sql: changes + "; PRAGMA user_version = \(version)")
        }
        try database.close()
    }

    private static func time(_ offset: Int64) -> Date {
        Date(timeIntervalSince1970: Double(microsecond + offset) / 1_000_000)
    }

    private static func withMigrated(_ test: (SQLiteStore) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        try makeFirstVersion(at: directory.path("store.sqlite"))
        let store = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
        try await test(store)
        let problems = try await store.pool.read { (database: Database) throws in
            try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
                + Row.fetchAll(database, sql: "PRAGMA integrity_check").count
        }
        #expect(problems == 1, "integrity_check says ok in one row")
        await store.close()
        try await SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false).close()
    }

    @Test func `applications are kept, as the operator's, with the strict policy`() async throws {
        try await Self.withMigrated { store in
            let first = RegisteredClient(
                id: try #require(ClientIdentifier("app_first")), type: .native,
                presentation: ClientPresentation(name: "First", publisher: "Ada"),
                redirectURIs: [try RedirectURI("http://127.0.0.1/cb"), try RedirectURI("com.example:/cb")],
                scope: Scope([.openID, .email]),
                policy: ClientPolicy(isFirstParty: true, isVouchedFor: true, idTokenAlgorithm: .rs256),
                createdAt: Self.time(0)
            )
            let second = RegisteredClient(
                id: try #require(ClientIdentifier("app_second")), type: .singlePage,
                presentation: ClientPresentation(name: "Second"),
                redirectURIs: [try RedirectURI("https://example.com/cb")], scope: Scope([.openID]),
                policy: ClientPolicy(isVouchedFor: true, requiresState: false, webViews: .warn),
                createdAt: Self.time(1)
            )
            #expect(try await store.clients() == [first, second])
            #expect(try await store.updateClient(first, logo: .replace(.example())) == .updated)
            #expect(try await store.removeClient(second.id))
        }
    }

    @Test func `the scopes of the standards are listed, and the owner's own are not`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await Self.make(schema: 9, at: path, "INSERT INTO scopes VALUES ('photos.read', 'See your photos')")
        let store = try SQLiteStore(at: path)
        let own = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See your photos")
        let scopes = try await store.scopes()
        await store.close()
        #expect(scopes == (ScopeDefinition.standard + [own]).sorted { $0.token < $1.token })
    }

    @Test func `sessions, grants and codes are kept`() async throws {
        try await Self.withMigrated { store in
            let ada = try #require(PersonIdentifier("per_ada"))
            // The migration creates the session identifier, which this version did not have.
            let digest = ArtefactDigest(of: Self.token)
            let session = Session(
                digest: digest, id: try #require(try await store.session(digest)?.session.id), personID: ada,
                authenticatedAt: Self.time(0), lastSeenAt: Self.time(0), expiresAt: Self.time(1_000_000)
            )
            #expect(try await store.session(session.digest)?.session == session)
            #expect(try await store.sessions(of: ada) == [session])
            #expect(try await store.grant(try #require(GrantIdentifier("gr_3")))?.revokedAt != nil)
            let code = try #require(try await store.code(ArtefactDigest(of: Self.code)))
            #expect(code.grant.scope == Scope([.openID, .email]))
            #expect(code.code.interaction == ArtefactDigest(of: Self.page))
            #expect(try await store.consumeCode(code.code.digest, beginning: nil, at: Self.time(40)) == .consumed)
            #expect(try await store.branding() == Branding())
        }
    }

    @Test func `the grants that hold become consents that no page takes for remembered`() async throws {
        try await Self.withMigrated { store in
            let (ada, bob) = (
                try #require(PersonIdentifier("per_ada")), try #require(PersonIdentifier("per_bob"))
            )
            let client = try #require(ClientIdentifier("app_first"))
            let unknown = try #require(ClientAppearance(stored: [UInt8](repeating: 0, count: 32)))
            let both = Scope([.openID, .email])
            let expected = Consent(
                personID: ada, clientID: client, scope: both, remembered: both, appearance: unknown,
                since: Self.time(10), allowedAt: Self.time(30), lastUsedAt: Self.time(20)
            )
            #expect(try await store.consents(of: ada).map(\.consent) == [expected])
            let bobs = try #require(try await store.consent(of: bob, to: client))
            #expect(bobs.scope == Scope([.email]))
            #expect(bobs.lastUsedAt == nil)
            #expect(bobs.appearance != ClientAppearance(of: try #require(try await store.client(client))))
            let outcome = try await store.narrowConsent(of: ada, to: client, keeping: Scope(), at: Self.time(50))
            #expect(outcome == .narrowed)
            #expect(
                try await store.consumeCode(ArtefactDigest(of: Self.code), beginning: nil, at: Self.time(50)) == .gone)
        }
    }

    // The session identifier of an earlier version stays valid, and every table refers to it.
    @Test func `a session that was named before ends with what hangs on it`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await Self.make(
            schema: 7, at: path,
            """
            UPDATE clients SET backchannel_logout_uri = 'https://example.com/out' WHERE id = 'app_first';
            UPDATE grants SET session_id = (SELECT id FROM sessions) WHERE id IN ('gr_1', 'gr_2');
            INSERT INTO logout_deliveries (client_id, person_id, session_id, attempts, due_at)
            SELECT 'app_first', 'per_ada', id, 0, 0 FROM sessions
            """)
        let store = try SQLiteStore(at: path, createIfMissing: false)
        let digest = ArtefactDigest(of: Self.token)
        let name = try #require(try await store.session(digest)?.session.id)
        #expect(try await store.grant(try #require(GrantIdentifier("gr_1")))?.sessionID == name)
        #expect(try await store.endSession(digest, at: Self.time(50)))
        for _ in 1...2 {
            let taken = try await store.takeLogoutDeliveries(dueAt: Self.time(50), until: Self.time(60), limit: 10)
            #expect(taken.map(\.sessionID) == [name])
            if let delivery = taken.first { try await store.settleLogoutDelivery(delivery, .done) }
        }
        await store.close()
    }

    @Test func `refresh tokens keep their grants and people, which go by number now`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let digests = [ArtefactDigest(of: AuthorizationCode()), ArtefactDigest(of: AuthorizationCode())]
        let rows = zip(digests, ["gr_4", "gr_1"]).map { digest, grant in
            let bytes = digest.bytes.map { String(format: "%02x", $0) }.joined()
            return "(x'\(bytes)', '\(grant)', 7, 1, 2, \(Self.microsecond), \(Self.microsecond + 60_000_000), 3)"
        }
        try await Self.make(
            schema: 8, at: path,
            """
            UPDATE grants SET has_refresh_tokens = 1 WHERE id IN ('gr_1', 'gr_4');
            UPDATE people SET profile = '{"nickname":"B"}', changed_at = 5, disabled_at = 9 WHERE id = 'per_bob';
            INSERT INTO refresh_tokens (
                digest, grant_id, generation, rotated_at, repeats, last_used_at, expires_at, resting_since
            ) VALUES \(rows.joined(separator: ", "))
            """)
        let store = try SQLiteStore(at: path, createIfMissing: false)
        for (digest, (grant, person)) in zip(digests, [("gr_4", "per_bob"), ("gr_1", "per_ada")]) {
            let facts = try #require(try await store.refreshFacts(digest))
            #expect(facts.family.digest == digest)
            #expect(facts.family.grantID.rawValue == grant)
            #expect(facts.family.generation == 7)
            #expect(facts.family.repeats == 2)
            #expect(facts.family.lastUsedAt == Self.time(0))
            #expect(facts.family.expiresAt == Self.time(60_000_000))
            #expect(facts.grant.id.rawValue == grant)
            #expect(facts.grant.personID.rawValue == person)
            #expect(facts.person.id.rawValue == person)
            #expect((facts.person.disabledAt == nil) == (person == "per_ada"))
        }
        let name = try #require(PersonIdentifier("per_bob"))
        let bob = try #require(try await store.person(name))
        #expect(bob.profile.nickname == "B")
        #expect(bob.changedAt == Date(timeIntervalSince1970: 0.000_005))
        // Deletes both token families and then their grants, so that nothing is left.
        let limits = HousekeepingLimits(
            now: .distantFuture, codesBefore: .distantFuture, sessionsIdleBefore: .distantFuture,
            refreshIdleBefore: .distantFuture, grantsBefore: .distantFuture)
        while try await store.removeWhatIsOver(limits, atMost: 1) > 0 {}
        #expect(try await store.refreshFacts(digests[0]) == nil)
        #expect(try await store.grant(try #require(GrantIdentifier("gr_4"))) == nil)
        await store.close()
    }

    // The service of an administrator keeps its scopes; one that a developer registered waits for approval.
    @Test func `services keep the scopes that an administrator has answered for`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await Self.make(
            schema: 9, at: path,
            """
            UPDATE clients SET type = 'service', scope = 'openid photos.read offline_access profiles openid2';
            UPDATE clients SET owner_id = 'per_bob', is_vouched_for = 0, is_first_party = 0 WHERE id = 'app_second'
            """)
        func approved(_ id: String, _ store: SQLiteStore) async throws -> String? {
            try await store.client(try #require(ClientIdentifier(id)))?.policy.machineScope.description
        }
        var store = try SQLiteStore(at: path, createIfMissing: false)
        #expect(try await approved("app_first", store) == "photos.read profiles openid2")
        #expect(try await approved("app_second", store) == "")
        await store.close()

        let other = directory.path("vouched.sqlite")
        try await Self.make(
            schema: 9, at: other,
            "UPDATE clients SET type = 'service', scope = 'photos.read', owner_id = 'per_bob', is_vouched_for = 1")
        store = try SQLiteStore(at: other, createIfMissing: false)
        #expect(try await approved("app_second", store) == "photos.read")
        await store.close()
    }

    @Test(
        arguments: [
            "DELETE FROM people WHERE id = 'per_bob'", "DELETE FROM grants WHERE id = 'gr_2'",
            "DELETE FROM consents; DELETE FROM clients WHERE id = 'app_first'",
        ])
    func `a file in which something hangs on nothing is refused as it is`(_ damage: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await Self.make(schema: 8, at: path, damage)
        let error = #expect(throws: SQLiteStore.OpeningRefusal.self) {
            try SQLiteStore(at: path, createIfMissing: false)
        }
        guard case .damaged(_, let reason) = error else { throw try #require(error) }
        #expect(!["per_", "gr_", "app_", "http"].contains { reason.contains($0) }, "\(reason)")
        let database = try DatabaseQueue(path: path)
        let (version, people) = try await database.read { database in
            (
                try Int.fetchOne(database, sql: "PRAGMA user_version"),
                try Int.fetchOne(database, sql: "SELECT count(DISTINCT person_id) FROM grants")
            )
        }
        #expect(version == 8)
        #expect(people == 2)
        try database.close()
    }

    // The earlier schema does not record the API for which a scope was allowed.
    @Test func `what was allowed at some API is asked about once more`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await Self.make(
            schema: 3, at: path, "UPDATE grants SET resources = 'https://api.example.com' WHERE id = 'gr_4'")
        let store = try SQLiteStore(at: path, createIfMissing: false)
        let client = try #require(ClientIdentifier("app_first"))
        let (ada, bob) = (try #require(PersonIdentifier("per_ada")), try #require(PersonIdentifier("per_bob")))
        #expect(try await store.consent(of: ada, to: client)?.remembered == Scope([.openID, .email]))
        #expect(try await store.consent(of: bob, to: client)?.scope == Scope([.email]))
        #expect(try await store.consent(of: bob, to: client)?.remembered == Scope())
        #expect(try await store.consent(of: bob, to: client)?.rememberedAt == [:])
        await store.close()
    }
}
