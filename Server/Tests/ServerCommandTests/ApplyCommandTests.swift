import CounterfoilProtocol
import CounterfoilServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

import struct TestSupport.Site

@testable import counterfoil_server

/// `apply`, on a data directory and over the administration API.
@Suite(.timeLimit(.minutes(10)))
struct ApplyCommandTests {
    private static let state = """
        scopes:
          - scope: photos.read
            description: See your photos
            texts: {de: Ihre Fotos sehen}
        apis:
          - resource: https://photos.example.com
            name: Photos
            scope: photos.read
        clients:
          - client_id: lightbox
            application_type: native
            client_name: Lightbox
            redirect_uris: [http://127.0.0.1/callback]
            scope: openid photos.read
        unregistered_policy:
          kinds: documents
          allowed_hosts: ["*.example.com"]
        branding:
          site_name: Example Photos
          statements:
            en:
              text: |
                *Example* keeps & shows your photos, &c.
        """

    /// Writes a file, and applies it.
    private static func apply(
        _ text: String, _ options: [String] = [], on site: Site, input: String? = nil
    ) async throws -> EndedProgram {
        let path = site.folder.path("state.yaml")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        guard options.contains("--remote") else {
            return try await site.administer(["apply", path] + options, input: input)
        }
        return try await site.server(["apply", path] + options, input: input)
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `a state is created once, and a change of the file is the only change`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let created = try await Self.apply(Self.state, on: site)
            #expect(created.status == 0, "\(created.errors)")
            #expect(created.output.contains("+ app lightbox\n"))
            #expect(created.output.hasSuffix("3 to create, 2 to change, 0 to remove, 0 to leave alone\n"))
            #expect(created.errors.contains("resource secret https://photos.example.com"))
            let again = try await Self.apply(Self.state, ["--dry-run"], on: site)
            #expect(again.status == 0, "\(again.output)\(again.errors)")
            #expect(again.output.hasSuffix("0 to create, 0 to change, 0 to remove, 5 to leave alone\n"))

            let other =
                Self.state.replacing("Lightbox", with: "Lightbox 2")
                + "\nusers: [{username: Alice, role: auditor}]\n"
            let changed = try await Self.apply(other, ["--json"], on: site)
            let document = try Self.object(changed.output)
            #expect(document["applied"] as? Int == 2)
            let changes = try #require(document["changes"] as? [[String: Any]])
            #expect(changes.map { $0["name"] as? String } == ["lightbox", "alice"])
            let members = try #require(changes[0]["members"] as? [[String: Any]])
            #expect(members.map { $0["name"] as? String } == ["client_name"])
            #expect(members[0]["from"] as? String == "Lightbox" && members[0]["to"] as? String == "Lightbox 2")
            #expect(try await site.administer(["app", "list"]).output.contains("Lightbox 2"))
            #expect(try await site.administer(["user", "show", "alice"]).output.contains("auditor"))
            let events = try await site.administer(["audit", "list"]).output
            #expect(events.contains("at the command line: role changed from none to auditor"))
        }
    }

    @Test func `a dry run prints each member, changes nothing and ends with 1`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos")
            let text = "scopes: [{scope: photos.read, description: See all photos}, {scope: b.c, description: Do b}]"
            let before = try await site.administer(["audit", "list"]).output
            let dry = try await Self.apply(text, ["--dry-run"], on: site)
            #expect(dry.status == 1)
            #expect(
                dry.output == """
                    ~ scope photos.read
                        description: "See your photos" → "See all photos"
                    + scope b.c
                        description: "Do b"
                    1 to create, 1 to change, 0 to remove, 0 to leave alone

                    """)
            #expect(try await site.administer(["audit", "list"]).output == before)
        }
    }

    @Test func `a mistake in the file is an error with its place, and nothing is changed`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos")
            let client = "clients:\n  - client_id: lightbox\n    application_type: native\n    client_name: Lightbox\n"
            let before = try await site.administer(["audit", "list"]).output
            for (text, place) in [
                (client + "    redirect_uri: a\n", "line 5, column 5: clients[0].redirect_uri: "),
                (client + "    client_name: B\n", "line 4, column 5: client_name occurs twice"),
                (client + client.dropFirst("clients:\n".count), "line 5, column 5: "),
                (client + "    logo_image: iVBO\n", "line 5, column 5: clients[0].logo_image: A file cannot"),
                (client + "    first_party: maybe\n", "line 5, column 5: clients[0].first_party: It must be true"),
                ("client: []\n", "line 1, column 1: client: "), ("- a\n", "line 1, column 1: "),
                ("clients: {}\n", "clients: it must be a list"), ("a: [\n", "not YAML"),
                (
                    "scopes: [{scope: b.c, description: B}]\nclients: [{client_id: x, client_name: X}]\n",
                    "clients[0].application_type: "
                ),
                (
                    "apis: [{resource: 'https://a.example', name: A, scope: b.c}]",
                    "apis[0].scope: there is no scope named b.c"
                ),
                ("users: [{username: nobody, role: owner}]", "users[0].username: there is no such user"),
                ("users: [{username: nobody, role: king}]", "users[0].role: "),
                ("scopes: &a [{scope: b.c}]\n", "line 1, column 9: an anchor"),
                ("scopes:\t&a [{scope: b.c}]\n", "line 1, column 9: an anchor"),
                ("scopes:\r  &a [{scope: b.c}]\r", "line 2, column 3: an anchor"), (Self.aliases, "an anchor"),
                ("scopes: [*a]\n", "line 1, column 10: not YAML"),
                (client + "    jwks: {keys: [{kty: EC, d: c2VjcmV0}]}\n", "clients[0].jwks: it has a private key"),
                (String(repeating: "[", count: 100_000), "more than 12 levels"),
                (String(repeating: "- ", count: 20_000), "more than 12 levels"),
                ("a: " + String(repeating: "[", count: 20) + String(repeating: "]", count: 20), "more than 12 levels"),
                ("scopes: []\n---\nscopes: []\n", "a second document"),
                (
                    "remove: {scopes: [photos.read]}\nscopes: [{scope: photos.read, description: A}]",
                    "declares scope photos.read, too"
                ),
                (
                    "scopes: [{scope: d.e, description: D}]\nclients:\n"
                        + "  - {client_id: a/b, client_name: A, application_type: native}\n",
                    "clients[0].client_id: a chosen client_id may contain"
                ),
            ] {
                let ended = try await Self.apply(text, on: site)
                #expect(ended.status == 3, "\(text.prefix(80)): \(ended.errors)")
                #expect(ended.errors.contains(place), "\(text.prefix(80)): \(ended.errors)")
                #expect(!(ended.output + ended.errors).contains("c2VjcmV0"))
            }
            let large = try await Self.apply("# " + String(repeating: "x", count: 1_100_000), on: site)
            #expect(large.status == 3)
            #expect(try await site.administer(["audit", "list"]).output == before)
        }
    }

    /// A short text whose aliases stand for 10¹² values, in the name of a member.
    private static let aliases =
        "a0:\t&a0 [1]\n"
        + (1...12).map { number in
            let former = Array(repeating: "*a\(number - 1)", count: 10).joined(separator: ", ")
            return "a\(number):\t&a\(number) [\(former)]\n"
        }.joined() + "? *a12\n: 1\n"

    @Test func `null clears a list of the policy, and the owner can change`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.add(.bob)
            let first = "unregistered_policy: {allowed_hosts: [a.example]}\nusers: [{username: alice, role: owner}]"
            #expect(try await Self.apply(first, on: site).status == 0)
            let second =
                "unregistered_policy: {allowed_hosts: null}\n"
                + "users: [{username: alice, role: null}, {username: bob, role: owner}]"
            let changed = try await Self.apply(second, on: site)
            #expect(changed.status == 0, "\(changed.errors)")
            let again = try await Self.apply(second, ["--dry-run"], on: site)
            #expect(again.status == 0, "\(again.output)")
        }
    }

    @Test func `a record is removed only if the file names it and the command asks for it`() async throws {
        try await Site.make { site in
            #expect(try await Self.apply(Self.state, on: site).status == 0)
            let removal = "remove: {clients: [lightbox], apis: [https://photos.example.com], scopes: [photos.read]}"
            let kept = try await Self.apply(removal, on: site)
            #expect(kept.status == 0)
            #expect(kept.output.contains("= app lightbox (--prune removes it)\n"))
            #expect(try await site.administer(["app", "show", "lightbox"]).status == 0)
            let removed = try await Self.apply(removal, ["--prune"], on: site)
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(removed.output.hasPrefix("- app lightbox\n- API https://photos.example.com\n- scope photos.read\n"))
            #expect(try await site.administer(["app", "show", "lightbox"]).status == 3)
            #expect(try await Self.apply(removal, ["--prune", "--dry-run"], on: site).status == 0)
        }
    }

    @Test func `the secret of a new app is in a file for its owner, and nowhere else`() async throws {
        try await Site.make { site in
            let text = """
                clients:
                  - client_id: prints
                    application_type: web
                    client_name: Prints
                    redirect_uris: [https://prints.example.com/callback]
                """
            let path = site.folder.path("secrets")
            let created = try await Self.apply(text, ["--secrets-file", path], on: site)
            #expect(created.status == 0, "\(created.errors)")
            let line = try Self.object(try String(contentsOfFile: path, encoding: .utf8))
            let secret = try #require(line["client_secret"] as? String)
            #expect(line["client_id"] as? String == "prints")
            #expect(!(created.output + created.errors).contains(secret))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // An existing file is not overwritten, and no app is created without it.
            let other = try await Self.apply(
                text.replacing("prints", with: "albums"), ["--secrets-file", path], on: site)
            #expect(other.status == 3 && other.errors.contains("name another one"))
            #expect(try await site.administer(["app", "show", "albums"]).status == 3)
            // A file without a secret does not stay, so the command can be repeated.
            let empty = site.folder.path("others")
            let refused = try await Self.apply(
                text.replacing("prints", with: "albums") + "\n    scope: openid no.such\n", ["--secrets-file", empty],
                on: site)
            #expect(refused.status == 3 && refused.errors.contains("not applied: app albums"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: empty))
        }
    }

    // MARK: - Over the API

    private static let rights = [
        "apis:read", "apis:write", "clients:read", "clients:write", "server:read", "server:write",
    ]

    @Test func `a state is applied over the API, with a token that is no argument`() async throws {
        try await RemoteServer.run(Self.rights) { server in
            let (site, remote, token) = (server.site, server.options, server.token)
            let created = try await Self.apply(Self.state, remote, on: site)
            #expect(created.status == 0, "\(created.errors)")
            #expect(try await site.administer(["app", "show", "lightbox"]).status == 0)
            let input = try await Self.apply(
                Self.state, ["--remote", site.issuer, "--token-file", "-", "--dry-run"], on: site,
                input: token.exposed + "\n")
            #expect(input.status == 0, "\(input.output)\(input.errors)")

            let forged = try await Self.apply(
                Self.state, ["--remote", site.issuer, "--token-file", "-"], on: site, input: "forged\n")
            #expect(forged.status == 3 && forged.errors.contains("401"))
            #expect(!forged.errors.contains("forged"))
            for options in [
                ["--remote", site.issuer], ["--remote", "http://id.example.com", "--token-file", "-"],
                ["--remote", site.issuer, "--token-file", "-", "--data-dir", "data"],
                ["--remote", site.issuer, "--token-file", "-", "--config", "server.yaml"],
            ] {
                #expect(try await Self.apply(Self.state, options, on: site, input: "a\n").status == 64, "\(options)")
            }
        }
    }

    @Test func `a right that the token lacks stops the changes, and the error says what was applied`() async throws {
        try await RemoteServer.run(["apis:read", "apis:write", "clients:read", "server:read"]) { server in
            let (site, remote) = (server.site, server.options)
            let ended = try await Self.apply(Self.state, remote, on: site)
            #expect(ended.status == 3)
            #expect(ended.errors.contains("create app lightbox: 403"))
            #expect(ended.errors.contains("\n  applied: scope photos.read, API https://photos.example.com\n"))
            #expect(
                ended.errors.contains(
                    "\n  not applied: app lightbox, policy for unregistered apps, branding\n"))
            #expect(try await site.administer(["app", "show", "lightbox"]).status == 3)
            // With the missing right, the same file continues.
            let continued = try await Self.apply(Self.state, on: site)
            #expect(continued.status == 0)
            #expect(continued.output.contains("= scope photos.read\n"))
        }
    }

    /// A transport on whose first change another administrator changes the same app.
    private struct Meddling: AdministrationTransport {
        let base: any AdministrationTransport
        let site: Site

        func send(
            _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields, body: [UInt8]
        ) async throws -> AdministrationResponse {
            if method == .patch { _ = try await site.administer(["app", "edit", "lightbox", "--publisher", "Eve"]) }
            return try await base.send(method, path, fields: fields, body: body)
        }
    }

    @Test func `an app that another administrator changes meanwhile is refused and named`() async throws {
        try await RemoteServer.run(Self.rights) { server in
            let (site, remote, token) = (server.site, server.options, server.token)
            #expect(try await Self.apply(Self.state, remote, on: site).status == 0)
            let path = site.folder.path("other.yaml")
            try Data(Self.state.replacing("Lightbox", with: "Darkroom").utf8).write(to: URL(fileURLWithPath: path))
            let declared = try DeclaredState(try await DeclaredFile(at: path))
            let issuer = try Issuer(site.issuer)
            let failure = await #expect(throws: CommandFailure.self) {
                try await RemoteTransport.with(issuer, token: token) { base in
                    let transport = Meddling(base: base, site: site)
                    let actual = try await ActualState(of: declared, by: transport)
                    let plan = try ApplyPlan(declared, from: actual, removing: false)
                    var execution = PlanExecution(by: transport, keepingSecretsIn: nil)
                    try await execution.run(plan)
                }
            }
            #expect(failure?.exitCode == CommandExit.temporary)
            #expect(failure?.message.contains("change app lightbox: 412") == true)
            let shown = try await site.administer(["app", "show", "lightbox"]).output
            #expect(shown.hasPrefix("Lightbox\n") && shown.contains("publisher: Eve"))
        }
    }
}
