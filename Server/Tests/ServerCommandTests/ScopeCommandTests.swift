import Foundation
import TestSupport
import Testing

/// `scope list`, `scope edit` and `scope delete`, for scripts and for people, while a server runs.
@Suite(.timeLimit(.minutes(10)))
struct ScopeCommandTests {
    private static func objects(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    @Test func `standard scopes are listed, and others if so configured`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let list = try await site.administer(["scope", "list"])
            #expect(list.status == 0)
            #expect(list.output.contains("\nopenid  listed  unticked  Sign you in\n"))
            #expect(list.output.contains("\nphotos.read  unlisted  unticked  See your photos and albums\n"))

            let edited = try await site.administer(
                ["scope", "edit", "photos.read", "--listed", "--starts-ticked", "--description", "See all photos"])
            #expect(edited.output == "photos.read  listed  ticked  See all photos\n")
            let back = try await site.administer(["scope", "edit", "photos.read", "--no-starts-ticked", "--json"])
            #expect(
                back.output == #"""
                    {"description":"See all photos","listed":true,"reserved":false,"scope":"photos.read",\#
                    "standard":false,"starts_ticked":false,"texts":{}}

                    """#)
            let reserved = try await site.administer(["scope", "edit", "photos.read", "--reserved"])
            #expect(reserved.output == "photos.read  listed  unticked  reserved  See all photos\n")
            _ = try await site.administer(["scope", "edit", "photos.read", "--no-reserved"])
            let scopes = try Self.objects(try await site.administer(["scope", "list", "--json"]).output)
            #expect(scopes.count == 7)
            #expect(scopes.filter { $0["standard"] as? Bool == true }.count == 6)
            #expect(scopes.allSatisfy { $0["listed"] as? Bool == true })
        }
    }

    @Test func `a scope has a text in each language, and one is removed`() async throws {
        try await Site.make { site in
            let created = try await site.administer([
                "scope", "create", "photos.read", "--description", "See your photos", "--text", "de=Ihre Fotos sehen",
                "--text", "fr=Voir vos photos = tout", "--json",
            ])
            #expect(created.status == 0)
            #expect(created.output.contains(#""texts":{"de":"Ihre Fotos sehen","fr":"Voir vos photos = tout"}"#))
            let edited = try await site.administer(
                ["scope", "edit", "photos.read", "--text", "de=", "--text", "nb=Se bildene dine", "--json"])
            #expect(
                edited.output.contains(#""texts":{"fr":"Voir vos photos = tout","nb":"Se bildene dine"}"#))
            for text in ["xx=Hello", "de", "de=\u{202E}Fotos", "de=\(String(repeating: "a", count: 201))"] {
                let refused = try await site.administer(["scope", "edit", "photos.read", "--text", text])
                #expect(refused.status == 64, "\(text)")
            }
            let events = try await site.administer(["audit", "list"]).output
            #expect(events.contains("changed the scope photos.read, texts: de nb"))
        }
    }

    @Test func `an invalid scope is refused`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            for (command, status) in [
                (["edit", "photos.read"], Int32(64)), (["edit", "photos.read", "--description", ""], 64),
                (["edit", "photos.read", "--description", "See\nall"], 64),
                (["create", "photos.all", "--description", "See\u{202E}all"], 64),
                (["create", "photos.all", "--description", "\u{200B}"], 64),
                (["create", "photos.all", "--description", String(repeating: "a", count: 201)], 64),
                (["edit", "photos.write", "--listed"], 3), (["edit", "openid", "--no-listed"], 3),
                (["delete", "openid", "--remove-from-all"], 3), (["delete", "photos.write"], 3),
                (["create", "offline_access", "--description", "Stay"], 3),
                (["create", "photos.read", "--description", "Again"], 3),
            ] {
                let ended = try await site.administer(["scope"] + command)
                #expect(ended.status == status, "\(command)")
                #expect(ended.output.isEmpty)
            }
        }
    }

    @Test func `a scope in use names its clients and APIs, and is removed from them on request`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let api = "https://photos.example.com"
            _ = try await site.administer(
                ["resource", "create", api, "--name", "Photo library", "--scope", "photos.read"])
            let created = try await site.administer([
                "app", "create", "--name", "Lightbox", "--type", "native", "--redirect-uri", "http://127.0.0.1/cb",
                "--scope", "openid", "--scope", "photos.read", "--json",
            ])
            let client = try #require(
                try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any])
            let id = try #require(client["client_id"] as? String)

            let refused = try await site.administer(["scope", "delete", "photos.read"])
            #expect(refused.status == 3)
            #expect(
                refused.errors == """
                    counterfoil-server: --remove-from-all: photos.read is used by \(id), \(api). Set it to remove the \
                    scope from them, too.

                    """)
            let removed = try await site.administer(["scope", "delete", "photos.read", "--remove-from-all"])
            #expect(removed.output == "Deleted photos.read, and removed it from \(id), \(api).\n")
            #expect(try await site.administer(["scope", "list"]).output.contains("photos.read") == false)
            #expect(try await site.administer(["app", "show", id]).output.contains("photos.read") == false)
            #expect(try await site.administer(["resource", "list", "--json"]).output.contains("photos.read") == false)
            let again = try await site.administer(["scope", "delete", "photos.read"])
            #expect(again.status == 3)
            #expect(
                again.errors
                    == "counterfoil-server: there is no scope named photos.read; see: counterfoil-server scope list\n")
        }
    }
}
