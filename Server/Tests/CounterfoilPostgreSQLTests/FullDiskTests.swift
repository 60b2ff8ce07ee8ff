import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// A database whose disk is full, which answers every write with SQLSTATE 53100.
@Suite("PostgreSQL: a full disk", .timeLimit(.minutes(2)))
struct FullDiskTests {
    /// The moment at which PostgreSQL finds that the disk is full.
    enum Moment: String, CaseIterable, Sendable {
        /// A statement needs a new page.
        case statement = "BEFORE INSERT OR UPDATE"
        /// The commit needs one.
        case commit = "AFTER INSERT OR UPDATE"

        /// The statement that makes every write to a table fail, with `%I` for the table.
        var trigger: String {
            switch self {
            case .statement: "CREATE TRIGGER full_disk \(rawValue) ON %I FOR EACH ROW EXECUTE FUNCTION full_disk()"
            case .commit:
                "CREATE CONSTRAINT TRIGGER full_disk \(rawValue) ON %I DEFERRABLE INITIALLY DEFERRED "
                    + "FOR EACH ROW EXECUTE FUNCTION full_disk()"
            }
        }
    }

    private static func fill(_ server: PostgreSQLServer, _ database: String, at moment: Moment) throws {
        try server.sql(
            """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN
                RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
            END
            $body$
            """,
            """
            DO $$
            DECLARE name text;
            BEGIN
                FOR name IN SELECT relname FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition
                LOOP EXECUTE format('\(moment.trigger)', name); END LOOP;
            END
            $$
            """, database: database)
    }

    private static let written = """
        SELECT (SELECT count(*) FROM grants), (SELECT count(*) FROM codes),
            (SELECT count(*) FROM codes WHERE used_at IS NOT NULL), (SELECT count(*) FROM refresh_tokens),
            (SELECT sum(generation) FROM refresh_tokens), (SELECT count(*) FROM audit)
        """

    private static func expectUnavailable(_ reply: Reply) {
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "5")
    }

    @Test(arguments: Moment.allCases)
    func `a full disk refuses every write with 503, commits nothing, and needs no restart`(_ moment: Moment)
        async throws
    {
        try await TestDatabase.withServer { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            let test = try await TestServer(store: store)
            let scope = "openid offline_access photos.read"
            let client = try await test.register(
                "Offline", redirectURIs: ["http://127.0.0.1/callback"], scope: scope)
            let refreshToken = try #require(try await Attempt(test, by: client, for: scope).tokens().refreshToken)
            let refresh = FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": refreshToken.exposed,
            ])
            let attempt = Attempt(test)
            let redemption = attempt.exchange(try await attempt.authorize().code)
            var browser = test.browser()
            let asked = try await browser.signIn(
                on: try await browser.open(Attempt(test, for: "photos.write").url), username: "alice",
                password: TestServer.password)
            let before = try server.sql(Self.written, database: database)

            try Self.fill(server, database, at: moment)
            for form in [redemption, refresh, redemption] {
                let reply = await test.redeem(form)
                Self.expectUnavailable(reply)
                #expect(try reply.tokenError.error == "temporarily_unavailable")
            }
            Self.expectUnavailable(try await browser.decide(.allow, on: asked))
            let fault = await #expect(throws: StoreFault.self) { try await store.note(["full": "yes"]) }
            guard case .unavailable(let reason) = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            #expect(reason.contains("PostgreSQL error 53100"))
            #expect(try server.sql(Self.written, database: database) == before)
            // What only reads continues.
            #expect(try await store.client(client.id)?.id == client.id)

            try server.sql("DROP FUNCTION full_disk CASCADE", database: database)
            #expect(await test.redeem(redemption).status == .ok)
            #expect(await test.redeem(refresh).status == .ok)
            _ = try await browser.decide(.allow, on: asked).code
            await store.close()
        }
    }

    // A file of another size than those that exist needs space, however many rows were deleted.
    @Test func `taking up space writes a temporary file, unless the database limits those`() async throws {
        try await TestDatabase.withServer { server, database in
            let written = "SELECT temp_bytes > 100000 FROM pg_stat_database WHERE datname = current_database()"
            for limit in ["64kB", "-1"] {
                try server.sql("ALTER DATABASE \"\(database)\" SET temp_file_limit = '\(limit)'")
                let store = try await PostgreSQLStore.open(server.uri(database: database))
                try await store.takeUpSpace()
                await store.close()
                if limit == "64kB" { #expect(try server.sql(written, database: database) == ["f"]) }
            }
            // The sessions report their statistics at their end.
            try await Waiting.until("the statistics") {
                try server.sql(written, database: database) == ["t"] ? () : nil
            }
        }
    }

    // PostgreSQL creates the folder for temporary files of a tablespace with the first of them, and leaves it.
    @Test func `taking up space writes to the disk of the tables, and not to temp_tablespaces`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let (name, folder) = ("temporary", URL(fileURLWithPath: server.path("temporary")))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        Unprivileged.own(folder)
        try server.sql(
            "CREATE TABLESPACE \(name) LOCATION '\(folder.path)'", "CREATE DATABASE \(name)",
            "ALTER DATABASE \(name) SET temp_tablespaces = \(name)", "ALTER DATABASE \(name) SET work_mem = '64kB'")
        func isUsed() throws -> Bool {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path).contains { $0.hasSuffix("pgsql_tmp") }
        }
        let uri = try server.uri(database: name)
        try await PostgreSQLStore.migrate(uri)
        let store = try await PostgreSQLStore.open(uri)
        try await store.takeUpSpace()
        await store.close()
        #expect(try !isUsed())
        try server.sql("SELECT count(*) FROM generate_series(1, 8000)", database: name)
        #expect(try isUsed())
        try server.sql("DROP DATABASE \(name) WITH (FORCE)", "DROP TABLESPACE \(name)")
    }
}
