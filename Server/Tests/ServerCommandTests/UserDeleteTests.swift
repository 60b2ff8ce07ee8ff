@_spi(Counterfoil) import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user delete`, with and without a terminal.
@Suite(.timeLimit(.minutes(10)))
struct UserDeleteTests {
    private static let password = "correct horse battery staple\n"

    private static func create(_ name: String, at site: Site, options: [String] = []) async throws {
        let created = try await site.administer(
            ["user", "create", name, "--email", "\(name)@example.com", "--password-stdin"] + options, input: password)
        #expect(created.status == 0, "\(created.errors)")
    }

    /// Registers an app and gives it to a user, as if the user had registered it at `/apps`.
    private static func registerClient(_ name: String, of owner: String, at site: Site) async throws -> String {
        let id = try await site.registerClient(name)
        let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
        let username = try #require(Username(owner))
        let user = try #require(try await store.user(named: username))
        var client = try #require(try await store.clients().first { $0.id.rawValue == id })
        client.owner = user.id
        #expect(try await store.updateClient(client, logo: .keep, recording: []) == .updated)
        await store.close()
        return id
    }

    @Test func `a deleted user is gone, the name is free, and the log shows the pseudonym`() async throws {
        try await Site.make { site in
            try await Self.create("alice", at: site)
            try await Self.create("bob", at: site)
            let deleted = try await site.administer(["user", "delete", "alice", "--yes", "--json"])
            #expect(deleted.status == 0 && deleted.errors.isEmpty, "\(deleted.errors)")
            struct Deletion: Decodable {
                let pseudonym: String
                let deleted_clients: [String]
                let transferred_clients: [String]
            }
            let deletion = try JSONDecoder().decode(Deletion.self, from: Data(deleted.output.utf8))
            #expect(deletion.pseudonym.hasPrefix("per_removed_"))
            #expect(deletion.deleted_clients.isEmpty && deletion.transferred_clients.isEmpty)
            #expect(try await site.administer(["user", "list"]).output == "bob <bob@example.com>\n")
            let missing = try await site.administer(["user", "delete", "alice", "--yes"])
            #expect(missing.status == 3)
            #expect(
                missing.errors
                    == "counterfoil-server: there is no user named alice; see: counterfoil-server user list\n")

            let log = try await site.administer(["audit", "list", "--person", deletion.pseudonym])
            let lines = log.output.split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.contains(deletion.pseudonym) }, "\(log.output)")
            // Without the identifier of the request, an event does not show whether a command caused it.
            #expect(!log.output.contains("from a terminal"))
            #expect(lines.first?.hasSuffix("(at the command line: deleted)") == true)
            #expect(!(try await site.administer(["audit", "--json"]).output.contains("alice")))

            try await Self.create("alice", at: site)
            let again = try await site.administer(["user", "delete", "alice", "--yes"])
            #expect(again.output.hasPrefix("Deleted the user alice.\nThe audit log names the user as per_removed_"))
            // Another account has another pseudonym, even with the same name.
            #expect(!again.output.contains(deletion.pseudonym))
        }
    }

    @Test func `the log shows whether a command or the server caused an event`() async throws {
        try await Site.make { site in
            try await Self.create("alice", at: site)
            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            try await store.appendAudit(AuditEvent(at: store.now(), .signingKey, detail: "ES256 rotated by age"))
            await store.close()
            let log = try await site.administer(["audit", "list"])
            #expect(log.output.contains("  by the server  (ES256 rotated by age)"), "\(log.output)")
            #expect(log.output.contains("  from a terminal  (at the command line: "), "\(log.output)")
        }
    }

    @Test func `the only owner is not deleted`() async throws {
        try await Site.make { site in
            try await Self.create("root", at: site, options: ["--role", "owner"])
            let refused = try await site.administer(["user", "delete", "root", "--yes"])
            #expect(refused.status == 3)
            #expect(
                refused.errors == """
                    counterfoil-server: no owner but root can sign in; create another one first with: \
                    counterfoil-server user create NAME --role owner

                    """)
            try await Self.create("second", at: site, options: ["--role", "owner"])
            #expect(try await site.administer(["user", "delete", "root", "--yes"]).status == 0)
        }
    }

    @Test func `the apps of a deleted user are deleted or transferred, and the command names them`() async throws {
        try await Site.make { site in
            for name in ["alice", "bob"] { try await Self.create(name, at: site) }
            try await site.addScope("photos.read", "See your photos and albums")
            let client = try await Self.registerClient("Lightbox", of: "alice", at: site)
            let kept = try await site.administer(["user", "delete", "alice", "--yes"])
            #expect(kept.status == 3)
            #expect(
                kept.errors == """
                    counterfoil-server: nothing was deleted; alice owns \(client) (Lightbox). Delete them with \
                    --delete-apps, or give them to another user with --transfer-apps NAME

                    """)
            let both = ["user", "delete", "alice", "--yes", "--delete-apps", "--transfer-apps", "bob"]
            #expect(try await site.administer(both).status == 64)
            for owner in ["alice", "nobody"] {
                let refused = try await site.administer(
                    ["user", "delete", "alice", "--yes", "--transfer-apps", owner])
                #expect(refused.status == 3)
            }
            let given = try await site.administer(["user", "delete", "alice", "--yes", "--transfer-apps", "bob"])
            #expect(given.status == 0, "\(given.errors)")
            #expect(given.output.contains("\nTransferred to bob: \(client)\n"))
            let log = try await site.administer(["audit", "--client", client, "--person", "bob"])
            #expect(log.output.contains("(at the command line: transferred from a deleted owner)"))

            let gone = try await site.administer(["user", "delete", "bob", "--yes", "--delete-apps"])
            #expect(gone.output.contains("\nDeleted the apps: \(client)\n"), "\(gone.errors)")
            #expect(try await site.administer(["app", "show", client]).status == 3)
        }
    }

    @Test func `without a terminal the deletion needs --yes`() async throws {
        try await Site.make { site in
            try await Self.create("alice", at: site)
            let refused = try await site.administer(["user", "delete", "alice"], input: "alice\n")
            #expect(refused.status == 3)
            #expect(
                refused.errors == """
                    counterfoil-server: nothing was deleted; standard input is no terminal for the confirmation, so \
                    confirm with --yes

                    """)
            #expect(try await site.administer(["user", "show", "alice"]).status == 0)
        }
    }

    // Control-D ends the input.
    @Test(
        arguments: [
            ("alice\n", 0, "Deleted the user alice."), ("ALICE \n", 0, "Deleted the user alice."),
            ("bob\n", 3, "nothing was deleted; the typed name is not alice"),
            ("\n", 3, "nothing was deleted; the typed name is not alice"),
            ("\u{4}", 3, "nothing was deleted; the input ended before the user name"),
        ] as [(String, Int32, String)])
    func `at a terminal the user name confirms the deletion`(
        typed: String, status: Int32, shown: String
    ) async throws {
        try await Site.make { site in
            try await Self.create("alice", at: site)
            let terminal = try Terminal()
            defer { terminal.end() }
            let ended = try await terminal.run(
                .server, ["user", "delete", "alice", "--data-dir", site.dataDirectory], home: site.folder.url
            ) { _ in
                try await terminal.shows("Type the user name to confirm: ")
                terminal.type(typed)
            }
            #expect(ended == status, "\(terminal.text)")
            #expect(terminal.text.contains("This deletes the user alice <alice@example.com>. It cannot be undone."))
            try await terminal.shows(shown)
            let found = try await site.administer(["user", "show", "alice"])
            #expect(found.status == (status == 0 ? 3 : 0))
        }
    }
}
