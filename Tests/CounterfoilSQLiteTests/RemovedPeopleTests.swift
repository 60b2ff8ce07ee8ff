import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: deleted users")
struct RemovedPeopleTests {
    /// The steps of the schema before deleted users.
    private static let former: [Migration] = [
        .schema, .userClaimsInIDTokens, .normalizedResources, .tokenTypes, .browserOrigins, .keyThumbprints,
        .pushedRequests, .policyRequirements, .deviceAuthorizations, .unregisteredClients,
    ]

    /// Fills a file of the former version with a user, a client, a grant, a code, a token family and two deliveries.
    private static func fill(_ database: Database, for person: Person, _ digest: ArtefactDigest) throws {
        try database.execute(
            sql: """
                INSERT INTO people VALUES (7, ?, 'ada', NULL, 'Ada', 'hash', 0, '{}', 0, 0, NULL);
                """, arguments: [person.id.rawValue])
        try database.execute(
            sql: """
                INSERT INTO clients (
                    id, type, name, backchannel_logout_uri, redirect_uris, post_logout_redirect_uris, origins,
                    apple_apps, android_apps, scope, optional_scope, machine_scope, is_first_party, is_vouched_for,
                    is_claimed_https_verified, pkce_policy, requires_state, refresh_tokens, subject_type,
                    id_token_algorithm, web_views, created_at, changed_at, revision
                ) VALUES (
                    'app-one', 'native', 'One', 'https://app.example.com/logout', 'http://127.0.0.1/callback', '', '',
                    '', '', 'openid', '', '', 1, 1, 0, 's256', 0, 'offline-access', 'public', 'ES256', 'block', 0, 0, 1
                );
                INSERT INTO grants (
                    number, id, person_number, client_id, scope, claim_scope, resources, id_token_claims,
                    user_info_claims, session_id, authenticated_at, created_at, last_used_at, has_refresh_tokens
                ) VALUES (
                    41, 'gr_one', 7, 'app-one', 'openid', '', '', '', '', 'ses_AAAAAAAAAAAAAAAAAAAAAA', 1, 2, 3, 1
                );
                """)
        try database.execute(
            sql: """
                INSERT INTO refresh_tokens (
                    digest, grant_number, generation, rotated_at, repeats, last_used_at, resting_since, expires_at
                ) VALUES (?, 41, 3, 0, 0, 0, 0, 9000000)
                """, arguments: [Data(digest.bytes)])
        for _ in 1...2 {
            try database.execute(
                sql: """
                    INSERT INTO logout_deliveries (client_id, person_id, session_id, attempts, due_at)
                    VALUES ('app-one', ?, 'ses_AAAAAAAAAAAAAAAAAAAAAA', 1, 1000000)
                    """, arguments: [person.id.rawValue])
        }
        try database.execute(sql: "DELETE FROM logout_deliveries WHERE number = 2")
        try database.execute(
            sql: """
                INSERT INTO audit (at, kind, outcome, person_id, source)
                VALUES (0, 'sign-in', 'done', ?, '192.0.2.7')
                """,
            arguments: [person.id.rawValue])
    }

    @Test func `grants, tokens and logout deliveries stay when their tables are replaced`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let person = try Person.named("ada")
        let digest = ArtefactDigest(ofFamily: RandomBytes().bytes(16))
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { database in
            try Migration.run(database, through: Self.former)
            try Self.fill(database, for: person, digest)
        }
        try database.close()

        let store = try SQLiteStore(at: path)
        let facts = try #require(try await store.refreshFacts(digest))
        #expect(facts.grant.id.rawValue == "gr_one" && facts.person.id == person.id && facts.family.generation == 3)
        let start = Date(timeIntervalSince1970: 1)
        let delivery = try #require(
            try await store.takeLogoutDeliveries(dueAt: start, until: start + 60, limit: 9).first)
        #expect(delivery.number == 1 && delivery.subject == .person(person.id) && delivery.attempts == 1)
        try await store.settleLogoutDelivery(delivery, .done)

        // A number is not used again, and the triggers and references are those of the new version.
        let world = World(
            store, person: facts.person, client: try #require(try await store.client(delivery.clientID)),
            session: .lasting(of: facts.person))
        #expect(try await world.beginRemoval(at: start) == .begun([]))
        let next = try #require(
            try await store.takeLogoutDeliveries(dueAt: start, until: start + 60, limit: 9).first)
        #expect(next.number == 3)
        try await world.finishRemovals()
        #expect(try await store.refreshFacts(digest) == nil)
        let pseudonym = try World.terms(of: person).pseudonym
        #expect(try await store.audit(AuditQuery(personID: pseudonym)).count == 2)
        await store.close()
        let left = try DatabaseQueue(path: path)
        for table in ["people", "removed_people", "grants", "refresh_tokens", "codes"] {
            let count = try await left.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
            #expect(count == 0, "\(table)")
        }
        let indexes = try await left.read { database in
            try database.indexes(on: "grants").map(\.name).filter { $0.hasPrefix("grants_") }.sorted()
        }
        #expect(indexes == ["client", "last_used", "person_client", "revoked", "session"].map { "grants_\($0)" })
        try left.close()
    }

    // SEC-340: the grants of a deleted user are found by its number until they are deleted.
    @Test func `a new user does not get the number of a deleted user`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        _ = try await world.refreshFamily(of: world.grant())
        #expect(try await world.beginRemoval() == .begun([]))
        let eve = try Person.named("eve")
        #expect(try await store.addPerson(eve) == .added)
        #expect(try await store.grants(of: eve.id, after: nil, limit: 9).isEmpty)
        // The database itself refuses the number.
        await #expect(throws: DatabaseError.self) {
            try await store.engine.pool.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO people
                        SELECT removed_people.number, 'per_other', 'other', NULL, '', '', 0, '{}', 0, 0, NULL
                        FROM removed_people
                        """)
            }
        }
        await store.close()
    }
}
