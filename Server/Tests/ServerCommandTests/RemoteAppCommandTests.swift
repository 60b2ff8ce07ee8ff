import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The commands of `app` with `--remote`, compared with the same commands on the store.
@Suite(.timeLimit(.minutes(10)))
struct RemoteAppCommandTests {
    /// The apps that commands on the store and over the API make and change.
    private static let (stored, remote) = ("stored", "remote")

    /// Runs a command on the store and over the API, each on an app of its own, and expects the same from both.
    @discardableResult
    private static func both(
        _ server: RemoteServer, status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation,
        _ arguments: (_ app: String) -> [String]
    ) async throws -> EndedProgram {
        let local = try await server.site.administer(arguments(stored))
        let ended = try await server.run(arguments(remote))
        #expect(local.status == status, "\(local.errors)", sourceLocation: sourceLocation)
        #expect(ended.status == status, "\(ended.errors)", sourceLocation: sourceLocation)
        #expect(comparable(ended.output) == comparable(local.output), sourceLocation: sourceLocation)
        #expect(comparable(ended.errors) == comparable(local.errors), sourceLocation: sourceLocation)
        return ended
    }

    /// Replaces what differs between two apps: the identifiers, the times and the secrets.
    private static func comparable(_ text: String) -> String {
        text.replacing(stored, with: "APP").replacing(remote, with: "APP")
            .replacing(/"(client_id_issued_at|changed_at|created_at|at|since)":\d+/) { "\"\($0.output.1)\":0" }
            .replacing(/"id":"[0-9a-f]{12}"/, with: "\"id\":\"\"")
            .replacing(/client_secret"?: ?"?[A-Za-z0-9_-]{43}/, with: "client_secret")
            .replacing(/secret:? [0-9a-f]{12}/, with: "secret ID")
    }

    /// Makes both apps wait for an approval.
    private static func leaveApproval(to administrators: Site) async throws {
        let store = try SQLiteStore(at: administrators.dataDirectory + "/counterfoil.db")
        for id in [stored, remote] {
            let identifier = try #require(ClientIdentifier(id))
            var client = try #require(try await store.client(identifier))
            client.approval = .pending
            #expect(try await store.updateClient(client, logo: .keep, recording: []) == .updated)
        }
        await store.close()
    }

    @Test func `an app is registered, changed, decided about and deleted over the API as on the store`() async throws {
        try await RemoteServer.run(["clients:read", "clients:write", "users:read"]) { server in
            try await server.site.add(.alice)
            let logo = server.site.folder.path("logo.png")
            let pixel =
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
            try #require(Data(base64Encoded: pixel)).write(to: URL(fileURLWithPath: logo))
            let created = try await Self.both(server) { app in
                [
                    "app", "create", "--type", "native", "--name", "Lightbox", "--client-id", app, "--redirect-uri",
                    "http://127.0.0.1/callback", "--legacy-redirect-uri", "\(app)://oauth", "--logo", logo,
                    "--refresh-idle-lifetime", "86400",
                ]
            }
            #expect(created.output.contains("\n  ready configurations: "), "\(created.output)")
            #expect(created.errors.contains("warning: remote://oauth: "), "\(created.errors)")
            #expect(created.errors.contains("note: no --scope was given"))

            for options in [[], ["--search", "light", "--sort", "newest", "--limit", "1"], ["--json"]] {
                try await server.compare(["app", "list"] + options)
            }
            for options in [[], ["--json"], ["--configuration", "counterfoil-login"]] {
                try await server.compare(["app", "show", Self.remote] + options)
            }
            try await server.compare(["app", "check", Self.remote, "http://127.0.0.1:51004/callback"])
            for uri in ["http://127.0.0.1:51004/other", ""] {
                try await server.compare(["app", "check", Self.remote, uri, "--json"], status: 1)
            }

            let edit = ["--publisher", "Lightbox AS", "--scope", "openid", "--remove-logo"]
            for options in [edit, edit + ["--developer", "alice", "--json"]] {
                try await Self.both(server) { ["app", "edit", $0] + options }
            }
            try await Self.both(server) { ["app", "suspend", $0, "--reason", "It sends mail."] }
            try await Self.both(server, status: 3) { ["app", "suspend", $0, "--reason", "Spam"] }
            try await Self.both(server) { ["app", "resume", $0, "--json"] }
            try await Self.both(server, status: 3) { ["app", "resume", $0] }
            try await Self.both(server, status: 3) { ["app", "approve", $0] }
            try await Self.leaveApproval(to: server.site)
            try await Self.both(server, status: 3) { ["app", "approve", $0, "--revision", "0"] }
            let approved = try await Self.both(server) { ["app", "approve", $0] }
            #expect(approved.output.hasPrefix("Approved the app Lightbox, remote.\n"))
            let deleted = try await Self.both(server) { ["app", "delete", $0] }
            #expect(deleted.output == "Deleted Lightbox, remote, with all consent that users gave to it.\n")
        }
    }

    @Test func `secrets and developers are changed over the API as on the store`() async throws {
        try await RemoteServer.run(["clients:read", "clients:write", "users:read"]) { server in
            for user in [Account.alice, .bob] { try await server.site.add(user) }
            try await Self.both(server) { app in
                [
                    "app", "create", "--type", "web", "--name", "Prints", "--client-id", app, "--redirect-uri",
                    "https://prints.example.com/callback", "--developer", "alice", "--json",
                ]
            }
            let added = try await Self.both(server) { ["app", "secret", $0] }
            #expect(added.output.hasPrefix("client_secret: "))
            try await Self.both(server, status: 3) { ["app", "secret", $0] }
            try await Self.both(server) { ["app", "secret", $0, "--remove", "oldest"] }
            try await Self.both(server) { ["app", "secret", $0, "--remove", "oldest", "--json"] }
            try await Self.both(server, status: 3) { ["app", "secret", $0, "--remove", "oldest"] }

            try await Self.both(server) { ["app", "developers", $0, "--add", "bob", "--add", "alice"] }
            try await server.compare(["app", "developers", Self.remote, "--json"])
            try await server.compare(["app", "list", "--developer", "bob"])
            try await Self.both(server) { ["app", "developers", $0, "--remove", "bob"] }
            try await Self.both(server, status: 3) { ["app", "developers", $0, "--add", "nobody"] }
            try await Self.both(server) { ["app", "delete", $0, "--json"] }
        }
    }

    @Test func `a refusal over the API names the option, the missing app and the missing right`() async throws {
        try await RemoteServer.run(["clients:read", "clients:write"]) { server in
            let refused = try await server.compare(
                [
                    "app", "create", "--type", "native", "--name", " ", "--redirect-uri", "http://app.example.com/cb",
                    "--access-token-lifetime", "1", "--developer", "Nobody",
                ], status: 3)
            #expect(refused.errors.hasPrefix("counterfoil-server: --developer: "), "\(refused.errors)")
            let rules = try await server.compare(
                [
                    "app", "create", "--type", "native", "--name", " ", "--redirect-uri", "http://app.example.com/cb",
                    "--access-token-lifetime", "1",
                ], status: 3)
            for option in ["--name: ", "\n  --redirect-uri: ", "\n  --access-token-lifetime: "] {
                #expect(rules.errors.contains(option), "\(rules.errors)")
            }
            for command in [
                ["show", "unknown"], ["delete", "unknown"], ["edit", "unknown", "--name", "X"],
                ["suspend", "unknown", "--reason", "Spam"], ["resume", "unknown"], ["approve", "unknown"],
                ["secret", "unknown"], ["check", "unknown", "http://127.0.0.1/"], ["developers", "unknown"],
                ["list", "--developer", "nobody"],
            ] {
                try await server.compare(["app"] + command, status: 3)
            }
            let reader = try await server.limited(to: ["clients:read"])
            let forbidden = try await reader.run(["app", "create", "--type", "device", "--name", "Player"])
            #expect(forbidden.status == 3 && forbidden.output.isEmpty)
            #expect(forbidden.errors.contains("clients:write"), "\(forbidden.errors)")
        }
    }
}
