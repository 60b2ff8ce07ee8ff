import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user reset-second-factor`, and the second factor in `user export`.
@Suite(.timeLimit(.minutes(10)))
struct UserSecondFactorTests {
    @Test func `an operator removes the second factor of a user, and the log names the change`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let name = Account.alice.name
            let none = try await site.administer(["user", "reset-second-factor", name])
            #expect(none.status == 3)
            #expect(none.errors == "counterfoil-server: the user \(name) has no second factor\n")

            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            let username = try #require(Username(name))
            let user = try #require(try await store.user(named: username))
            let factor = SecondFactor(
                userID: user.id, digest: ArtefactDigest(of: SessionToken()), sealedSecret: [1], keyName: "0a0a0a0a",
                createdAt: Date(), lastStep: 1)
            let codes = [ArtefactDigest(of: SessionToken())]
            #expect(
                try await store.addSecondFactor(factor, recoveryCodes: codes, key: nil, keeping: nil, recording: [])
                    == .added)
            await store.close()

            let exported = try await site.administer(["user", "export", name, "--output", "-"]).output
            let json = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: Any]
            let document = try #require(json?["second_factor"] as? [String: Any])
            #expect(document["unused_recovery_codes"] as? Int == 1 && document["missing"] as? Bool == false)
            #expect(document["created_at"] is String && (document["security_keys"] as? [Any])?.isEmpty == true)
            #expect(document["authenticator_app"] as? Bool == true)

            let removed = try await site.administer(["user", "reset-second-factor", name])
            #expect(removed.output == "Removed the second factor of \(name), and the recovery codes.\n")
            let log = try await site.administer(["audit", "list", "--kind", "second-factor", "--json"])
            #expect(log.output.contains("\"second-factor\"") && log.output.contains("removed"))
        }
    }
}
