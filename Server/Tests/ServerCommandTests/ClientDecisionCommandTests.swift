import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// `app approve`, `app suspend` and `app resume`, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct ClientDecisionCommandTests {
    private static func shown(_ clientID: String, at site: Site) async throws -> [String: Any] {
        try ClientCommandTests.object(try await site.administer(["app", "show", clientID, "--json"]).output)
    }

    @Test func `a suspension has a reason, and is listed and shown until it ends`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            let suspended = try await site.administer(["app", "suspend", id, "--reason", " It sends mail. "])
            #expect(suspended.status == 0, "\(suspended.errors)")
            #expect(suspended.output.hasPrefix("Suspended the app "))
            #expect(try await site.administer(["app", "list"]).output.contains("  suspended"))
            let words = try await site.administer(["app", "show", id]).output
            #expect(words.contains("\n  SUSPENDED on ") && words.contains(": It sends mail.\n"))
            let suspension = try await Self.shown(id, at: site)["suspension"] as? [String: Any]
            #expect(suspension?["reason"] as? String == "It sends mail.")
            let twice = try await site.administer(["app", "suspend", id, "--reason", "Again"])
            #expect(twice.status == 3)
            #expect(twice.errors == "counterfoil-server: the app \(id) is suspended already\n")

            let resumed = try await site.administer(["app", "resume", id, "--json"])
            #expect(try ClientCommandTests.object(resumed.output)["suspension"] == nil)
            #expect(try await site.administer(["app", "resume", id]).status == 3)
            let audit = try await site.administer(["audit", "list", "--kind", "application", "--json"]).output
            for detail in ["suspended: It sends mail.", "resumed"] {
                #expect(audit.contains("at the command line: \(detail)\""), "\(audit)")
            }
        }
    }

    @Test func `an app of an administrator is approved, and only one that is not can be`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            #expect(try await Self.shown(id, at: site)["approval"] as? String == "approved")
            let refused = try await site.administer(["app", "approve", id])
            #expect(refused.status == 3)
            #expect(refused.errors == "counterfoil-server: the app \(id) is approved already\n")
            let edited = try await site.administer(["app", "edit", id, "--tester", "Bob", "--tester", "eve", "--json"])
            #expect(try ClientCommandTests.object(edited.output)["testers"] as? [String] == ["bob", "eve"])
            #expect(try await Self.shown(id, at: site)["approval"] as? String == "approved")
        }
    }

    @Test func `an approval is for the revision that is named, and says what was approved`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            // The command registers an approved app.
            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            let identifier = try #require(ClientIdentifier(id))
            var client = try #require(try await store.client(identifier))
            client.approval = .open
            #expect(try await store.updateClient(client, logo: .keep, recording: []) == .updated)
            await store.close()
            let revision = try #require(try await Self.shown(id, at: site)["revision"] as? Int)
            let refused = try await site.administer(["app", "approve", id, "--revision", String(revision - 1)])
            #expect(refused.status == 3 && refused.output.isEmpty)
            #expect(refused.errors.contains("has the revision \(revision) now"))
            let approved = try await site.administer(["app", "approve", id, "--revision", String(revision)])
            #expect(approved.status == 0, "\(approved.errors)")
            for line in ["Approved the app ", "\n  redirect URI: ", "\n  scope: "] {
                #expect(approved.output.contains(line), "\(approved.output)")
            }
        }
    }

    @Test func `a wrong decision is refused`() async throws {
        try await Site.make { site in
            for (command, status) in [
                (["suspend", "app_unknown"], Int32(64)), (["suspend", "app_unknown", "--reason", ""], 64),
                (["suspend", "app_unknown", "--reason", "a\nb"], 64),
                (["suspend", "app_unknown", "--reason", String(repeating: "a", count: 501)], 64),
                (["suspend", "app_unknown", "--reason", "Spam"], 3), (["resume", "app_unknown"], 3),
                (["approve", "app_unknown"], 3),
            ] {
                let ended = try await site.administer(["app"] + command)
                #expect(ended.status == status, "\(command)")
                #expect(ended.output.isEmpty)
            }
        }
    }
}
