package import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport

/// A database with the tables of a store and without records, for one test at a time.
package enum TestDatabase {
    /// The databases of most tests, each with several connections.
    private static let databases = Databases(places: 4)
    /// The database of a server that nothing else uses.
    private static let alone = Databases(places: 1)

    /// Runs a test with the connection string of a database.
    package static func with(_ test: (ConnectionString) async throws -> Void) async throws {
        try await withServer { server, name in try await test(try server.uri(database: name)) }
    }

    /// Runs a test with the server of a database, and the name of the database.
    package static func withServer(_ test: (PostgreSQLServer, String) async throws -> Void) async throws {
        try await databases.use(test)
    }

    /// Runs a test that counts attempts or round trips.
    ///
    /// While any transaction of the server is open, also one in another database, PostgreSQL can take two transactions
    /// for concurrent of which one began after the other had ended, and make one of them begin again.
    package static func withServerAlone(_ test: (PostgreSQLServer, String) async throws -> Void) async throws {
        try await alone.use(test)
    }
}

/// The databases of one server.
private final class Databases: Sendable {
    private static let template = "empty_store"
    private static let keepingInitialRows = """
        CREATE SCHEMA initial;
        CREATE TABLE initial.scopes AS TABLE scopes;
        CREATE TABLE initial.branding AS TABLE branding;
        CREATE TABLE initial.attempt_locks AS TABLE attempt_locks;
        CREATE TABLE initial.endings_record AS TABLE endings_record;
        """
    /// Deletes every row, with no trigger and no foreign key in the way, and inserts those of a new database.
    private static let clearing = """
        SET session_replication_role = replica;
        DO $$
        DECLARE name text;
        BEGIN
            FOR name IN SELECT tablename FROM pg_tables
                WHERE schemaname = 'public' AND tablename <> 'counterfoil_schema'
            LOOP EXECUTE 'DELETE FROM ' || quote_ident(name); END LOOP;
        END
        $$;
        INSERT INTO scopes SELECT * FROM initial.scopes;
        INSERT INTO branding SELECT * FROM initial.branding;
        INSERT INTO attempt_locks SELECT * FROM initial.attempt_locks;
        INSERT INTO endings_record SELECT * FROM initial.endings_record;
        INSERT INTO registry (id, revision) VALUES (1, random_revision());
        """

    /// The server, whose log is not needed.
    private let server = Task {
        let server = try await PostgreSQLServer.start(
            "log_statement=none", "max_connections=200", "autovacuum=off", "synchronous_commit=off")
        try server.sql("CREATE DATABASE \(template)")
        try await PostgreSQLStore.migrate(try server.uri(database: template))
        try server.sql(keepingInitialRows, database: template)
        return server
    }
    /// The limit on tests that have a database.
    private let places: Turnstile
    /// The databases that no test uses, because clearing one is much faster than creating one.
    private let free = Mutex<[String]>([])

    init(places: Int) { self.places = Turnstile(places: places) }

    /// Runs a test with the server, and the name of a database of its own.
    func use(_ test: (PostgreSQLServer, String) async throws -> Void) async throws {
        try await places.pass {
            let server = try await server.value
            let name: String
            if let known = free.withLock({ $0.popLast() }) {
                name = known
                try server.sql(Self.clearing, database: name)
            } else {
                name = "store_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
                try server.sql("CREATE DATABASE \(name) TEMPLATE \(Self.template)")
            }
            try await test(server, name)
            // After a failure, the test may still use the database.
            free.withLock { $0.append(name) }
        }
    }
}
