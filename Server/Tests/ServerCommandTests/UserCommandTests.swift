@_spi(Counterfoil) import CounterfoilClient
import CounterfoilSQLite
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user create` and `scope create`, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct UserCommandTests {
    @Test func `an account is created once`() async throws {
        try await Site.make { site in
            let command = ["user", "create", "alice", "--email", "alice@example.com", "--password-stdin"]
            let made = try await site.administer(command + ["--json"], input: "correct horse battery staple\n")
            #expect(made.status == 0)
            let account = try #require(
                try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any])
            #expect(account["username"] as? String == "alice")
            #expect(account["email"] as? String == "alice@example.com")
            #expect((account["id"] as? String)?.hasPrefix("per_") == true)
            #expect(account["has_password"] as? Bool == true)

            let again = try await site.administer(command, input: "correct horse battery staple\n")
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: a user named alice already exists\n")
            let email = try await site.administer(
                ["user", "create", "eve", "--email", "Alice@example.com", "--password-stdin"],
                input: "correct horse battery staple\n")
            #expect(email.status == 3)
            #expect(
                email.errors == "counterfoil-server: another user has the email address Alice@example.com\n")
        }
    }

    // OpenID Connect Core §5.1: `email_verified` is false unless the operator has verified the address.
    @Test(arguments: [true, false])
    func `the email address of a new user is verified only on request`(isVerified: Bool) async throws {
        try await Site.make { site in
            let command = ["user", "create", "alice", "--email", "alice@example.com", "--password-stdin"]
            let made = try await site.administer(
                command + (isVerified ? ["--email-verified"] : []), input: "correct horse battery staple\n")
            #expect(made.status == 0)
            let shown = try await site.administer(["user", "show", "alice"]).output
            #expect(shown.contains("email verified: \(isVerified ? "yes" : "no")\n"))
        }
    }

    @Test func `an email address that is not given cannot be verified`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                ["user", "create", "alice", "--email-verified", "--password-stdin"],
                input: "correct horse battery staple\n")
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: --email-verified needs an address. Name it with --email.\n"))
        }
    }

    @Test(arguments: ["", "\n", "short\n", "alice\n"])
    func `an invalid password is refused without being repeated`(input: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "create", "alice", "--password-stdin"], input: input)
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("counterfoil-server: "))
            #expect(!ended.errors.contains("short"))
        }
    }

    @Test func `a password made of the names of the user is refused`() async throws {
        try await Site.make { site in
            let create = [
                "user", "create", "carol", "--email", "carol.smith@example.org", "--display-name", "Carol Smith",
                "--password-stdin",
            ]
            let refused = try await site.administer(create, input: "Carol Smith 1\n")
            #expect(refused.status == 3)
            #expect(refused.errors.contains("This password is easy to guess."))
            #expect(!refused.errors.contains("Carol"))
            #expect(try await site.administer(create, input: "correct horse battery staple\n").status == 0)
            let changed = try await site.administer(
                ["user", "password", "carol", "--password-stdin"], input: "smithcarol1980\n")
            #expect(changed.status == 3)
            #expect(changed.errors.contains("This password is easy to guess."))
        }
    }

    @Test func `a password is never in the arguments`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "create", "alice"])
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: Use --password-stdin, and write the password to standard input.\n"))
            #expect(try await site.administer(["user", "create", "alice", "--password", "secret"]).status == 64)
        }
    }

    /// Runs a command at a terminal, and a function while it runs; returns what the terminal showed.
    ///
    /// The terminal must have its modes again afterwards.
    private static func expect(
        _ command: [String], of site: Site, toEndWith status: Int32, showing shown: String? = nil,
        typing work: (Terminal, ChildProcess) async throws -> Void
    ) async throws -> String {
        let terminal = try Terminal()
        defer { terminal.end() }
        let modes = terminal.modes
        let ended = try await terminal.run(
            .server, command + ["--data-dir", site.dataDirectory], home: site.folder.url
        ) { try await work(terminal, $0) }
        #expect(ended == status, "\(terminal.text)")
        if let shown { try await terminal.shows(shown) }
        #expect(terminal.modes == modes)
        return terminal.text
    }

    /// Answers the two questions for a password.
    private static func answer(_ typed: [String], at terminal: Terminal) async throws {
        for (question, answer) in zip(["Password: ", "The same password again: "], typed) {
            try await terminal.shows(question)
            terminal.type(answer)
        }
    }

    // `user create` and `user password` read it in the same way.
    @Test func `at a terminal a password is asked for twice and never shown`() async throws {
        try await Site.make { site in
            let text = try await Self.expect(
                ["user", "create", "alice"], of: site, toEndWith: 0, showing: "Created the user alice."
            ) { terminal, _ in
                let password = "correct horse battery staple\n"
                try await Self.answer([password, password], at: terminal)
            }
            #expect(!text.contains("horse"))
        }
    }

    // Control-D ends the input.
    @Test(
        arguments: [
            (["correct horse battery staple\n", "another horse battery staple\n"], 3, "the two passwords differ"),
            (["correct horse battery staple\n", "\u{4}"], 3, "the two passwords differ"),
            (["\n"], 3, "nothing was changed; no password was typed"),
            (["\u{4}"], 3, "nothing was changed; no password was typed"),
            (["alice\n", "alice\n"], 3, "counterfoil-server: "),
        ] as [([String], Int32, String)])
    func `a password that is refused at a terminal changes nothing`(
        typed: [String], status: Int32, shown: String
    ) async throws {
        try await Site.make { site in
            _ = try await Self.expect(
                ["user", "create", "alice"], of: site, toEndWith: status, showing: shown
            ) { terminal, _ in try await Self.answer(typed, at: terminal) }
            #expect(try await site.administer(["user", "show", "alice"]).status == 3)
        }
    }

    @Test func `a signal at the question for a password restores the terminal`() async throws {
        try await Site.make { site in
            _ = try await Self.expect(
                ["user", "password", "alice"], of: site, toEndWith: 128 + SIGINT
            ) { terminal, process in
                try await terminal.shows("Password: ")
                #expect(!terminal.echoes)
                kill(process.identifier, SIGINT)
            }
        }
    }

    @Test func `white space around names and addresses is ignored`() async throws {
        try await Site.make { site in
            let password = "correct horse battery staple\n"
            let made = try await site.administer(
                ["user", "create", " Alice\u{A0}", "--email", "alice@example.com ", "--password-stdin"],
                input: password)
            #expect(made.status == 0)
            #expect(made.output == "Created the user alice.\n")
            let shown = try await site.administer(["user", "show", "alice"]).output
            #expect(shown.hasPrefix("alice <alice@example.com>\n"))
            #expect(shown.contains("  name: Alice\n"))
            let edited = try await site.administer([
                "user", "edit", "alice ", "--display-name", " Alice Andersen ", "--given-name", " ", "--email", "a@b ",
            ])
            #expect(edited.status == 0)
            let after = try await site.administer(["user", "show", "alice"]).output
            #expect(after.hasPrefix("alice <a@b>\n"))
            #expect(after.contains("  name: Alice Andersen\n"))
            #expect(!after.contains("given name"))
            let changed = try await site.administer(
                ["user", "password", " alice", "--password-stdin"], input: password)
            #expect(changed.output == "Changed the password of alice, and ended all sessions.\n")
        }
    }

    @Test(arguments: ["al ice", "", " ", "a@b", String(repeating: "a", count: 65)])
    func `an invalid user name is wrong usage`(name: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                ["user", "create", name, "--password-stdin"], input: "long enough for all\n")
            #expect(ended.status == 64)
            #expect(
                ended.errors.hasPrefix("Error: A user name has 1 to 64 letters, digits and . _ - without spaces.\n"))
        }
    }

    // A name that pages cannot show is refused, and none is cut.
    @Test(arguments: ["", "\u{200B}", "a\nb", String(repeating: "a", count: 101)])
    func `an invalid display name is wrong usage`(name: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                ["user", "create", "alice", "--display-name", name, "--password-stdin"], input: "long enough for all\n")
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: --display-name"))
        }
    }

    // The profile of a user, with the claim names of OpenID Connect Core §5.1.
    @Test func `a profile is set, shown and cleared`() async throws {
        try await Site.make { site in
            let made = try await site.administer(
                ["user", "create", "alice", "--email", "alice@example.com", "--password-stdin"],
                input: "correct horse battery staple\n")
            #expect(made.status == 0)
            let edited = try await site.administer([
                "user", "edit", "alice", "--given-name", "Alice", "--zoneinfo", "Europe/Oslo", "--locale", "nb-NO",
                "--birthdate", "1990-01-31", "--phone", "+4722225555", "--email-verified", "true",
                "--address-locality", "Oslo", "--website", "https://alice.example.com/", "--json",
            ])
            #expect(edited.status == 0)
            #expect(edited.output.contains(#""given_name":"Alice""#))
            #expect(edited.output.contains(#""has_password":true"#))
            #expect(edited.output.contains(#""email_verified":true"#))
            #expect(edited.output.contains(#""locality":"Oslo""#))
            #expect(!edited.output.contains("argon2"))
            let cleared = try await site.administer([
                "user", "edit", "alice", "--given-name", "", "--email", "a@example.com",
            ])
            #expect(cleared.status == 0)
            let shown = try await site.administer(["user", "show", "alice"])
            #expect(shown.output.hasPrefix("alice <a@example.com>\n"))
            #expect(!shown.output.contains("given name"))
            // A new email address is not verified.
            #expect(shown.output.contains("  email verified: no\n"))
            #expect(try await site.administer(["user", "list"]).output == "alice <a@example.com>\n")
        }
    }

    @Test(arguments: [
        ["--birthdate", "1990-13-01"], ["--zoneinfo", "Nowhere"], ["--locale", "norsk bokmål"],
        ["--phone", "12345678"],
        ["--website", "http://alice.example.com/"], ["--email", "alice"], ["--given-name", "a\nb"],
        ["--disable"], ["--enable"], [],
    ])
    func `invalid profile data is wrong usage`(said: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "edit", "alice"] + said)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: "))
        }
    }

    @Test(arguments: [
        ["user", "edit", "alice"], ["app", "edit", "app_x"], ["scope", "edit", "photos.read"],
        ["resource", "edit", "https://api.example.com"], ["branding", "edit"], ["unregistered", "edit"],
    ])
    func `an edit without a change is wrong usage, and names an unknown option first`(
        command: [String]
    ) async throws {
        try await Site.make { site in
            let unknown = try await site.administer(command + ["--nonsense"])
            #expect(unknown.status == 64)
            #expect(unknown.errors.hasPrefix("Error: Unknown option '--nonsense'"), "\(unknown.errors)")
            let unchanged = try await site.administer(command)
            #expect(unchanged.status == 64)
            #expect(unchanged.errors.hasPrefix("Error: Give at least one change. See: "), "\(unchanged.errors)")
        }
    }

    @Test func `a refused password of a disabled user deletes no passkey`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let path = site.dataDirectory + "/counterfoil.db"
            let store = try SQLiteStore(at: path)
            let username = try #require(Username(Account.alice.name))
            let user = try #require(try await store.user(named: username))
            let passkey = Passkey(
                credentialID: [UInt8](repeating: 1, count: 40), userID: user.id, publicKey: [0xA5, 1], name: "Phone",
                model: [UInt8](repeating: 9, count: 16), transports: ["internal"], isBackupEligible: true,
                isBackedUp: true, signatureCounter: 0, createdAt: Date())
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            await store.close()
            let command = ["user", "password", Account.alice.name, "--password-stdin", "--remove-passkeys"]
            _ = try await site.administer(["user", "disable", Account.alice.name])
            let refused = try await site.administer(command, input: "another horse battery staple\n")
            #expect(refused.status == 3)
            #expect(refused.errors.contains("is disabled; enable the account first"), "\(refused.errors)")
            let left = try SQLiteStore(at: path)
            #expect(try await left.passkeys(of: user.id).count == 1)
            await left.close()
            _ = try await site.administer(["user", "enable", Account.alice.name])
            let changed = try await site.administer(command, input: "another horse battery staple\n")
            #expect(changed.output.hasSuffix("Deleted 1 passkey.\n"), "\(changed.output)")
        }
    }

    @Test func `an account is disabled and enabled, and gets a new password`() async throws {
        try await Site.make { site in
            let password = "correct horse battery staple\n"
            _ = try await site.administer(["user", "create", "alice", "--password-stdin"], input: password)
            let off = try await site.administer(["user", "disable", "alice"])
            #expect(off.output == "Disabled the user alice.\n")
            #expect(try await site.administer(["user", "list"]).output == "alice, disabled\n")
            let refused = try await site.administer(["user", "password", "alice", "--password-stdin"], input: password)
            #expect(refused.status == 3)
            #expect(refused.errors.contains("enable the account first with: counterfoil-server user enable alice\n"))
            let on = try await site.administer(["user", "enable", "alice"])
            #expect(on.output == "Enabled the user alice.\n")
            #expect(try await site.administer(["user", "list"]).output == "alice\n")
            let events = try await site.administer(["audit", "list", "--kind", "account", "--json"]).output
            #expect(events.contains("at the command line: enabled"), "\(events)")
            let changed = try await site.administer(
                ["user", "password", "alice", "--password-stdin"], input: "another horse battery staple\n")
            #expect(changed.output == "Changed the password of alice, and ended all sessions.\n")
            #expect(try await site.administer(["user", "password", "alice"]).status == 64)
            let nobody = try await site.administer(["user", "show", "bob"])
            #expect(nobody.status == 3)
            #expect(
                nobody.errors == "counterfoil-server: there is no user named bob; see: counterfoil-server user list\n")
        }
    }

    @Test func `a scope is created once, and the standard scopes exist already`() async throws {
        try await Site.make { site in
            let command = ["scope", "create", "photos.read", "--description", "See your photos and albums"]
            let made = try await site.administer(command + ["--json"])
            #expect(made.status == 0)
            #expect(
                made.output == #"""
                    {"description":"See your photos and albums","listed":false,"reserved":false,"scope":"photos.read",\#
                    "standard":false,"starts_ticked":false,"texts":{}}

                    """#)
            let again = try await site.administer(command)
            #expect(again.status == 3)
            #expect(again.errors == "counterfoil-server: photos.read: Another scope has the name.\n")
            let standard = try await site.administer(["scope", "create", "openid", "--description", "Know who you are"])
            #expect(standard.status == 3)
            let words = try await site.administer(["scope", "create", "photos.write", "--description", "Change photos"])
            #expect(
                words.output
                    == "Created the scope photos.write. Assign it to apps with: counterfoil-server app edit\n")
        }
    }

    @Test func `groups and attributes are set, and reach an app by a scope`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let name = Account.alice.name
            let edit = ["user", "edit", name]
            let set = try await site.administer(
                edit + [
                    "--group", "staff", "--group", "editors", "--attribute", "department=\"Sales\"",
                    "--attribute", "floor=3",
                ])
            #expect(set.status == 0, "\(set.errors)")
            #expect(set.output.contains("groups: editors, staff\n") && set.output.contains("attribute floor: 3"))
            let changed = try await site.administer(edit + ["--group", "", "--attribute", "floor="])
            #expect(!changed.output.contains("groups:") && !changed.output.contains("floor"))
            let shown = try await site.administer(["user", "show", name, "--json"])
            #expect(shown.output.contains(#""attributes":{"department":"Sales"}"#))
            #expect(shown.output.contains(#""groups":[]"#))
            for (attribute, error) in [
                ("department=Sales", "is not valid"), ("email=\"a\"", "has a meaning in OAuth"),
                ("a={}", "is not valid"),
                ("groups=[]", "cannot have the name groups"),
            ] {
                let refused = try await site.administer(edit + ["--attribute", attribute])
                #expect(refused.status == 64 && refused.errors.contains(error), "\(refused.errors)")
            }
            try await site.addScope("directory", "See your department")
            let scope = try await site.administer(["scope", "edit", "directory", "--claims", "groups,department"])
            #expect(
                scope.output == "directory  unlisted  unticked  claims department,groups in userinfo  "
                    + "See your department\n")
            let early = try await site.administer(["user", "claims", name, "--client", "app_nobody"])
            #expect(early.status == 3 && early.errors.contains("there is no app with the client_id app_nobody"))
        }
    }
}
