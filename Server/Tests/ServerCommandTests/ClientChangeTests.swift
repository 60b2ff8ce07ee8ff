import Foundation
import TestSupport
import Testing

/// `app edit`, `app check`, `app secret` and `app delete`, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct ClientChangeTests {
    private static func shown(_ clientID: String, at site: Site) async throws -> [String: Any] {
        try ClientCommandTests.object(try await site.administer(["app", "show", clientID, "--json"]).output)
    }

    private static func webClient(at site: Site) async throws -> (id: String, secret: String) {
        let created = try await site.administer([
            "app", "create", "--type", "web", "--name", "Gallery", "--redirect-uri", "https://app.example.com/callback",
            "--json",
        ])
        let client = try ClientCommandTests.object(created.output)
        return (
            try #require(client["client_id"] as? String), try #require(client["client_secret"] as? String)
        )
    }

    @Test func `an edit changes the given settings and nothing else`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient(options: ["--publisher", "Lightbox AS"])
            let before = try await Self.shown(id, at: site)
            let edited = try await site.administer([
                "app", "edit", id, "--pkce", "s256-or-plain", "--access-token-lifetime", "900", "--json",
            ])
            #expect(edited.status == 0, "\(edited.errors)")
            var after = try await Self.shown(id, at: site)
            #expect(after["pkce"] as? String == "s256-or-plain")
            #expect(after["access_token_lifetime"] as? Int == 900)
            #expect(after["revision"] as? Int == 1)
            for name in ["pkce", "access_token_lifetime", "revision", "changed_at"] { after[name] = before[name] }
            #expect(after as NSDictionary == before as NSDictionary)
        }
    }

    @Test func `the developer of an app is a user who finds it under My Apps`() async throws {
        try await Site.make { site in
            let user = try await site.administer(
                ["user", "create", "dora", "--email", "dora@example.com", "--password-stdin"],
                input: "correct horse battery staple\n")
            #expect(user.status == 0, "\(user.errors)")
            let create = ClientCommandTests.create(redirectURI: "http://127.0.0.1/callback")
            let created = try await site.administer(create + ["--developer", "dora", "--json"])
            #expect(created.status == 0, "\(created.errors)")
            let client = try ClientCommandTests.object(created.output)
            #expect(client["developer"] as? String == "dora")
            let owner = try #require(client["owner"] as? String)
            let id = try #require(client["client_id"] as? String)
            #expect(try await site.administer(["app", "show", id]).output.contains("\n  developer: dora\n"))

            let cleared = try await site.administer(["app", "edit", id, "--developer", ""])
            #expect(cleared.status == 0 && !cleared.output.contains("developer: "))
            #expect(try await Self.shown(id, at: site)["owner"] == nil)
            let given = try await site.administer(["app", "edit", id, "--developer", "dora"])
            #expect(given.output.contains("\n  developer: dora\n"))
            #expect(try await Self.shown(id, at: site)["owner"] as? String == owner)
            let log = try await site.administer(["audit", "list", "--client", id])
            #expect(log.output.components(separatedBy: "given to a developer").count == 3, "\(log.output)")
            #expect(log.output.contains("taken from its developer"))

            for arguments in [create + ["--developer", "nobody"], ["app", "edit", id, "--developer", "nobody"]] {
                #expect(try await site.administer(arguments).errors.contains("nobody"))
            }
        }
    }

    @Test func `apps are searched and sorted, and users manage one with its owner`() async throws {
        try await Site.make { site in
            for name in ["dora", "bob"] {
                let user = try await site.administer(
                    ["user", "create", name, "--email", "\(name)@example.com", "--password-stdin"],
                    input: "correct horse battery staple\n")
                #expect(user.status == 0, "\(user.errors)")
            }
            try await site.addScope("photos.read", "See your photos and albums")
            let (zoom, _) = try await Self.webClient(at: site)
            let id = try await site.registerClient(options: ["--developer", "dora"])
            func ids(_ options: String...) async throws -> [String] {
                let list = try await site.administer(["app", "list", "--json"] + options)
                let clients = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
                return try #require(clients).compactMap { $0["client_id"] as? String }
            }
            #expect(try await ids() == [zoom, id])
            #expect(try await ids("--sort", "newest") == [id, zoom])
            #expect(try await ids("--search", "GALL") == [zoom])
            #expect(try await ids("--search", "dora", "--limit", "1") == [id])
            #expect(try await ids("--state", "suspended").isEmpty)
            #expect(try await site.administer(["app", "list", "--search", "%"]).errors.contains("No app matches."))
            let use = try #require(try await Self.shown(id, at: site)["use"] as? [String: Any])
            #expect(use["users"] as? Int == 0 && use["is_exact"] as? Bool == true && use["last_used_at"] == nil)

            let none = try await site.administer(["app", "developers", id])
            #expect(none.output.hasPrefix("No one but its owner manages"))
            let added = try await site.administer(["app", "developers", id, "--add", "bob"])
            #expect(added.output.hasPrefix("bob  since 20"), "\(added.errors)")
            #expect(try await Self.shown(id, at: site)["developers"] as? [String] == ["bob"])
            #expect(try await ids("--developer", "bob") == [id])
            let removed = try await site.administer(["app", "developers", id, "--remove", "bob", "--json"])
            #expect(removed.output == "[]\n")
            let unknown = try await site.administer(["app", "developers", id, "--add", "nobody"])
            #expect(unknown.status == 3 && unknown.errors.contains("nobody"))
            let log = try await site.administer(["audit", "list", "--client", id]).output
            for detail in ["manages an app", "manages an app no more"] { #expect(log.contains(detail), "\(log)") }
            for options in [["--limit", "0"], ["--sort", "owner"], ["--state", "off"], ["--search", ""]] {
                #expect(try await site.administer(["app", "list"] + options).status == 64)
            }
        }
    }

    @Test func `a list replaces the list, and an empty value clears it`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient(options: [
                "--publisher", "Lightbox AS", "--privacy-uri", "https://app.example.com/privacy", "--ios-app",
                "ABCDE12345.com.example.lightbox", "--access-token-lifetime", "900", "--first-party",
            ])
            let edited = try await site.administer([
                "app", "edit", id, "--name", "Darkroom", "--redirect-uri", "com.example.darkroom:/callback",
                "--redirect-uri", "http://[::1]/callback", "--scope", "openid", "--publisher", "", "--privacy-uri", "",
                "--ios-app", "", "--access-token-lifetime", "", "--no-first-party", "--json",
            ])
            #expect(edited.status == 0, "\(edited.errors)")
            let after = try await Self.shown(id, at: site)
            #expect(after["client_name"] as? String == "Darkroom")
            #expect(
                after["redirect_uris"] as? [String] == ["com.example.darkroom:/callback", "http://[::1]/callback"])
            #expect(after["scope"] as? String == "openid")
            for name in ["publisher", "policy_uri", "access_token_lifetime"] { #expect(after[name] == nil) }
            #expect(after["apple_apps"] as? [String] == [])
            #expect(after["first_party"] as? Bool == false)
        }
    }

    // An edit follows the rules of a registration, and a refused edit changes nothing.
    @Test(arguments: [
        ["--redirect-uri", "myapp:/cb"], ["--redirect-uri", ""], ["--name", ""], ["--scope", "unknown"],
        ["--pkce", "exempt-until:2020-01-01"], ["--web-views", "x"], ["--claimed-https-verified"],
    ])
    func `an invalid edit changes nothing`(arguments: [String]) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            let before = try await Self.shown(id, at: site)
            let ended = try await site.administer(["app", "edit", id] + arguments)
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(try await Self.shown(id, at: site) as NSDictionary == before as NSDictionary)
        }
    }

    @Test func `a logo is added and removed`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            let file = site.folder.path("logo.png")
            let pixel =
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
            try #require(Data(base64Encoded: pixel)).write(to: URL(fileURLWithPath: file))
            #expect(try await site.administer(["app", "edit", id, "--logo", file]).status == 0)
            #expect(try await Self.shown(id, at: site)["logo"] is String)
            #expect(try await site.administer(["app", "edit", id, "--name", "Darkroom"]).status == 0)
            #expect(try await Self.shown(id, at: site)["logo"] is String)
            #expect(try await site.administer(["app", "edit", id, "--remove-logo"]).status == 0)
            #expect(try await Self.shown(id, at: site)["logo"] == nil)
        }
    }

    @Test(arguments: [[], ["--logo", "x", "--remove-logo"]])
    func `an edit without a change, or with contradicting options, is wrong usage`(arguments: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["app", "edit", "app_x"] + arguments)
            #expect(ended.status == 64)
        }
    }

    // The command gives the same verdict as the server.
    @Test func `a check states whether a redirect URI would match`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let id = try await site.registerClient()
            for uri in ["http://127.0.0.1:51004/callback", "http://127.0.0.1/callback"] {
                let ended = try await site.administer(["app", "check", id, uri])
                #expect(ended.status == 0)
                #expect(ended.output.hasPrefix("matches http://127.0.0.1/callback"))
                #expect(ended.errors.isEmpty)
            }
            for (uri, difference) in [
                ("http://localhost:51004/callback", "localhost, 127.0.0.1 and [::1] are not interchangeable."),
                ("http://127.0.0.1:51004/other", "The path differs."),
                ("http://127.0.0.1:51004/callback/", "The slash at the end differs."),
                ("https://127.0.0.1/callback", "http and https are not the same."), ("x", nil), ("", nil),
            ] {
                let ended = try await site.administer(["app", "check", id, uri])
                #expect(ended.status == 1)
                #expect(ended.output.hasPrefix("does not match: "))
                let lines = ended.output.split(separator: "\n").dropFirst().map(String.init)
                #expect(
                    lines
                        == (difference.map { ["  nearest registered URI: http://127.0.0.1/callback", "  \($0)"] } ?? [])
                )
                let json = try ClientCommandTests.object(
                    try await site.administer(["app", "check", id, uri, "--json"]).output)
                #expect(json["matches"] as? Bool == false)
                #expect(json["reason"] is String)
                #expect(json["nearest"] as? String == difference.map { _ in "http://127.0.0.1/callback" })
                #expect(json["differences"] as? [String] == difference.map { [$0] })
            }
            let unknown = try await site.administer(["app", "check", "nobody", "http://127.0.0.1/callback"])
            #expect(unknown.status == 3)
        }
    }

    // Two secrets can be valid at the same time, so that one can replace the other.
    @Test func `a secret is added, shown once and deleted`() async throws {
        try await Site.make { site in
            let first = try await Self.webClient(at: site)
            let added = try await site.administer(["app", "secret", first.id, "--json"])
            #expect(added.status == 0)
            let second = try #require(
                try ClientCommandTests.object(added.output)["client_secret"] as? String)
            #expect(second != first.secret)
            let third = try await site.administer(["app", "secret", first.id])
            #expect(third.status == 3)
            #expect(third.errors.contains("--remove oldest"))

            let secrets = try #require(try await Self.shown(first.id, at: site)["client_secrets"] as? [[String: Any]])
            let ids = secrets.compactMap { $0["id"] as? String }
            #expect(ids.count == 2)
            let ended = try await site.administer(["app", "secret", first.id, "--remove", "oldest"])
            #expect(ended.status == 0)
            #expect(ended.output.contains(ids[0]))
            let unknown = try await site.administer(["app", "secret", first.id, "--remove", ids[0]])
            #expect(unknown.status == 3)
            let last = try await site.administer([
                "app", "secret", first.id, "--remove", ids[1], "--json",
            ])
            #expect(try ClientCommandTests.object(last.output)["secrets_left"] as? Int == 0)
            #expect(try await Self.shown(first.id, at: site)["client_secrets"] == nil)
        }
    }

    @Test func `a deleted client is not found`() async throws {
        try await Site.make { site in
            let id = try await Self.webClient(at: site).id
            let ended = try await site.administer(["app", "delete", id])
            #expect(ended.status == 0)
            #expect(ended.output == "Deleted Gallery, \(id), with all consent that users gave to it.\n")
            #expect(try await site.administer(["app", "list", "--json"]).output == "[]\n")
            for command in [["delete", id], ["show", id], ["secret", id], ["edit", id, "--name", "x"]] {
                let again = try await site.administer(["app"] + command)
                #expect(again.status == 3)
                #expect(
                    again.errors
                        == "counterfoil-server: there is no app with the client_id \(id); see: counterfoil-server app list\n"
                )
            }
        }
    }
}
