import CounterfoilProtocol
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// A store that another program has brought back, and the command that makes it safe to serve.
@Suite(.timeLimit(.minutes(10)))
struct AfterRestoreTests {
    // The same rules hold for what another program has brought back.
    @Test(arguments: StoreOfSite.allCases)
    func `after-restore ends every sign-in`(_ kind: StoreOfSite) async throws {
        try await kind.make { site in
            let clientID = try await Self.prepare(site)
            var browser = UserAgent()
            let token = try await site.serving {
                try await RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token
            }
            let silent = try await site.administer(["after-restore"])
            #expect(silent.status == 64)
            // A second time, the store has no signing key. With a database, each time takes five seconds.
            for _ in 0..<(kind == .dataDirectory ? 2 : 1) { try await run(site, ["after-restore", "--end-sign-ins"]) }
            try await site.serving {
                #expect(try await RestoredCopyTests.refresh(token, of: clientID, at: site).status == 400)
                var browser = UserAgent()
                _ = try await RestoredCopyTests.signIn(with: &browser, clientID, at: site)
            }
        }
    }

    @Test(arguments: StoreOfSite.allCases)
    func `after-restore ends again what the journal names, and says what it cannot bring back`(
        _ kind: StoreOfSite
    ) async throws {
        try await kind.make { site in
            let clientID = try await Self.prepare(site)
            for (name, options) in [("bob", []), ("carol", []), ("root", ["--role", "owner"])] {
                try await create(name, options, at: site)
            }
            let api = "https://photos.example.com"
            try await run(
                site,
                ["resource", "create", api, "--name", "Photos", "--scope", "photos.read", "--scope", "openid"])
            let journal = site.folder.path("endings")
            let copied = try await Self.copied(site, clientID, journal: journal) {
                try await run(
                    site, ["user", "password", "bob", "--password-stdin"], input: "correct horse battery staple 2\n")
                try await run(site, ["user", "disable", "carol"])
                try await create("admin", ["--role", "owner"], at: site)
                try await run(site, ["user", "delete", "root", "--yes"])
                try await run(site, ["app", "edit", clientID, "--name", "Darkroom"])
                try await run(site, ["resource", "edit", api, "--scope", "openid"])
                try await run(site, ["unregistered", "edit", "--accept", "documents"])
            }

            try await copied.snapshot.restore()
            let other = site.folder.path("other-endings")
            let line = #"{"at":"2026-07-01T00:00:00.000Z","format":1,"journal":"aa","mark":"begins","number":0}"#
            try Data((line + "\n").utf8).write(to: URL(fileURLWithPath: other))
            let refused = try await site.administer(["after-restore", "--endings-journal", other])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("is not that of the server of this copy"), "\(refused.errors)")

            let served = try await serve(site, other)
            #expect(served.status == 3)
            #expect(served.errors.contains("is the endings journal of another server"), "\(served.errors)")
            #expect(try String(contentsOfFile: other, encoding: .utf8) == line + "\n")

            let ended = try await site.administer(["after-restore", "--endings-journal", journal])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.errors.contains("Ended again what had ended since the copy: "), "\(ended.errors)")
            #expect(ended.errors.hasSuffix(Self.report(clientID, api)), "\(ended.errors)")
            let again = try await site.administer(["after-restore", "--endings-journal", journal])
            #expect(again.status == 3)
            #expect(
                again.errors.contains("the restore with this endings journal is complete already"), "\(again.errors)")
            try await site.serving {
                for (token, status) in [(copied.revoked, 400), (copied.kept, 200)] {
                    let answer = try await RestoredCopyTests.refresh(token, of: clientID, at: site)
                    #expect(answer.status == status, "\(answer.body)")
                }
            }
        }
    }

    // After a failed restore, a database has the tables that "migrate" has made.
    @Test(arguments: StoreOfSite.allCases)
    func `after-restore refuses a store on which no server has run`(_ kind: StoreOfSite) async throws {
        try await kind.make { site in
            // It creates the database of a data directory, and no signing key.
            #expect(try await serve(site, site.folder.path("none/endings")).status == 3)
            let journal = site.folder.path("endings")
            let lines =
                #"{"at":"2026-07-01T00:00:00.000Z","format":1,"journal":"aa","mark":"begins","number":0}"# + "\n"
            try Data(lines.utf8).write(to: URL(fileURLWithPath: journal))
            for answer in [["--endings-journal", journal], ["--end-sign-ins"]] {
                let refused = try await site.administer(["after-restore"] + answer)
                #expect(refused.status == 3)
                #expect(
                    refused.errors == """
                        counterfoil-server: the database is empty: no server has run on it, so the restore has failed; \
                        restore the copy again, and then run after-restore; nothing was changed

                        """)
            }
            let served = try await serve(site, journal)
            #expect(served.status == 3)
            #expect(
                served.errors.contains(
                    "\(journal) has the endings of a database, and this one is empty; restore a copy"),
                "\(served.errors)")
            #expect(try String(contentsOfFile: journal, encoding: .utf8) == lines)
        }
    }

    private static func report(_ clientID: String, _ api: String) -> String {
        """
        The password of these users was changed or removed after the copy, so they have none now. Set a new one with "user password":
          bob
        These users were disabled after the copy:
          carol
        These users were deleted after the copy. As the last owners they are only disabled:
          root
        These apps were changed after the copy and are registered as before. Compare them with "app show":
          \(clientID)
        These APIs were changed after the copy and are registered as before. Compare them with "resource list":
          \(api)
        The policy for unregistered apps was changed after the copy and is as before. Compare it with "unregistered show".
        The restore is complete. Start the server with the same endings journal, which it continues, or with a new one, \
        run doctor, and make a backup.

        """
    }

    /// Adds Alice and the client Lightbox, and returns the identifier of the client.
    static func prepare(_ site: Site) async throws -> String {
        try await site.add(.alice)
        try await site.addScope("photos.read", "See your photos and albums")
        return try await site.registerClient(options: ["--refresh-tokens", "always"])
    }

    /// A store of which a copy was made before a refresh token was revoked.
    struct Copied {
        let snapshot: Snapshot
        /// A refresh token that was valid when the server stopped.
        let kept: String
        /// A refresh token that was revoked after the copy.
        let revoked: String
    }

    /// Signs Alice in twice, makes a copy, and revokes a refresh token while the server writes an endings journal.
    ///
    /// - Parameters:
    ///   - startsWithJournal: Whether the server before the copy writes the journal, too.
    ///   - change: What else is changed after the copy, while the server runs.
    static func copied(
        _ site: Site, _ clientID: String, journal: String, startingWithJournal startsWithJournal: Bool = false,
        changing change: () async throws -> Void = {}
    ) async throws -> Copied {
        let options = ["--endings-journal", journal]
        let (kept, revoked) = try await site.start(options: startsWithJournal ? options : []).whileRunning {
            var browser = UserAgent()
            return try await (
                RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token,
                RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token
            )
        }
        let snapshot = Snapshot(site)
        try await snapshot.take()
        try await site.start(options: options).whileRunning {
            var agent = UserAgent()
            let revocation = try await agent.send(
                .post, "\(site.issuer)/oauth2/revoke",
                form: FormParameters(["client_id": clientID, "token": revoked]))
            #expect(revocation.status == 200)
            try await change()
        }
        return Copied(snapshot: snapshot, kept: kept, revoked: revoked)
    }

    /// Starts a server with an endings journal that it must refuse.
    private func serve(_ site: Site, _ journal: String) async throws -> EndedProgram {
        try await site.administer(
            ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--endings-journal", journal])
    }

    private func create(_ name: String, _ options: [String], at site: Site) async throws {
        try await run(
            site,
            [
                "user", "create", name, "--email", "\(name)@example.com", "--display-name", name, "--password-stdin",
            ] + options, input: "correct horse battery staple 1\n")
    }

    /// Runs an administration command, which must succeed.
    private func run(_ site: Site, _ arguments: [String], input: String? = nil) async throws {
        let ended = try await site.administer(arguments, input: input)
        #expect(ended.status == 0, "\(arguments.prefix(2)): \(ended.errors)")
    }
}

/// The store of a site at one point in time, as a snapshot of the disk or a backup of PostgreSQL has it.
///
/// No server runs while it is taken or brought back.
struct Snapshot {
    private let site: Site
    private let name: String
    /// The name of the database; nil for a data directory.
    private let database: String?

    init(_ site: Site, named name: String = "copy") {
        self.site = site
        self.name = name
        database =
            site.storeOptions.first == "--database"
            ? site.storeOptions[1].split(separator: "/").last.map(String.init) : nil
    }

    private var copiedDirectory: String { "\(site.dataDirectory)-\(name)" }

    func take() async throws {
        guard let database else {
            return try FileManager.default.copyItem(atPath: site.dataDirectory, toPath: copiedDirectory)
        }
        try await PostgreSQLServer.shared.value.sql("CREATE DATABASE \(database)_\(name) TEMPLATE \(database)")
    }

    func restore() async throws {
        guard let database else {
            try FileManager.default.removeItem(atPath: site.dataDirectory)
            return try FileManager.default.moveItem(atPath: copiedDirectory, toPath: site.dataDirectory)
        }
        try await PostgreSQLServer.shared.value.sql(
            "DROP DATABASE \(database) WITH (FORCE)", "ALTER DATABASE \(database)_\(name) RENAME TO \(database)")
    }
}
