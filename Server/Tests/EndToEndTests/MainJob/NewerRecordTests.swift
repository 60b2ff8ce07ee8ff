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

/// Commands on users with records that a newer version has written.
@Suite(.timeLimit(.minutes(10)))
struct NewerRecordTests {
    /// Adds the user ada with two apps and a grant, and changes records as a newer version does.
    private static func fill(_ site: Site, changes: [String]) async throws {
        try await site.addScope("photos.read", "See your photos and albums")
        let path = site.dataDirectory + "/counterfoil.db"
        let store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        for name in ["app-one", "app-two"] {
            let client = try RegisteredClient.named(name, owner: world.user.id)
            #expect(try await store.addClient(client) == .added)
        }
        for _ in 1...2 { try await world.approve(world.grant()) }
        await store.close()
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = ON")
            for change in changes { try database.execute(sql: change) }
        }
        try database.close()
    }

    private static let profile = #"UPDATE people SET profile = '{"email_verified":"by post"}'"#
    private static let client = "UPDATE clients SET type = 'agent' WHERE id = 'app-one'"

    @Test func `an export contains what this version can read, and names the rest`() async throws {
        try await Site.make { site in
            try await Self.fill(
                site,
                changes: [
                    Self.profile, Self.client, "UPDATE clients SET type = 'agent' WHERE id = 'app-lightbox'",
                    "UPDATE grants SET resources = 'relative' WHERE number = 1",
                ])
            let path = site.folder.path("ada.json")
            let exported = try await site.administer(["user", "export", "ada", "--output", path])
            #expect(exported.status == 0, "\(exported.errors)")
            let expected = [
                ["record": "user", "column": "profile"], ["record": "grant", "column": "resources"],
                ["record": "client", "column": "type", "id": "app-lightbox"],
                ["record": "client", "column": "type", "id": "app-one"],
            ]
            let text = try Data(contentsOf: URL(fileURLWithPath: path))
            let document = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
            var unreadable = try #require(document["unreadable"] as? [[String: String]])
            for record in unreadable {
                let (kind, id, column) = (record["record"] ?? "", record["id"] ?? "", record["column"] ?? "")
                let line = "warning: not exported: \(kind) \(id), whose \(column) this version cannot read\n"
                #expect(exported.errors.contains(line), "\(line)")
            }
            #expect(unreadable.prefix(2).map { $0["id"]?.prefix(3) } == ["per", "gr_"])
            for index in unreadable.indices.prefix(2) { unreadable[index]["id"] = nil }
            #expect(unreadable == expected)
            #expect(document["account"] == nil)
            #expect((document["grants"] as? [Any])?.count == 1)
            #expect((document["consents"] as? [Any])?.isEmpty == true)
            let clients = document["clients"] as? [[String: Any]]
            #expect(clients?.count == 1)
            #expect((document["sessions"] as? [Any])?.count == 1)
        }
    }

    @Test func `a user with an invalid email address is exported, disabled and deleted by name`() async throws {
        try await Site.make { site in
            try await Self.fill(site, changes: ["UPDATE people SET email = 'ada at example'"])
            let exported = try await site.administer(["user", "export", "ada", "--output", "-"])
            #expect(exported.status == 0 && exported.errors.contains("whose email"), "\(exported.errors)")
            let disabled = try await site.administer(["user", "disable", "ada"])
            #expect(disabled.status == 0 && disabled.output == "Disabled the user ada.\n", "\(disabled.errors)")
            let deleted = try await site.administer(["user", "delete", "ada", "--yes", "--delete-apps"])
            #expect(deleted.status == 0 && deleted.errors.isEmpty, "\(deleted.errors)")
            #expect(try await site.administer(["user", "list"]).output.isEmpty)
        }
    }

    @Test func `a user whose profile this version cannot read is disabled and deleted by name`() async throws {
        try await Site.make { site in
            try await Self.fill(site, changes: [Self.profile, Self.client])
            let disabled = try await site.administer(["user", "disable", "ada", "--json"])
            #expect(disabled.status == 0, "\(disabled.errors)")
            let document = try JSONSerialization.jsonObject(with: Data(disabled.output.utf8)) as? [String: Any]
            #expect(document?["username"] as? String == "ada" && document?["disabled"] as? Bool == true)
            let again = try await site.administer(["user", "disable", "ada"])
            #expect(again.status == 0 && again.output == "Disabled the user ada.\n")

            let refused = try await site.administer(["user", "delete", "ada", "--yes"])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("ada owns app-one, app-two (Lightbox). Delete them with --delete-apps"))
            let deleted = try await site.administer(["user", "delete", "ada", "--yes", "--delete-apps"])
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(deleted.output.contains("\nDeleted the apps: app-one, app-two\n"))
            #expect(try await site.administer(["user", "list"]).output.isEmpty)
            for app in ["app-one", "app-two"] {
                #expect(try await site.administer(["app", "show", app]).status == 3)
            }
        }
    }

    @Test func `an app that this version cannot read is deleted`() async throws {
        try await Site.make { site in
            try await Self.fill(
                site, changes: [Self.client, "UPDATE clients SET type = 'agent', owner_id = NULL WHERE id = 'app-two'"])
            let json = try await site.administer(["app", "delete", "app-one", "--json"])
            #expect(json.status == 0 && json.output == "{\"client_id\":\"app-one\"}\n", "\(json.errors)")
            #expect(try await site.administer(["unregistered", "delete", "app-two"]).status == 3)
            let text = try await site.administer(["app", "delete", "app-two"])
            #expect(text.output == "Deleted app-two, with all consent that users gave to it.\n", "\(text.errors)")
            #expect(try await site.administer(["app", "delete", "app-two"]).status == 3)
        }
    }

    @Test func `an unregistered app that this version cannot read is deleted`() async throws {
        try await Site.make { site in
            let document = "UPDATE clients SET type = 'agent', owner_id = NULL, source = 'registration'"
            try await Self.fill(site, changes: [document + " WHERE id = 'app-two'"])
            #expect(try await site.administer(["app", "delete", "app-two"]).status == 3)
            let deleted = try await site.administer(["unregistered", "delete", "app-two", "--json"])
            #expect(deleted.status == 0 && deleted.output == "{\"client_id\":\"app-two\"}\n", "\(deleted.errors)")
            #expect(try await site.administer(["unregistered", "delete", "app-two"]).status == 3)
        }
    }
}
