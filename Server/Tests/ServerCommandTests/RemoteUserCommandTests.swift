import CounterfoilClient
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The commands on users over the administration API, compared with the same commands on the store.
@Suite(.timeLimit(.minutes(10)))
struct RemoteUserCommandTests {
    private static let password = "correct horse battery staple\n"

    /// Runs `body` with a server with the API, and the options of a command with a token for some rights.
    private static func serving<Result>(
        _ rights: [AdministrationRight] = AdministrationRight.allCases,
        _ body: (_ site: Site, _ remote: [String]) async throws -> Result
    ) async throws -> Result {
        try await Site.make { site in
            try await site.start(options: ["--administration-api", "--sign-up", "invited"]).whileRunning {
                let scopes = rights.compactMap { $0.scope?.rawValue }
                _ = try await Waiting.until("the scopes of the API") { () async throws -> Bool? in
                    let list = try await site.administer(["scope", "list"]).output
                    return scopes.allSatisfy(list.contains) ? true : nil
                }
                let created = try await site.administer(
                    ["app", "create", "--type", "service", "--name", "Onboarding", "--json"]
                        + scopes.flatMap { ["--scope", $0] })
                let client = try object(created.output)
                let secret = try #require(client["client_secret"] as? String)
                let signIn = try ServiceSignIn(
                    issuer: site.issuer, clientID: try #require(client["client_id"] as? String),
                    authentication: .secret(try #require(ClientSecret(secret))), scope: scopes.joined(separator: " "))
                let path = site.folder.path("token")
                try Data(try await signIn.run().accessToken.exposed.utf8).write(to: URL(fileURLWithPath: path))
                chmod(path, 0o600)
                return try await body(site, ["--remote", site.issuer, "--token-file", path])
            }
        }
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// Returns a text in which what is new in each run is replaced: identifiers, times and secrets.
    private static func normalized(_ text: String, _ name: String) -> String {
        text.replacing(name, with: "NAME")
            .replacing(/per_[A-Za-z0-9_-]+/, with: "PER").replacing(/app_[A-Za-z0-9_-]+/, with: "APP")
            .replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
            .replacing(/(token|invitation)=[A-Za-z0-9_-]+/, with: "SECRET")
            .replacing(/\b[0-9a-f]{12}\b/, with: "ID")
    }

    /// Runs commands on the store for one user, and over the API for another one, and compares each status and output.
    ///
    /// - Parameters:
    ///   - commands: The arguments after `user`, with NAME in place of the user name.
    private static func compare(
        _ site: Site, _ remote: [String], input: String? = nil, _ commands: [[String]]
    ) async throws {
        for command in commands {
            func arguments(_ name: String) -> [String] { ["user"] + command.map { $0.replacing("NAME", with: name) } }
            let here = try await site.administer(arguments("arthur"), input: input)
            let there = try await site.server(arguments("tricia") + remote, input: input)
            #expect(here.status == there.status, "\(command): \(here.errors)\(there.errors)")
            #expect(normalized(here.output, "arthur") == normalized(there.output, "tricia"), "\(command)")
            #expect(normalized(here.errors, "arthur") == normalized(there.errors, "tricia"), "\(command)")
        }
    }

    private static let withPassword: [[String]] = [
        ["create", "NAME", "--email", "NAME@example.com", "--display-name", "Dent", "--password-stdin"],
        ["create", "NAME", "--password-stdin"],
        ["create", "NAME2", "--email", "NAME@example.com", "--password-stdin"],
        ["create", "NAME2", "--password-stdin", "--must-change-password", "--json"],
        ["password", "NAME", "--password-stdin", "--must-change-password"],
        ["password", "NAME", "--password-stdin", "--remove-passkeys", "--json"],
    ]

    private static let withoutPassword: [[String]] = [
        [
            "edit", "NAME", "--given-name", "Zaphod", "--phone", "+4722225555", "--phone-verified", "true",
            "--address-locality", "Oslo", "--email-verified", "true",
        ],
        ["edit", "NAME", "--given-name", "", "--nickname", "Z", "--json"],
        ["edit", "NAME", "--group", "staff", "--attribute", "floor=3", "--attribute", #"a=["b"]"#],
        ["edit", "NAME", "--attribute", "floor=", "--json"], ["edit", "NAME", "--role", "support"],
        ["edit", "NAME", "--role", "none", "--json"],
        ["edit", "NAME", "--email", "NAME2@example.com", "--email-verified", "true"],
        ["show", "NAME"], ["show", "NAME", "--json"],
        ["list", "--search", "NAME", "--never-signed-in"], ["list", "--search", "NAME", "--json"],
        ["list", "--search", "NAME", "--after", "NAME", "--limit", "1"],
        ["claims", "NAME", "--client", "app_nowhere"],
        ["link", "NAME", "--hours", "2"], ["link", "NAME", "--json"],
        ["disable", "NAME"], ["link", "NAME"], ["disable", "NAME", "--json"], ["enable", "NAME"],
        ["enable", "NAME", "--json"], ["reset-second-factor", "NAME"],
        ["invite", "--email", "NAME3@example.com", "--role", "support", "--days", "2"],
        ["invite", "--json", "--email", "NAME4@example.com"],
        ["invite", "--email", "NAME2@example.com"], ["invite", "--client", "app_nowhere"],
        ["delete", "NAME2", "--yes", "--json"], ["delete", "NAME", "--dry-run"],
        ["delete", "NAME"], ["delete", "NAME", "--yes"], ["delete", "NAME", "--yes"], ["show", "NAME"],
    ]

    @Test func `each command gives over the API what it gives on the store`() async throws {
        try await Self.serving { site, remote in
            try await site.addScope("photos.read", "See your photos and albums")
            let client = try await site.registerClient()
            try await Self.compare(site, remote, input: Self.password, Self.withPassword)
            try await Self.compare(site, remote, [["claims", "NAME", "--client", client]] + Self.withoutPassword)
            for options in [[], ["--json"]] {
                let here = try await site.administer(["user", "invitations"] + options)
                let there = try await site.server(["user", "invitations"] + options + remote)
                #expect(here.status == 0 && here.output == there.output && here.output.contains("tricia4@example.com"))
            }
            for option in ["text", "json"] {
                let list = try await site.administer(["user", "invitations", "--json"]).output
                let invitations = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
                let id = try #require(invitations?.first?["id"] as? String)
                let withdrawn = try await site.server(
                    ["user", "withdraw", String(id.prefix(6))] + (option == "json" ? ["--json"] : []) + remote)
                #expect(withdrawn.status == 0 && withdrawn.output.contains(id), "\(withdrawn.errors)")
                let again = try await site.server(["user", "withdraw", id] + remote)
                #expect(again.status == 3 && again.errors.contains("there is no invitation with an id"))
            }
        }
    }

    @Test func `a user with apps is exported and deleted over the API`() async throws {
        try await Self.serving { site, remote in
            for account in [Account.alice, .bob] { try await site.add(account) }
            let (name, other) = (Account.alice.name, Account.bob.name)
            try await site.addScope("photos.read", "See your photos and albums")
            let client = try await site.registerClient("Lightbox", options: ["--developer", name])
            let path = site.folder.path("remote.json")
            let exported = try await site.server(["user", "export", name, "--output", path] + remote)
            #expect(exported.status == 0 && exported.errors == "Exported the user \(name) to \(path).\n")
            let there = try Self.object(try String(contentsOfFile: path, encoding: .utf8))
            let here = try Self.object(try await site.administer(["user", "export", name, "--output", "-"]).output)
            #expect(Set(here.keys) == Set(there.keys))
            for member in ["account", "clients", "consents", "grants", "sessions"] {
                let (first, second) = (here[member] as? NSObject, there[member] as? NSObject)
                #expect(first != nil && first == second, "\(member)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)

            let refused = try await site.server(["user", "delete", name, "--yes"] + remote)
            #expect(refused.status == 3 && refused.errors.contains("\(name) owns \(client) (Lightbox). Delete them"))
            let given = try await site.server(["user", "delete", name, "--yes", "--transfer-apps", other] + remote)
            #expect(given.status == 0, "\(given.errors)")
            #expect(given.output.contains("\nTransferred to \(other): \(client)\n"))
            let deleted = try await site.server(["user", "delete", other, "--yes", "--delete-apps"] + remote)
            #expect(deleted.output.contains("\nDeleted the apps: \(client)\n"), "\(deleted.errors)")
            #expect(try await site.administer(["app", "show", client]).status == 3)
        }
    }

    @Test func `a token without the scope changes nothing, and the export has no audit events`() async throws {
        try await Self.serving([.readUsers]) { site, remote in
            try await site.add(.alice)
            let name = Account.alice.name
            #expect(try await site.server(["user", "show", name] + remote).status == 0)
            let commands = [
                ["disable", name], ["edit", name, "--nickname", "A"], ["edit", name, "--role", "support"],
                ["link", name], ["delete", name, "--yes"], ["invite"], ["export", name, "--output", "-"],
            ]
            for command in commands {
                let refused = try await site.server(["user"] + command + remote)
                #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin."), "\(refused.errors)")
                #expect(refused.output.isEmpty)
            }
            #expect(try await !site.administer(["user", "show", name]).output.contains("disabled"))
        }
        try await Self.serving([.readUsers, .writeUsers]) { site, remote in
            try await site.add(.alice)
            let exported = try await site.server(["user", "export", Account.alice.name, "--output", "-"] + remote)
            #expect(exported.status == 0 && exported.errors.contains("counterfoil.admin.audit:read"))
            #expect(try Self.object(exported.output)["audit_events"] == nil)
        }
    }
}
