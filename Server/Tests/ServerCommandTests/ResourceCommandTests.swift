import Foundation
import TestSupport
import Testing

/// `resource`: the APIs that accept tokens, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct ResourceCommandTests {
    private static let uri = "https://photos.example.com"

    private static func create(_ uri: String = uri) -> [String] {
        ["resource", "create", uri, "--name", "Photo library", "--scope", "photos.read"]
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    // The command creates the credentials of the API, and shows the secret once.
    @Test func `an API is registered with its introspection secret`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let created = try await site.administer(Self.create() + ["--json"])
            #expect(created.status == 0)
            #expect(created.output.filter { $0 == "\n" }.count == 1)
            let api = try Self.object(created.output)
            #expect(api["resource"] as? String == Self.uri)
            #expect(api["name"] as? String == "Photo library")
            #expect(api["scope"] as? String == "photos.read")
            #expect(api["jwt_type"] as? String == "at+jwt")
            #expect((api["client_id"] as? String)?.hasPrefix("api_") == true)
            let secret = try #require(api["client_secret"] as? String)
            #expect(secret.wholeMatch(of: /[A-Za-z0-9_\-]{43}/) != nil)

            let list = try await site.administer(["resource", "list", "--json"])
            #expect(!list.output.contains(secret))
            let clientID = try #require(api["client_id"] as? String)
            #expect(
                try await site.administer(["resource", "list"]).output
                    == "\(Self.uri)  \(clientID)  at+jwt  Photo library\n")

            let again = try await site.administer(Self.create())
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: \(Self.uri): Another API has the URI.\n")
            let slash = try await site.administer(Self.create(Self.uri + "/"))
            #expect(slash.status == 3)
            #expect(
                slash.errors == """
                    counterfoil-server: \(Self.uri)/: Another API has the URI \(Self.uri), which is the same.

                    """)
        }
    }

    // RFC 9068 §2.1: an API whose library refuses at+jwt is registered with another type, at once or later.
    @Test func `the token type of an API is chosen and changed`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            try await site.addScope("photos.write", "Add and change photos")
            let created = try await site.administer(Self.create() + ["--jwt-type", "jwt", "--json"])
            #expect(try Self.object(created.output)["jwt_type"] as? String == "jwt")
            #expect(try await site.administer(["resource", "list"]).output.contains("  jwt  Photo library\n"))
            let changed = try await site.administer(
                ["resource", "edit", Self.uri + "/", "--jwt-type", "at+jwt", "--scope", "photos.read photos.write"])
            #expect(changed.status == 0)
            #expect(changed.output.hasSuffix("  scope: photos.read photos.write\n  jwt_type: at+jwt\n"))
            let renamed = try await site.administer(["resource", "edit", Self.uri, "--name", " Albums ", "--json"])
            let api = try Self.object(renamed.output)
            #expect(api["name"] as? String == "Albums")
            #expect(api["jwt_type"] as? String == "at+jwt")
            #expect(api["client_secret"] == nil)
            let events = try await site.administer(["audit", "list"]).output
            #expect(events.contains("changed the API \(Self.uri), jwt_type at+jwt"))
        }
    }

    // RFC 9728 §2
    @Test func `an API is registered for bound tokens only, and changed`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let created = try await site.administer(Self.create() + ["--bound-tokens-only", "--json"])
            #expect(try Self.object(created.output)["dpop_bound_access_tokens_required"] as? Bool == true)
            let listed = try await site.administer(["resource", "list"]).output
            #expect(listed.hasSuffix("  at+jwt  bound-tokens-only  Photo library\n"))
            let renamed = try await site.administer(["resource", "edit", Self.uri, "--name", "Albums"])
            #expect(renamed.output.hasSuffix("  jwt_type: at+jwt\n  bound tokens only (DPoP)\n"))
            let changed = try await site.administer(["resource", "edit", Self.uri, "--no-bound-tokens-only", "--json"])
            #expect(try Self.object(changed.output)["dpop_bound_access_tokens_required"] as? Bool == false)
            let events = try await site.administer(["audit", "list"]).output
            #expect(events.contains("changed the API \(Self.uri), jwt_type at+jwt, bound tokens only"))
        }
    }

    @Test(arguments: [
        ["https://photos.example.com"], ["https://photos.example.com", "--jwt-type", "JWS"],
        ["https://photos.example.com", "--name", " "], ["https://photos.example.com", "--scope", ""],
        ["https://photos.example.com", "--name", "Photo\nlibrary"],
        ["https://photos.example.com", "--scope", "qu\"ote"],
    ])
    func `an invalid change of an API is wrong usage`(arguments: [String]) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            _ = try await site.administer(Self.create())
            let ended = try await site.administer(["resource", "edit"] + arguments)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: "))
            let list = try await site.administer(["resource", "list", "--json"]).output
            #expect(list.contains("\"name\":\"Photo library\"") && list.contains("\"scope\":\"photos.read\""))
        }
    }

    @Test func `a change of an unknown API, or to an unknown scope, is refused`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let unknown = try await site.administer(["resource", "edit", Self.uri, "--name", "Albums"])
            #expect(unknown.status == 3)
            _ = try await site.administer(Self.create())
            let scope = try await site.administer(["resource", "edit", Self.uri, "--scope", "photos.write"])
            #expect(scope.status == 3)
            #expect(scope.errors.contains("--scope: There is no scope named photos.write."))
        }
    }

    @Test func `a new secret replaces the old one, and the API stays`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let first = try Self.object(try await site.administer(Self.create() + ["--json"]).output)
            let second = try Self.object(try await site.administer(["resource", "secret", Self.uri, "--json"]).output)
            #expect(first["client_id"] as? String == second["client_id"] as? String)
            #expect(first["client_secret"] as? String != second["client_secret"] as? String)
            let words = try await site.administer(["resource", "secret", Self.uri])
            #expect(words.status == 0)
            #expect(words.output.hasPrefix("Photo library\n  resource: \(Self.uri)\n  client_id: api_"))
            #expect(
                words.errors == "The client secret is shown only once. Store it where only the API can read it.\n")
        }
    }

    @Test func `an API is deleted once`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            _ = try await site.administer(Self.create())
            let removed = try await site.administer(["resource", "delete", Self.uri])
            #expect(removed.output == "Deleted Photo library, \(Self.uri).\n")
            for command in ["delete", "secret"] {
                let again = try await site.administer(["resource", command, Self.uri])
                #expect(again.status == 3)
                #expect(
                    again.errors == """
                        counterfoil-server: there is no API with the URI \(Self.uri); see: counterfoil-server resource list

                        """)
            }
            #expect(
                try await site.administer(["resource", "list"]).output
                    == "No API is registered. See: counterfoil-server resource create --help\n")
        }
    }

    @Test(arguments: [
        ["photos", "--name", "N", "--scope", "s"], ["https://a.example#b", "--name", "N", "--scope", "s"],
        ["", "--name", "N", "--scope", "s"], ["https://a.example", "--name", " ", "--scope", "s"],
        ["https://a.example", "--name", "N", "--scope", "qu\"ote"], ["https://a.example", "--name", "N"],
        ["https://a.example", "--name", "a\nb", "--scope", "s"],
        ["https://a.example", "--name", "a\u{202E}b", "--scope", "s"],
        ["https://a.example", "--name", "\u{200B}", "--scope", "s"],
    ])
    func `an invalid API is wrong usage`(arguments: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["resource", "create"] + arguments)
            #expect(ended.status == 64)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("Error: "))
        }
    }

    @Test func `an unknown scope is refused`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(Self.create())
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: --scope: There is no scope named photos.read. An administrator can create it.

                    """)
        }
    }
}
