import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: migrations")
struct MigrationTests {
    /// Creates a store with one user, and opens its file without the store.
    private static func withFile(_ test: (_ path: String, DatabaseQueue) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let store = try SQLiteStore(at: path)
        _ = try await World(in: store)
        await store.close()
        let database = try DatabaseQueue(path: path)
        try await test(path, database)
        try database.close()
    }

    private static func version(of database: DatabaseQueue) async throws -> Int? {
        try await database.read { database in try Int.fetchOne(database, sql: "PRAGMA user_version") }
    }

    @Test func `a migration runs the missing steps in their order`() async throws {
        try await Self.withFile { path, database in
            let current = Migration.all.count
            let steps =
                Migration.all + [
                    Migration { try $0.execute(sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT") },
                    Migration { try $0.execute(sql: "INSERT INTO notes SELECT username FROM people") },
                ]
            for _ in 1...2 {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
                let notes = try await database.read { try String.fetchAll($0, sql: "SELECT text FROM notes") }
                #expect(notes.count == 1)
                #expect(try await Self.version(of: database) == current + 2)
            }
            let enforced = try await database.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") }
            #expect(enforced == true)
            #expect(throws: SQLiteStore.OpeningRefusal.newerVersion(path: path, found: current + 2, supported: current))
            {
                try SQLiteStore(at: path)
            }
        }
    }

    @Test func `an API of an older file gets the type at+jwt, and is found under every equal spelling`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { try Migration.run($0, through: [.schema]) }
        // Until this step, two APIs could differ in the last slash only.
        let uris = ["https://A.example.com:443/v1", "https://b.example.com", "https://b.example.com/"]
        try await database.write { database in
            for uri in uris {
                try database.execute(
                    sql: "INSERT INTO resources VALUES (?, ?, 'Photo library', 'openid', zeroblob(32), 0)",
                    arguments: [uri, "api_\(uri.utf8.count)"])
            }
        }
        try database.close()
        let store = try SQLiteStore(at: path)
        let apis = try await store.resources()
        #expect(apis.map(\.resource.rawValue) == uris)
        #expect(apis.allSatisfy { $0.tokenType == .atJWT })
        for (asked, found) in [("https://a.example.com/v1", uris[0]), (uris[1], uris[1]), (uris[2], uris[2])] {
            #expect(try await store.resource(try Resource(asked))?.resource.rawValue == found)
        }
        #expect(try await store.removeResource(try Resource(uris[2])))
        #expect(try await store.resources().map(\.resource.rawValue) == [uris[0], uris[1]])
        await store.close()
    }

    @Test func `the events of an older file are ordered by time, and are still append-only`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { try Migration.run($0, through: Array(Migration.all.prefix(14))) }
        try await database.write { database in
            for second in [3, 1, 2] {
                try database.execute(
                    sql: "INSERT INTO audit (at, kind, outcome) VALUES (?, 'setting', 'done')",
                    arguments: [second * 1_000_000])
            }
        }
        try database.close()
        let store = try SQLiteStore(at: path)
        let log = try await store.auditLog(after: nil, limit: 9)
        #expect(log.map(\.number) == [2, 3, 1])
        let other = try DatabaseQueue(path: path)
        await #expect(throws: DatabaseError.self) {
            try await other.write { try $0.execute(sql: "DELETE FROM audit") }
        }
        try other.close()
        #expect(
            try await store.removeAudit(through: log[1].position, atMost: 9, recording: nil, at: World.now) == 2)
        #expect(try await store.auditLog(after: nil, limit: 9).map(\.number) == [1])
        await store.close()
    }

    // Such an origin could be registered once; a client that still has one stays readable.
    @Test func `an origin that no browser sends is removed`() async throws {
        try await Self.withFile { path, database in
            try await database.write { database in
                try database.execute(
                    sql: "UPDATE clients SET origins = 'https://*.example.com https://app.example.com'")
                try Migration.browserOrigins.apply(database)
            }
            let store = try SQLiteStore(at: path)
            let origins = try await store.clients().map { $0.origins.map(\.rawValue) }
            #expect(!origins.isEmpty && origins.allSatisfy { $0 == ["https://app.example.com"] })
            await store.close()
        }
    }

    @Test func `codes that were issued before keys were stored can still be redeemed`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        var store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        let issued = try await world.approve(world.grant())
        await store.close()
        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            for table in ["codes", "refresh_tokens"] {
                try database.execute(sql: "ALTER TABLE \(table) DROP COLUMN key_thumbprint")
            }
            try Self.dropCommitAttempts(database)
            try Migration.keyThumbprints.apply(database)
            try Migration.commitAttempts.apply(database)
        }
        try database.close()
        store = try SQLiteStore(at: path)
        let kept = try #require(try await store.code(issued.digest)).code
        #expect(kept.redirectURI == issued.redirectURI && kept.codeChallenge == issued.codeChallenge)
        #expect(kept.nonce == issued.nonce && kept.keyThumbprint == nil)
        #expect(try await store.consumeCode(issued.digest, beginning: nil, at: World.now) == .consumed)
        await store.close()
    }

    private static func dropCommitAttempts(_ database: Database) throws {
        for (table, column) in [
            ("codes", "attempt"), ("codes", "contested_at"), ("refresh_tokens", "last_attempt"),
            ("assertions", "attempt"),
        ] {
            try database.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(column)")
        }
    }

    // Before this step, a redeemed code had no mark, and its tokens were sent.
    @Test func `a code that an earlier version redeemed is answered, and an unused one can be redeemed`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        var store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        let used = try await world.approve(world.grant())
        let unused = try await world.approve(world.grant())
        #expect(
            try await store.consumeCode(used.digest, beginning: nil, attempt: CommitAttempt(), at: World.now)
                == .consumed)
        await store.close()
        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            try Self.dropCommitAttempts(database)
            try Migration.commitAttempts.apply(database)
        }
        try database.close()
        store = try SQLiteStore(at: path)
        #expect(try await store.code(used.digest)?.code.attempt == nil)
        #expect(try await store.contestRedemption(used.digest, at: World.now) == .answered)
        #expect(
            try await store.consumeCode(unused.digest, beginning: nil, attempt: CommitAttempt(), at: World.now)
                == .consumed)
        await store.close()
    }

    // A client with a document has no row at first, so these tables no longer reference the table of the clients.
    @Test func `pushed requests and device authorizations stay when their tables are replaced`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        var store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        let pushed = PushedRequest(
            digest: ArtefactDigest(of: ClientSecret()), clientID: world.client.id, parameters: "state=%C3%A9",
            source: nil, pushedAt: World.now, expiresAt: World.now + 60)
        #expect(
            try await store.addPushedRequest(pushed, within: PushedRequestLimits(ofClient: 9, fromSource: nil))
                == .added)
        let device = DeviceAuthorization(
            digest: ArtefactDigest(of: DeviceCode()), userCode: ArtefactDigest(of: ClientSecret()),
            clientID: world.client.id, scope: Scope([.openID, .profile]),
            resources: [try Resource("https://api.example.com/")], codeChallenge: CodeChallenge(of: CodeVerifier()),
            requestedAt: World.now, expiresAt: World.now + 600, source: "2001:db8::9", userAgent: "TV/1.0 (Linux)")
        let limits = DeviceAuthorizationLimits(perSource: nil, total: 9)
        #expect(try await store.addDeviceAuthorization(device, within: limits) == .added)
        await store.close()

        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            for change in ["insert", "update"] {
                try database.execute(sql: "DROP TRIGGER clients_\(change)_origins")
            }
            // Later triggers name columns that this step adds.
            let later = try String.fetchAll(
                database,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'clients' AND name LIKE '%ends%'"
            )
            for trigger in later { try database.execute(sql: "DROP TRIGGER \(trigger)") }
            // A client with origins from before they had a table.
            try database.execute(
                sql: "UPDATE clients SET origins = 'https://app.example.com http://localhost:*'")
            for index in [
                "clients_source", "clients_host", "clients_registered", "consents_client", "grants_client",
                // A later step added these.
                "clients_associated", "clients_idle_lifetime",
            ] {
                try database.execute(sql: "DROP INDEX \(index)")
            }
            for column in ["keys_uri", "source", "metadata", "registration_access_token", "host"] {
                try database.execute(sql: "ALTER TABLE clients DROP COLUMN \(column)")
            }
            for table in ["unregistered_client_policy", "initial_access_tokens", "client_origins"] {
                try database.execute(sql: "DROP TABLE \(table)")
            }
            for change in ["insert", "update", "delete"] {
                try database.execute(sql: "DROP TRIGGER scopes_\(change)_renews")
            }
            try Migration.unregisteredClients.apply(database)
        }
        try database.close()
        store = try SQLiteStore(at: path)
        #expect(try await store.client(world.client.id)?.redirectURIs == world.client.redirectURIs)
        for origin in ["https://app.example.com", "http://localhost:5173"] {
            #expect(try await store.isRegistered(try #require(WebOrigin(origin))))
        }
        #expect(
            try await store.openPushedRequest(
                pushed.digest, of: world.client.id, at: World.now, until: World.now + 1
            )?.parameters == pushed.parameters)
        let kept = try #require(try await store.deviceAuthorization(userCode: device.userCode, at: World.now))
        #expect(kept.digest == device.digest && kept.scope == device.scope && kept.resources == device.resources)
        #expect(kept.codeChallenge == device.codeChallenge && kept.userAgent == device.userAgent)
        #expect(try await store.unregisteredClientPolicy() == UnregisteredClientPolicy())
        await store.close()
    }

    @Test func `a failed step leaves the file at its version`() async throws {
        try await Self.withFile { path, database in
            let steps =
                Migration.all + [
                    Migration { try $0.execute(sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT") },
                    Migration { try $0.execute(sql: "INSERT INTO notes VALUES (NULL)") },
                ]
            await #expect(throws: DatabaseError.self) {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
            }
            let tables = try await database.read { try $0.tableExists("notes") }
            #expect(!tables)
            #expect(try await Self.version(of: database) == Migration.all.count)
            let store = try SQLiteStore(at: path)
            #expect(try await store.scopes().count == ScopeDefinition.standard.count)
            await store.close()
        }
    }

    @Test func `a step that breaks a reference is rolled back, and its error holds no values`() async throws {
        try await Self.withFile { _, database in
            let steps = Migration.all + [Migration { try $0.execute(sql: "DELETE FROM people") }]
            let error = await #expect(throws: DatabaseError.self) {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
            }
            let refusal = SQLiteStore.OpeningRefusal(try #require(error), path: "store.sqlite")
            guard case .damaged(_, let reason) = refusal else { throw refusal }
            #expect(reason.contains("people"))
            #expect(!["per_", "app_", "http", "alice"].contains { reason.contains($0) }, "\(reason)")
            let people = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM people") }
            #expect(people == 1)
            #expect(try await Self.version(of: database) == Migration.all.count)
        }
    }
}
