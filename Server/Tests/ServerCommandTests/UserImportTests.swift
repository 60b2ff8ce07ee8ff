import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user import`, and the export over the API.
@Suite(.timeLimit(.minutes(10)))
struct UserImportTests {
    private static let password = "correct horse battery staple"
    /// The hash of ``password`` by passlib 1.7.4.
    private static let hash =
        "$pbkdf2-sha256$1000$zHnPOQcAYCyl9J6TUiplLA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU"

    private static func line(_ number: Int, hash: String = hash) -> String {
        #"{"sub": "auth0|\#(number)", "username": "user\#(number)", "email": "user\#(number)@example.com", "#
            + #""email_verified": true, "name": "User \#(number)", "groups": ["staff"], "password_hash": "\#(hash)"}"#
    }

    private static func file(_ lines: [String], in site: Site, named name: String = "users.jsonl") throws -> String {
        let path = site.folder.path(name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func usernames(in site: Site) async throws -> [String] {
        let list = try await site.administer(["user", "list"]).output
        return list.split(separator: "\n").compactMap { $0.split { " ,".contains($0) }.first.map(String.init) }
    }

    @Test func `two thousand users are imported, and an interrupted import is started again`() async throws {
        try await Site.make { site in
            let lines = (1...2000).map { Self.line($0) }
            // The first run ends in the middle of a line.
            let part = Array(lines.prefix(1234)) + [String(lines[1234].prefix(40))]
            let cut = try Self.file(part, in: site, named: "cut.jsonl")
            let first = try await site.administer(["user", "import", cut])
            #expect(first.status == 3)
            #expect(
                first.output == """
                    line 1235: The line is no JSON object in UTF-8 with distinct members.
                    Created 1234 users. 0 users existed already.

                    """)
            #expect(first.errors.contains("1 line of the file was refused"))
            let path = try Self.file(lines, in: site)
            let trial = try await site.administer(["user", "import", path, "--dry-run"])
            #expect(trial.output == "Would create 766 users. 1234 users existed already.\n", "\(trial.errors)")
            #expect(try await Self.usernames(in: site).count == 1234)
            let second = try await site.administer(["user", "import", "-"], input: lines.joined(separator: "\n"))
            #expect(second.status == 0 && second.output == "Created 766 users. 1234 users existed already.\n")
            #expect(try await Self.usernames(in: site).count == 2000)
            let again = try await site.administer(["user", "import", path, "--json"])
            #expect(again.output == #"{"created":0,"dry_run":false,"exists":2000,"refused":0}"# + "\n")
            let shown = try await site.administer(["user", "show", "user1999"])
            #expect(shown.output.contains("sub: auth0|1999") && shown.output.contains("groups: staff"))
        }
    }

    @Test func `a line that is refused is named, and the others are imported`() async throws {
        try await Site.make { site in
            let lines = [
                "\u{FEFF}" + Self.line(1), "", "not JSON", Self.line(2, hash: "$1$old$hash"),
                #"{"username": "user3", "colour": "red", "profile": {"website": "x"}}"#,
                #"{"username": "user4", "name": ""# + String(repeating: "a", count: 33_000) + #""}"#, "[]",
                Self.line(1), #"{"username": "user1"}"#, Self.line(5) + "\r", #"{"username": "a", "username": "b"}"#,
                #"{"username": "u\u001b[31m"}"#,
            ]
            let path = try Self.file(lines, in: site)
            let run = try await site.administer(["user", "import", path])
            #expect(run.status == 3)
            let output = run.output.split(separator: "\n").map(String.init)
            let expected = [
                "line 3: The line is no JSON object", "line 4: password_hash: It must be a hash of",
                "line 5: colour: The operation has no such member.", "line 5: profile/website: It ",
                "line 6: The line is longer than 32768 bytes.", "line 7: The line is no JSON object",
                "line 8: sub: An earlier user of the import has it.",
                "line 8: username: An earlier user of the import has it.",
                "line 8: email: An earlier user of the import has it.",
                "line 9: username: An earlier user of the import has it.", "line 11: The line is no JSON object",
                "line 12: username: It must have 1 to 64", "Created 2 users. 0 users existed already.",
            ]
            #expect(output.count == expected.count, "\(run.output)")
            for (line, beginning) in zip(output, expected) { #expect(line.hasPrefix(beginning), "\(line)") }
            #expect(!run.output.contains("$1$old") && !run.output.contains("\u{1B}"))
            #expect(run.errors.contains("9 lines of the file were refused"))
            #expect(try await Self.usernames(in: site) == ["user1", "user5"])

            let json = try await site.administer(["user", "import", path, "--json"])
            let first = try #require(json.output.split(separator: "\n").first)
            let refusal = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
            #expect(refusal?["line"] as? Int == 3 && refusal?["outcome"] as? String == "refused")
            #expect(json.output.hasSuffix(#"{"created":0,"dry_run":false,"exists":2,"refused":9}"# + "\n"))
            let missing = try await site.administer(["user", "import", site.folder.path("missing")])
            #expect(missing.status == 3 && missing.errors.contains("cannot read the file"))
        }
    }

    @Test func `users are imported and exported over the API, without their hashes`() async throws {
        try await RemoteServer.run(["users:read", "users:write"]) { server in
            let path = try Self.file((1...450).map { Self.line($0) } + ["{}"], in: server.site)
            let run = try await server.run(["user", "import", path])
            #expect(run.status == 3, "\(run.errors)")
            #expect(
                run.output == "line 451: username: It is required.\nCreated 450 users. 0 users existed already.\n")
            let export = try await server.run(["user", "export", "--all", "--output", "-"])
            let here = try await server.site.administer(["user", "export", "--all", "--output", "-"])
            #expect(export.status == 0 && export.output == here.output)
            #expect(export.output.split(separator: "\n").count == 450 && !export.output.contains("pbkdf2"))
            let hashes = try await server.run(["user", "export", "--all", "--password-hashes", "--output", "-"])
            #expect(hashes.status == 64 && hashes.output.isEmpty)
            let reader = try await server.limited(to: ["users:read"])
            let refused = try await reader.run(["user", "import", path])
            #expect(refused.status == 3 && refused.errors.contains("users:write"))
            #expect(refused.errors.contains("The import stopped before line 1."))
        }
    }
}
