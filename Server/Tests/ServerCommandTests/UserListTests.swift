import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user list` with its search and filters, and `user edit` with the rights of a user.
@Suite(.timeLimit(.minutes(10)))
struct UserListTests {
    private static let password = "correct horse battery staple\n"

    private static func create(_ name: String, at site: Site, options: [String] = []) async throws {
        let created = try await site.administer(
            ["user", "create", name, "--email", "\(name)@example.com", "--password-stdin"] + options, input: password)
        #expect(created.status == 0, "\(created.errors)")
    }

    private static func names(_ options: [String], at site: Site) async throws -> [String] {
        struct Listed: Decodable { let username: String }
        let listed = try await site.administer(["user", "list", "--json"] + options)
        #expect(listed.status == 0 && listed.errors.isEmpty, "\(listed.errors)")
        return try JSONDecoder().decode([Listed].self, from: Data(listed.output.utf8)).map(\.username)
    }

    @Test func `a list is searched, filtered and read in pages`() async throws {
        try await Site.make { site in
            try await Self.create("root", at: site, options: ["--role", "owner"])
            for name in ["alice", "albert", "bob"] { try await Self.create(name, at: site) }
            #expect(try await site.administer(["user", "disable", "bob"]).status == 0)
            #expect(try await Self.names([], at: site) == ["albert", "alice", "bob", "root"])
            #expect(try await Self.names(["--search", "AL"], at: site) == ["albert", "alice"])
            #expect(try await Self.names(["--search", "%"], at: site).isEmpty)
            #expect(try await Self.names(["--search", "bob@"], at: site) == ["bob"])
            #expect(try await Self.names(["--state", "disabled"], at: site) == ["bob"])
            #expect(try await Self.names(["--role", "owner"], at: site) == ["root"])
            #expect(try await Self.names(["--never-signed-in", "--no-second-factor"], at: site).count == 4)
            #expect(try await Self.names(["--signed-in-since", "2000-01-01"], at: site).isEmpty)
            #expect(try await Self.names(["--limit", "2"], at: site) == ["albert", "alice"])
            #expect(try await Self.names(["--limit", "2", "--after", "alice"], at: site) == ["bob", "root"])
            let none = try await site.administer(["user", "list", "--search", "nobody"])
            #expect(none.output.isEmpty && none.errors == "No user matches.\n")
        }
    }

    @Test(arguments: [
        ["--state", "off"], ["--role", "root"], ["--limit", "0"], ["--limit", "-1"], ["--search", ""],
        ["--search", String(repeating: "a", count: 1001)], ["--after", "a b"], ["--signed-in-before", "soon"],
        ["--never-signed-in", "--signed-in-before", "2026-01-01"],
    ])
    func `a filter that is not understood is wrong usage`(options: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user", "list"] + options)
            #expect(ended.status == 64 && ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("Error: "), "\(ended.errors)")
        }
    }

    @Test func `a role is given and taken, but not that of the last owner`() async throws {
        try await Site.make { site in
            try await Self.create("root", at: site, options: ["--role", "owner"])
            try await Self.create("alice", at: site)
            let refusal = """
                counterfoil-server: no owner but root can sign in; create another one first with: \
                counterfoil-server user create NAME --role owner

                """
            for command in [["user", "edit", "root", "--role", "none"], ["user", "disable", "root"]] {
                let refused = try await site.administer(command)
                #expect(refused.status == 3 && refused.errors == refusal)
            }
            let given = try await site.administer(["user", "edit", "alice", "--role", "owner"])
            #expect(given.status == 0 && given.output.hasPrefix("alice <alice@example.com>, owner\n"))
            let taken = try await site.administer(["user", "edit", "root", "--role", "none"])
            #expect(taken.status == 0 && taken.output.hasPrefix("root <root@example.com>\n"))
            let log = try await site.administer(["audit", "list", "--kind", "account"]).output
            #expect(log.contains("(at the command line: role changed from none to owner)"), "\(log)")
            #expect(log.contains("(at the command line: role changed from owner to none)"), "\(log)")
            let both = try await site.administer(["user", "edit", "root", "--role", "owner", "--nickname", "r"])
            #expect(both.status == 64 && both.errors.contains("cannot be combined"))
        }
    }

    @Test func `a dry run counts what a deletion would delete, and deletes nothing`() async throws {
        try await Site.make { site in
            try await Self.create("alice", at: site)
            let shown = try await site.administer(["user", "delete", "alice", "--dry-run"])
            #expect(shown.status == 0, "\(shown.errors)")
            let beginning = "This would delete the user alice <alice@example.com>, with:\n  sessions: 0\n"
            #expect(shown.output.hasPrefix(beginning))
            #expect(shown.output.hasSuffix("audit events that get a pseudonym: 1\nNothing was deleted.\n"))
            let json = try await site.administer(["user", "delete", "alice", "--dry-run", "--json"])
            #expect(json.output.contains(#""audit_events":1"#) && json.output.contains(#""clients":[]"#))
            #expect(try await site.administer(["user", "show", "alice"]).status == 0)
        }
    }
}
