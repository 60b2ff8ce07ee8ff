import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user link`, and `--must-change-password`.
@Suite(.timeLimit(.minutes(10)))
struct UserLinkTests {
    @Test func `a link is refused before a server has run, for a disabled user, and for too long a time`() async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            let name = Account.alice.name
            let early = try await site.administer(["user", "link", name])
            #expect(early.status == 3 && early.errors.contains("no server has run with this data"))
            #expect(early.output.isEmpty)
            let server = try await site.start()
            try await server.whileRunning {
                _ = try await server.said("that it listens") {
                    $0.errors.contains("Counterfoil serves ") ? true : nil
                }
            }
            for hours in ["0", "169", "-1"] {
                let refused = try await site.administer(["user", "link", name, "--hours", hours])
                #expect(refused.status == 64, "\(hours)")
            }
            let link = try await site.administer(["user", "link", name, "--hours", "2", "--json"])
            let json = try JSONSerialization.jsonObject(with: Data(link.output.utf8)) as? [String: Any]
            let document = try #require(json)
            #expect((document["url"] as? String)?.hasPrefix("\(site.issuer)/recover?token=") == true)
            let expires = try Date(try #require(document["expires_at"] as? String), strategy: .iso8601)
            #expect(abs(expires.timeIntervalSinceNow - 7200) < 60)
            // The log has the event, and not the secret.
            let log = try await site.administer(["audit", "list", "--kind", "account"])
            #expect(log.output.contains("created a link for a new password") && !log.output.contains("token="))
            #expect(try await site.administer(["user", "disable", name]).status == 0)
            let disabled = try await site.administer(["user", "link", name])
            #expect(disabled.status == 3 && disabled.errors.contains("is disabled"))
        }
    }

    @Test func `a password can be one that the user must change`() async throws {
        try await Site.make { site in
            let password = "correct horse battery staple\n"
            let created = try await site.administer(
                ["user", "create", "bob", "--password-stdin", "--must-change-password"], input: password)
            #expect(created.status == 0, "\(created.errors)")
            #expect(try await site.administer(["user", "show", "bob"]).output.contains("must change the password"))
            let set = try await site.administer(["user", "password", "bob", "--password-stdin"], input: password)
            #expect(set.status == 0, "\(set.errors)")
            #expect(try await !site.administer(["user", "show", "bob"]).output.contains("must change"))
            let again = try await site.administer(
                ["user", "password", "bob", "--password-stdin", "--must-change-password"], input: password)
            #expect(again.status == 0, "\(again.errors)")
            let shown = try await site.administer(["user", "show", "bob", "--json"])
            #expect(shown.output.contains(#""must_change_password":true"#))
        }
    }
}
