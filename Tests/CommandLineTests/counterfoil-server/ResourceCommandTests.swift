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
            #expect((api["client_id"] as? String)?.hasPrefix("api_") == true)
            let secret = try #require(api["client_secret"] as? String)
            #expect(secret.wholeMatch(of: /[A-Za-z0-9_\-]{43}/) != nil)

            let list = try await site.administer(["resource", "list", "--json"])
            #expect(!list.output.contains(secret))
            let clientID = try #require(api["client_id"] as? String)
            #expect(
                try await site.administer(["resource", "list"]).output == "\(Self.uri)  \(clientID)  Photo library\n")

            let again = try await site.administer(Self.create())
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: an API with the URI \(Self.uri) is already registered\n")
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
                    counterfoil-server: there is no scope named photos.read; create it first with: counterfoil-server \
                    scope create

                    """)
        }
    }
}
