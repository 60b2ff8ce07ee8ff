import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// Users who move from one server to another.
@Suite(.timeLimit(.minutes(10)))
struct ImportedUserTests {
    private static let password = "correct horse battery staple"
    /// The hash of ``password`` by passlib 1.7.4.
    private static let hash =
        "$pbkdf2-sha256$1000$zHnPOQcAYCyl9J6TUiplLA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU"

    private static func line(_ number: Int) -> String {
        #"{"sub": "auth0|\#(number)", "username": "user\#(number)", "name": "User \#(number)", "#
            + #""password_hash": "\#(hash)"}"#
    }

    @Test func `an export of all users is imported into an empty server, where the users sign in`() async throws {
        try await Site.make { old in
            let lines = [Self.line(1), Self.line(2), #"{"username": "nora"}"#].joined(separator: "\n")
            #expect(try await old.administer(["user", "import", "-"], input: lines).status == 0)
            try await old.add(.alice)
            let plain = try await old.administer(["user", "export", "--all", "--output", "-"])
            #expect(plain.status == 0 && !plain.output.contains("password_hash"), "\(plain.errors)")
            let exported = old.folder.path("exported.jsonl")
            let export = try await old.administer(
                ["user", "export", "--all", "--password-hashes", "--output", exported])
            #expect(export.status == 0 && export.errors == "Exported 4 users to \(exported).\n", "\(export.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: exported)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let audit = try await old.administer(["audit", "list", "--kind", "account"]).output
            #expect(audit.contains("exported all users") && audit.contains("exported all password hashes"))
            for wrong in [["--all", "nora"], [], ["nora", "--password-hashes"]] {
                let refused = try await old.administer(["user", "export", "--output", "-"] + wrong)
                #expect(refused.status == 64, "\(wrong)")
            }

            try await Site.make { new in
                #expect(try await new.administer(["user", "import", exported]).status == 0)
                let again = try await new.administer(
                    ["user", "export", "--all", "--password-hashes", "--output", "-"])
                #expect(again.output == (try String(contentsOfFile: exported, encoding: .utf8)))
                try await new.serving {
                    for account in [Account(name: "user2", fullName: "User 2", password: Self.password), .alice] {
                        var browser = UserAgent()
                        let page = try await account.signIn("\(new.issuer)/account", in: &browser)
                        #expect(page.status == 200 && page.text.contains(account.fullName), "\(page.text)")
                    }
                }
                let after = try await new.administer(
                    ["user", "export", "--all", "--password-hashes", "--output", "-"]
                ).output.split(separator: "\n").map(String.init)
                #expect(after.count { $0.contains("pbkdf2-sha256") } == 1)
                #expect(after.first { $0.contains("auth0|2\"") }?.contains("$argon2id$v=19$m=19456,t=2,p=1$") == true)
            }
        }
    }
}
