import Foundation
import TestSupport
import Testing

/// `registration-token`: the initial access tokens of RFC 7591, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct RegistrationTokenCommandTests {
    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    // The token is shown once; lists and events contain its id only.
    @Test func `a token is added, listed and removed`() async throws {
        try await Site.make { site in
            let added = try await site.administer(
                ["registration-token", "add", "Build system", "--days", "30", "--json"])
            #expect(added.status == 0)
            let token = try Self.object(added.output)
            #expect(token["name"] as? String == "Build system")
            let text = try #require(token["token"] as? String)
            #expect(text.wholeMatch(of: /[A-Za-z0-9_\-]{43}/) != nil)
            let id = try #require(token["id"] as? String)
            #expect(id.wholeMatch(of: /[0-9a-f]{12}/) != nil)
            let (from, until) = (
                try #require(token["created_at"] as? Int), try #require(token["expires_at"] as? Int)
            )
            #expect(until - from == 30 * 86_400)

            let list = try await site.administer(["registration-token", "list"])
            #expect(list.output.hasPrefix("\(id)  expires 20"))
            #expect(list.output.hasSuffix("Z  Build system\n"))
            let document = try await site.administer(["registration-token", "list", "--json"]).output
            #expect(document.contains(id) && !document.contains(text))

            let removed = try await site.administer(["registration-token", "remove", String(id.prefix(6))])
            #expect(removed.output == "Removed the token \(id), Build system.\n")
            let again = try await site.administer(["registration-token", "remove", id])
            #expect(again.status == 3)
            #expect(again.errors.contains("there is no token with an id that starts with \(id)"))
            let empty = try await site.administer(["registration-token", "list"]).output
            #expect(empty == "There is no token. See: counterfoil-server registration-token add --help\n")
            let events = try await site.administer(["audit", "list"]).output
            #expect(events.contains("added the registration token \(id)"))
            #expect(events.contains("removed the registration token \(id)"))
            #expect(!events.contains(text))
        }
    }

    @Test func `the text of a new token is on standard output alone`() async throws {
        try await Site.make { site in
            let added = try await site.administer(["registration-token", "add", "Build system"])
            #expect(added.output.wholeMatch(of: /token: [A-Za-z0-9_\-]{43}\n/) != nil)
            #expect(added.errors.hasPrefix("The token is shown only once. It expires at 20"))
        }
    }

    @Test(arguments: [
        ["add", ""], ["add", "\u{200B}"], ["add", "a\nb"], ["add", "Build", "--days", "0"],
        ["add", "Build", "--days", "4000"], ["remove", "3f9"],
    ])
    func `an invalid name, lifetime or id is wrong usage`(arguments: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["registration-token"] + arguments)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: "))
        }
    }
}
