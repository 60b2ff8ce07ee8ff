import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

import struct TestSupport.Site

/// `app delete` of an app with many records.
@Suite(.timeLimit(.minutes(10)))
struct DeletedClientTests {
    /// Adds the app `app-lightbox` with more records than one commit deletes, and returns the open store.
    private static func fill(_ site: Site) async throws -> SQLiteStore {
        // The command creates the data directory.
        #expect(try await site.administer(["scope", "create", "photos.read", "--description", "Photos"]).status == 0)
        let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
        let world = try await World(in: store)
        for _ in 0..<ClientRemoval.rowsAtOnce + 10 { _ = try await world.refreshFamily(of: world.grant()) }
        return store
    }

    private static let creation = [
        "app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri", "http://127.0.0.1/callback",
        "--client-id", "app-lightbox",
    ]

    // The command deletes every record, without a server.
    @Test func `a deleted app leaves no record`() async throws {
        try await Site.make { site in
            let store = try await Self.fill(site)
            let deleted = try await site.administer(["app", "delete", "app-lightbox"])
            #expect(deleted.status == 0 && deleted.errors.isEmpty, "\(deleted.errors)")
            #expect(try await store.continueRemovals(atMost: 9) == 0)
            await store.close()
            #expect(try await site.administer(Self.creation).status == 0)
        }
    }

    @Test func `the client_id of a deleted app is refused while records of it are left`() async throws {
        try await Site.make { site in
            let store = try await Self.fill(site)
            // A server that ends after this commit leaves records.
            #expect(try await store.removeClient(try #require(ClientIdentifier("app-lightbox"))))
            await store.close()
            let refused = try await site.administer(Self.creation)
            #expect(refused.status == 6)
            #expect(
                refused.errors == """
                    counterfoil-server: records of a deleted app with the client_id app-lightbox are left; a running \
                    server deletes them within a minute, and so does: counterfoil-server app delete app-lightbox

                    """)
            let again = try await site.administer(["app", "delete", "app-lightbox"])
            #expect(again.status == 3)
            #expect(again.errors.hasPrefix("counterfoil-server: there is no app with the client_id app-lightbox"))
            #expect(try await site.administer(Self.creation).status == 0)
        }
    }

    // The end of access does not wait for records of other apps.
    @Test func `an app and a user are deleted although records of another app cannot be`() async throws {
        try await Site.make { site in
            let store = try await Self.fill(site)
            for name in ["app-one", "app-two"] { #expect(try await store.addClient(.named(name)) == .added) }
            #expect(try await store.removeClient(try #require(ClientIdentifier("app-lightbox"))))
            await store.close()
            let database = try DatabaseQueue(path: site.dataDirectory + "/counterfoil.db")
            try await database.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER broken BEFORE DELETE ON grants WHEN OLD.client_id = 'app-lightbox'
                            BEGIN SELECT RAISE(ABORT, 'broken'); END
                        """)
            }
            try database.close()
            for command in [["app", "delete", "app-one"], ["user", "delete", "ada", "--yes"]] {
                let deleted = try await site.administer(command)
                #expect(deleted.status == 6)
                #expect(deleted.errors.contains("records of a deleted user or app are left"), "\(deleted.errors)")
            }
            #expect(try await site.administer(["app", "show", "app-one"]).status == 3)
            #expect(try await site.administer(["app", "show", "app-two"]).status == 0)
            #expect(try await site.administer(["user", "list"]).output.isEmpty)
        }
    }
}
