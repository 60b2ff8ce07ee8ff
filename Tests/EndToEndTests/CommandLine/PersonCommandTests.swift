import Foundation
import Testing

/// `user create` and `scope create`, as scripts and people read them.
@Suite(.timeLimit(.minutes(10)))
struct PersonCommandTests {
    @Test func `an account is made once`() async throws {
        try await Site.make { site in
            let command = ["user", "create", "alice", "--email", "alice@example.com", "--password-stdin"]
            let made = try await site.administer(command + ["--json"], input: "correct horse battery staple\n")
            #expect(made.status == 0)
            let account = try #require(
                try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String])
            #expect(account["username"] == "alice")
            #expect(account["email"] == "alice@example.com")
            #expect(account["sub"]?.isEmpty == false)
            #expect(account.count == 3)

            let again = try await site.administer(command, input: "correct horse battery staple\n")
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: there is already a person named alice\n")
            let email = try await site.administer(
                ["user", "create", "eve", "--email", "Alice@example.com", "--password-stdin"],
                input: "correct horse battery staple\n")
            #expect(email.status == 3)
            #expect(
                email.errors == "counterfoil-server: somebody already has the e-mail address Alice@example.com\n")
        }
    }

    @Test(arguments: ["", "\n", "short\n", "alice\n"])
    func `a password that is none is refused without being repeated`(input: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "create", "alice", "--password-stdin"], input: input)
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("counterfoil-server: "))
            #expect(!ended.errors.contains("short"))
        }
    }

    @Test func `a password never stands in the arguments`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "create", "alice"])
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: Give --password-stdin and write the password to standard input.\n"))
            #expect(try await site.administer(["user", "create", "alice", "--password", "secret"]).status == 64)
        }
    }

    @Test(arguments: ["al ice", "", "a@b", String(repeating: "a", count: 65)])
    func `a user name that cannot be is wrong usage`(name: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                ["user", "create", name, "--password-stdin"], input: "long enough for all\n")
            #expect(ended.status == 64)
            #expect(
                ended.errors.hasPrefix("Error: A user name has 1 to 64 letters, digits and . _ - without spaces.\n"))
        }
    }

    @Test func `a scope is made once, and those of the standards are there already`() async throws {
        try await Site.make { site in
            let command = ["scope", "create", "photos.read", "--description", "See your photos and albums"]
            let made = try await site.administer(command + ["--json"])
            #expect(made.status == 0)
            #expect(made.output == #"{"description":"See your photos and albums","scope":"photos.read"}"# + "\n")
            let again = try await site.administer(command)
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: there is already a scope named photos.read\n")
            let standard = try await site.administer(["scope", "create", "openid", "--description", "Know who you are"])
            #expect(standard.status == 3)
            let words = try await site.administer(["scope", "create", "photos.write", "--description", "Change photos"])
            #expect(words.output == "Applications can be assigned photos.write now.\n")
        }
    }
}
