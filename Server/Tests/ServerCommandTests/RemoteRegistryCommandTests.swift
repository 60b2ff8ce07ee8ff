import Foundation
import TestSupport
import Testing

/// `scope`, `resource`, `branding`, `registration-token` and `unregistered` over the administration API: they print
/// what they print on the store.
@Suite(.timeLimit(.minutes(10)))
struct RemoteRegistryCommandTests {
    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `scopes are managed over the API`() async throws {
        try await RemoteServer.run(["apis:read", "apis:write"]) { server in
            let names = ["photos.": "maps."]
            func create(_ name: String) -> [String] { ["scope", "create", name, "--description", "See them"] }
            let options = [
                "--text", "de=Sie sehen", "--listed", "--claims", "groups", "--claims-in", "id_token,userinfo",
                "--json",
            ]
            try await server.compare(create("photos.read") + options, onStore: names)
            try await server.compare(create("photos.write"), onStore: names)
            let edit = ["scope", "edit", "photos.read", "--starts-ticked", "--text", "de=", "--claims", ""]
            try await server.compare(edit, onStore: names)
            try await server.compare(edit + ["--reserved", "--json"], onStore: names)
            try await server.compare(["scope", "list"])
            let list = try await server.compare(["scope", "list", "--json"])
            #expect(list.output.contains("photos.write") && list.output.contains("maps.write"))

            try await server.compare(create("photos.read"), status: 3)
            let standard = try await server.compare(["scope", "edit", "openid", "--no-listed"], status: 3)
            #expect(standard.errors.hasPrefix("counterfoil-server: --no-listed: "))
            let none = try await server.compare(["scope", "edit", "none.such", "--listed"], status: 3)
            #expect(none.errors.contains("there is no scope named none.such"))
            let api = "https://photos.example.com"
            #expect(
                try await server.run(["resource", "create", api, "--name", "Photos", "--scope", "photos.read"]).status
                    == 0)
            let delete = ["scope", "delete", "photos.read"]
            let used = try await server.compare(delete, status: 3)
            #expect(used.errors.contains("--remove-from-all: photos.read is used by \(api)."))

            let reader = try await server.limited(to: ["apis:read"])
            let refused = try await reader.run(delete + ["--remove-from-all"])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("counterfoil.admin.apis:write"), "\(refused.errors)")
            let deleted = try await server.run(delete + ["--remove-from-all"])
            #expect(deleted.output == "Deleted photos.read, and removed it from \(api).\n")
            try await server.compare(["scope", "delete", "photos.write", "--json"], onStore: names)
            try await server.compare(delete, status: 3)
        }
    }

    @Test func `APIs are named by their URIs over the API, too`() async throws {
        try await RemoteServer.run(["apis:read", "apis:write"]) { server in
            for name in ["photos.read", "photos.write"] { try await server.site.addScope(name, "See your photos") }
            let names = ["https://photos.": "https://maps."]
            let (photos, prints) = ("https://photos.example.com", "https://photos.example.net")
            func create(_ uri: String) -> [String] {
                ["resource", "create", uri, "--name", "Library", "--scope", "photos.read"]
            }
            let secrets = #/api_[\w\-]+|client_secret: \S+|"client_secret":"[^"]+"|"created_at":\d+/#
            let created = try await server.compare(
                create(photos) + ["--bound-tokens-only", "--json"], onStore: names, ignoring: secrets)
            #expect(created.output.contains(#""client_secret":""#))
            try await server.compare(create(prints), onStore: names, ignoring: secrets)
            let edit = ["--name", " Albums ", "--scope", "photos.read photos.write", "--jwt-type", "jwt"]
            try await server.compare(["resource", "edit", photos + "/"] + edit, onStore: names, ignoring: secrets)
            try await server.compare(
                ["resource", "edit", photos, "--no-bound-tokens-only", "--json"], onStore: names, ignoring: secrets)
            try await server.compare(["resource", "list"])
            try await server.compare(["resource", "list", "--json"])
            try await server.compare(["resource", "secret", photos], onStore: names, ignoring: secrets)
            let replaced = try await server.compare(
                ["resource", "secret", photos, "--json"], onStore: names, ignoring: secrets)
            #expect(
                try Self.object(replaced.output)["client_secret"] as? String
                    != Self.object(created.output)["client_secret"] as? String)

            let taken = try await server.compare(create(photos + "/"), status: 3)
            #expect(taken.errors.contains("Another API has the URI \(photos), which is the same."))
            try await server.compare(["resource", "edit", photos, "--scope", "none.such"], status: 3)
            for command in ["secret", "delete"] {
                let none = try await server.compare(["resource", command, "https://none.example.com"], status: 3)
                #expect(none.errors.contains("there is no API with the URI https://none.example.com"))
            }
            let reader = try await server.limited(to: ["apis:read"])
            let refused = try await reader.run(["resource", "delete", photos])
            #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin.apis:write"))
            try await server.compare(["resource", "delete", photos], onStore: names)
            try await server.compare(["resource", "delete", prints, "--json"], onStore: names, ignoring: secrets)
        }
    }

    @Test func `the branding is shown and changed over the API`() async throws {
        try await RemoteServer.run(["server:read", "server:write"]) { server in
            try await server.compare(["branding", "show"])
            let file = server.site.folder.path("words.md")
            try Data("**Only** employees.\n\nAsk the help desk.".utf8).write(to: URL(fileURLWithPath: file))
            try await server.compare([
                "branding", "edit", "--name", "Prints", "--accent", "#2352c5", "--support-uri",
                "mailto:help@example.com", "--language", "nb", "--consent-text", file,
            ])
            try await server.compare(["branding", "edit", "--privacy-uri", "https://example.com/privacy", "--json"])
            let shown = try await server.compare(["branding", "show"])
            #expect(shown.output.contains("text (nb):\n  **Only** employees.\n\n  Ask the help desk.\n"))
            try await server.compare(["branding", "show", "--json"])
            let long = server.site.folder.path("long.md")
            try Data(String(repeating: "a", count: 5000).utf8).write(to: URL(fileURLWithPath: long))
            for (option, value) in [
                ("--accent", "red"), ("--privacy-uri", "http://example.com"), ("--consent-text", long),
            ] {
                let refused = try await server.compare(["branding", "edit", option, value], status: 3)
                #expect(refused.errors.hasPrefix("counterfoil-server: \(option): "), "\(refused.errors)")
            }
            let reader = try await server.limited(to: ["server:read"])
            let refused = try await reader.run(["branding", "edit", "--name", "Albums"])
            #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin.server:write"))
        }
    }

    @Test func `registration tokens are added, listed and removed over the API`() async throws {
        try await RemoteServer.run(["clients:read", "clients:write"]) { server in
            func ids() async throws -> [String] {
                let list = try await server.compare(["registration-token", "list"])
                return list.output.split(separator: "\n").compactMap {
                    $0.firstMatch(of: #/^[0-9a-f]{12}/#).map { String($0.output) }
                }
            }
            try await server.compare(["registration-token", "list"])
            let own = #/token: \S+|expires at \S+|remove \S+|"(?:id|token)":"[^"]+"|"(?:created|expires)_at":\d+/#
            try await server.compare(["registration-token", "add", "Build"], ignoring: own)
            try await server.compare(
                ["registration-token", "add", "Build", "--days", "30", "--json"], ignoring: own)
            try await server.compare(["registration-token", "list", "--json"])
            let tokens = try await ids()
            #expect(tokens.count == 4)
            let reader = try await server.limited(to: ["clients:read"])
            let refused = try await reader.run(["registration-token", "remove", tokens[0]])
            #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin.clients:write"))
            try await server.compare(
                ["registration-token", "remove", tokens[0]], onStore: [tokens[0]: tokens[1]])
            try await server.compare(
                ["registration-token", "remove", tokens[2], "--json"], onStore: [tokens[2]: tokens[3]],
                ignoring: own)
            let none = try await server.compare(["registration-token", "remove", tokens[0]], status: 3)
            #expect(none.errors.contains("there is no token with an id that starts with \(tokens[0])"))
            try await server.compare(["registration-token", "list", "--json"])
        }
    }

    @Test func `unregistered apps and the policy for them are managed over the API`() async throws {
        try await RemoteServer.run(["clients:read", "clients:write"]) { server in
            try await server.site.addScope("photos.read", "See your photos")
            let names = ["app.example": "web.example"]
            let apps = (1...4).map { "https://app.example.com/\($0)" }
            try await UnregisteredCommandTests.store(
                apps + apps.map { $0.replacing("app.example", with: "web.example") }, in: server.site)
            try await server.compare(["unregistered", "show"])
            let edit = ["unregistered", "edit"]
            try await server.compare(
                edit + ["--accept", "documents", "--maximum-scope", "openid photos.read", "--refresh-lifetime", "6000"])
            try await server.compare(edit + ["--maximum-scope", "", "--refresh-lifetime", "", "--json"])
            try await server.compare(["unregistered", "show", "--json"])
            for (option, value) in [("--accept", "all"), ("--default-scope", "none"), ("--refresh-lifetime", "5")] {
                let refused = try await server.compare(edit + [option, value], status: 3)
                #expect(refused.errors.hasPrefix("counterfoil-server: \(option): "), "\(refused.errors)")
            }

            let list = ["unregistered", "list"]
            for options in [[], ["--registrations"], ["--host", "app.example.com", "--limit", "3"]] {
                try await server.compare(list + options)
                try await server.compare(list + options + ["--json"])
            }
            let rest = try await server.compare(list + ["--host", "app.example.com", "--after", apps[1]])
            #expect(!rest.output.isEmpty && !rest.output.contains(apps[1]))
            try await server.compare(list + ["--host", "app.example.com", "--after", "https://a.example/"], status: 3)

            try await server.compare(["unregistered", "adopt", apps[0]], onStore: names)
            try await server.compare(
                ["unregistered", "adopt", apps[1], "--json"], onStore: names, ignoring: /"changed_at":\d+/)
            let adopted = try await server.compare(["unregistered", "adopt", apps[0]], status: 3)
            #expect(adopted.errors.contains("the app \(apps[0]) is registered"))
            let delete = ["unregistered", "delete", apps[2]]
            let reader = try await server.limited(to: ["clients:read"])
            let refused = try await reader.run(delete)
            #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin.clients:write"))
            try await server.compare(delete, onStore: names)
            let none = try await server.compare(delete, status: 3)
            #expect(none.errors.contains("there is no unregistered app with the client_id \(apps[2])"))
            let deleteHost = ["unregistered", "delete-host", "app.example.com"]
            let host = try await server.compare(deleteHost + ["--refuse", "--json"], onStore: names)
            #expect(try Self.object(host.output)["deleted"] as? Int == 1)
            try await server.compare(deleteHost)
            try await server.compare(["unregistered", "show"])
        }
    }
}
