import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

import struct TestSupport.Site

/// `user delete` on a database that a server has filled.
@Suite(.timeLimit(.minutes(10)))
struct DeletedUserTests {
    /// The server key of `TestServer`.
    private static let serverKey = [UInt8](repeating: 7, count: 32)
    private static let displayName = "Zaphodia Quillfeather"
    /// The profile of the user.
    private static let profile = [
        "--given-name": "Zaphodia", "--family-name": "Quillfeather", "--nickname": "Zedquill",
        "--website": "https://quillfeather.example/", "--phone": "+4799887766", "--address-locality": "Vardoxborough",
        "--birthdate": "1987-03-21",
    ]
    /// The texts that name the user, in lower case.
    private static let names = [
        "alice", "zaphodia", "quillfeather", "zedquill", "4799887766", "vardoxborough", "1987-03-21",
    ]

    /// Uses the server as alice, so that every table with records of users has one.
    private static func fill(_ test: TestServer) async throws {
        let (alice, bob) = (test.alice, try await test.addUser("robert", email: "robert@example.com"))
        try await test.acceptUnregisteredClients()
        let owned = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid profile", owner: alice.id)
        let notified = try await test.register(
            "Gallery", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid profile offline_access")
        try await test.change(notified) {
            $0.backchannelLogoutURI = try? AbsoluteURI(parsing: "https://gallery.example.com/logout")
        }
        let unregistered = try await test.selfRegisteredClient()

        // A refused sign-in, sessions, consents, grants, redeemed and pending codes, refresh tokens, audit events.
        let source = "198.51.100.77"
        var browser = test.browser(source: source)
        let attempt = Attempt(test, by: notified, for: "openid profile offline_access")
        _ = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: "a wrong password")
        let tokens = try await attempt.tokens(in: &browser)
        #expect(tokens.refreshToken != nil && tokens.idToken != nil)
        for client in [notified, owned, unregistered] {
            _ = try await Attempt(test, by: client, for: "openid profile").authorize()
        }
        _ = try await Attempt(test).with("login_hint", "alice@example.com").authorize()

        // A pending device authorization, and an approved one.
        let device = try await TestDevice(test)
        _ = try await device.codes()
        var other = test.browser()
        _ = try await other.answer(try await device.codes())

        // Pushed requests that name alice, and one that names another user.
        let hints = [
            ("login_hint", "alice"), ("login_hint", "Alice@example.com"),
            ("id_token_hint", try #require(tokens.idToken).exposed), ("login_hint", "robert@example.com"),
        ]
        for (name, value) in hints {
            let pushed = await test.post(attempt.with(name, value).request, to: .pushedAuthorization)
            #expect(pushed.status == .created)
        }

        // A queued logout notification, and the session of another user.
        let session = try #require(try await test.store.sessions(of: alice.id).first { $0.source == source })
        #expect(try await test.store.endSession(session.digest, at: test.clock.now))
        var bobs = test.browser()
        _ = try await bobs.authorize(Attempt(test).url, username: "robert", password: TestServer.password)
        #expect(try await test.store.sessions(of: bob.id).count == 1)
    }

    /// Signs in as alice, which the server must refuse.
    private static func expectRefusal(by test: TestServer) async throws {
        var browser = test.browser()
        let reply = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: TestServer.password)
        #expect(reply.page is SignInPage)
    }

    /// Returns where a database contains a text, in any case: the table, the column and the row.
    private static func places(of text: String, in database: Database) throws -> [String] {
        let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        var places: [String] = []
        for table in tables {
            for (number, row) in try Row.fetchAll(database, sql: "SELECT * FROM \"\(table)\"").enumerated() {
                for (column, value) in row {
                    let bytes = Data.fromDatabaseValue(value) ?? Data(value.description.utf8)
                    if String(decoding: bytes, as: UTF8.self).lowercased().contains(text) {
                        places.append("\(table).\(column) of row \(number)")
                    }
                }
            }
        }
        return places
    }

    // The deletion works beside a running server.
    @Test(arguments: [false, true])
    func `no table, no column and no byte of the database contains a deleted user`(isServing: Bool) async throws {
        try await Site.make { site in
            let folder = URL(fileURLWithPath: site.dataDirectory)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let key = folder.appendingPathComponent("server.key").path
            #expect(
                FileManager.default.createFile(
                    atPath: key, contents: Data(Self.serverKey), attributes: [.posixPermissions: 0o600]))
            let path = folder.appendingPathComponent("counterfoil.db").path
            let store = try SQLiteStore(at: path)
            let test = try await TestServer(store: store)
            let edited = try await site.administer(
                ["user", "edit", "alice", "--display-name", Self.displayName] + Self.profile.flatMap { [$0, $1] })
            #expect(edited.status == 0, "\(edited.errors)")
            try await Self.fill(test)
            if !isServing { await store.close() }

            let id = test.alice.id.rawValue.lowercased()
            let before = try DatabaseQueue(path: path)
            let tables = [
                "people", "sessions", "consents", "grants", "codes", "refresh_tokens", "logout_deliveries", "audit",
                "pushed_requests", "device_authorizations", "clients",
            ]
            for table in tables {
                let count = try await before.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
                #expect((count ?? 0) > 0, "\(table)")
            }
            // The search finds what is there.
            let found = try await before.read { database in
                try Self.names.map { try Self.places(of: $0, in: database) }
                    + [try Self.places(of: id, in: database)]
            }
            #expect(found.allSatisfy { !$0.isEmpty })
            try before.close()

            let deleted = try await site.administer(["user", "delete", "alice", "--yes", "--delete-apps"])
            #expect(deleted.status == 0, "\(deleted.errors)")

            let after = try DatabaseQueue(path: path)
            for name in Self.names + [id] {
                let places = try await after.read { try Self.places(of: name, in: $0) }
                #expect(places.isEmpty, "\(name): \(places)")
            }
            let counts = try await after.read { database in
                try ["people", "removed_people", "sessions", "pushed_requests", "logout_deliveries"].map { table in
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? -1
                }
            }
            // The other user stays, and two sessions that ended are still to be notified.
            #expect(counts == [1, 0, 1, 1, 2])
            let sources = try await after.read { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT source FROM audit WHERE person_id LIKE 'per_removed_%' AND source IS NOT NULL")
            }
            #expect(sources.isEmpty)
            try after.close()

            // Pages and frames contain former versions of rows unless they are overwritten.
            for suffix in ["", "-wal"] {
                let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path + suffix))) ?? Data()
                for name in Self.names + [test.alice.id.rawValue] {
                    for spelling in Set([name, name.capitalized]) {
                        #expect(bytes.range(of: Data(spelling.utf8)) == nil, "\(spelling) in the file\(suffix)")
                    }
                }
            }
            if isServing {
                // The server is still running, and the former user cannot sign in.
                try await Self.expectRefusal(by: test)
                await store.close()
            }
        }
    }

    /// Returns where a PostgreSQL database contains one of several texts, in any case, also as bytes.
    private static func places(of texts: [String], in database: PostgreSQLServer, _ name: String) throws -> [String] {
        let tables = try database.sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", database: name)
        let forms = texts.map { $0.lowercased() }.flatMap { text in
            [text] + [text, text.capitalized].map { $0.utf8.map { String(format: "%02x", $0) }.joined() }
        }
        return try tables.flatMap { table in
            try database.sql("SELECT row::text FROM \(table) AS row", database: name).flatMap { row in
                forms.filter { row.lowercased().contains($0) }.map { "\(table): \($0)" }
            }
        }
    }

    @Test(arguments: [false, true])
    func `no table of a PostgreSQL database contains a deleted user`(isServing: Bool) async throws {
        let database = try await PostgreSQLServer.shared.value
        let name = "deleted_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try database.sql("CREATE DATABASE \(name)")
        let uri = try database.uri(database: name)
        try await PostgreSQLStore.migrate(uri)
        let place = "postgresql://counterfoil@127.0.0.1:\(database.port.number)/\(name)"
        try await Site.make(on: .database(place, serverKey: Base64URL.encode(Self.serverKey))) { site in
            let store = try await PostgreSQLStore.open(uri)
            let test = try await TestServer(store: store)
            let edited = try await site.administer(
                ["user", "edit", "alice", "--display-name", Self.displayName] + Self.profile.flatMap { [$0, $1] })
            #expect(edited.status == 0, "\(edited.errors)")
            try await Self.fill(test)
            if !isServing { await store.close() }

            let texts = Self.names + [test.alice.id.rawValue]
            let found = try Self.places(of: texts, in: database, name)
            for text in texts { #expect(found.contains { $0.hasSuffix(": \(text.lowercased())") }, "\(text)") }
            let deleted = try await site.administer(["user", "delete", "alice", "--yes", "--delete-apps"])
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(try Self.places(of: texts, in: database, name) == [])
            #expect(
                try database.sql(
                    "SELECT count(*) FROM people", "SELECT count(*) FROM logout_deliveries", database: name) == ["2"])
            if isServing {
                // The server is still running, and the former user cannot sign in.
                try await Self.expectRefusal(by: test)
                #expect(try Self.places(of: [test.alice.id.rawValue], in: database, name) == [])
                await store.close()
            }
        }
    }
}
