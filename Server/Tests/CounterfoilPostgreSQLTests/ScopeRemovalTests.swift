import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

/// The removal of a scope that many grants have, while the servers continue.
@Suite("PostgreSQL: the removal of a scope", .timeLimit(.minutes(2)))
struct ScopeRemovalTests {
    private static let grantCount = 2 * ScopeRemoval.grantsAtOnce + 50

    /// Runs a test in a database with a scope that many grants have; one in three has no other scope.
    private static func withGrants(
        _ test: (PostgreSQLStore, PostgreSQLServer, String, Scope.Token) async throws -> Void
    ) async throws {
        try await TestDatabase.withServer { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            let world = try await World(in: store)
            let token = try #require(Scope.Token("photos.read"))
            let scope = ScopeDefinition(token: token, description: "See your photos")
            #expect(try await store.addScope(scope, recording: []) == .added)
            try await world.approve(world.grant(Scope([.openID, token])))
            try server.sql(
                """
                INSERT INTO grants (
                    id, person_number, client_id, scope, claim_scope, resources, id_token_claims, user_info_claims,
                    authenticated_at, methods, context, device_name, user_agent, source, is_separate_device,
                    created_at, last_used_at)
                SELECT 'grant-' || n, people.number, '\(world.client.id.rawValue)',
                    CASE WHEN n % 3 = 0 THEN 'photos.read' ELSE 'openid photos.read' END, '', '', '', '', 1,
                    'password', 'password', NULL, '', '', 0, 1, 1
                FROM people, generate_series(1, \(grantCount)) AS n
                """, database: database)
            try await test(store, server, database, token)
            await store.close()
        }
    }

    private static let left = "SELECT count(*) FROM grants WHERE revoked_at IS NULL AND scope LIKE '%photos.read%'"

    @Test func `a scope is removed from many grants in small transactions`() async throws {
        try await Self.withGrants { store, server, database, token in
            let removed = try await store.removeScope(
                token, takingFromUses: true, at: World.now, recording: { _ in [] })
            #expect(removed == .removed(from: ScopeUses()))
            #expect(try server.sql(Self.left, database: database) == ["0"])
            let revoked = "SELECT count(*) FROM grants WHERE revoked_at IS NOT NULL"
            #expect(try server.sql(revoked, database: database) == ["\(Self.grantCount / 3)"])
            // The rows that one transaction has changed have its number.
            let counts = try server.sql("SELECT count(*) FROM grants GROUP BY xmin::text", database: database)
            #expect(counts.compactMap { Int($0) }.max() ?? .max <= ScopeRemoval.grantsAtOnce)
            let consents = "SELECT count(*) FROM consents WHERE scope LIKE '%photos.read%'"
            #expect(try server.sql(consents, database: database) == ["0"])
        }
    }

    @Test func `a removal that fails leaves the scope, and can be repeated`() async throws {
        try await Self.withGrants { store, server, database, token in
            try server.sql(
                """
                CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $body$
                BEGIN
                    IF NEW.id = 'grant-\(Self.grantCount)' THEN RAISE EXCEPTION 'a fault'; END IF;
                    RETURN NEW;
                END
                $body$
                """, "CREATE TRIGGER refuse_one BEFORE UPDATE ON grants FOR EACH ROW EXECUTE FUNCTION refuse_one()",
                database: database)
            await #expect(throws: StoreFault.self) {
                _ = try await store.removeScope(
                    token, takingFromUses: true, at: World.now, recording: { _ in [] })
            }
            #expect(try await store.scopes().contains { $0.token == token })
            let rest = try #require(try server.sql(Self.left, database: database).first.flatMap { Int($0) })
            #expect((1...ScopeRemoval.grantsAtOnce).contains(rest))

            try server.sql("DROP TRIGGER refuse_one ON grants", "DROP FUNCTION refuse_one", database: database)
            let removed = try await store.removeScope(
                token, takingFromUses: true, at: World.now, recording: { _ in [] })
            #expect(removed == .removed(from: ScopeUses()))
            #expect(try server.sql(Self.left, database: database) == ["0"])
            #expect(try await store.scopes().contains { $0.token == token } == false)
        }
    }
}
