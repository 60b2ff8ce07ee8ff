@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `user export`.
@Suite(.timeLimit(.minutes(10)))
struct UserExportTests {
    /// Adds sessions, grants, a consent and events of a user, more than a page of the export.
    private static func fill(_ store: SQLiteStore, _ name: String, _ clientID: String) async throws -> Int {
        let username = try #require(Username(name))
        let user = try #require(try await store.user(named: username))
        let client = try #require(try await store.clients().first { $0.id.rawValue == clientID })
        let now = Date()
        let session = Session(
            digest: ArtefactDigest(of: SessionToken()), userID: user.id, authenticatedAt: now, lastSeenAt: now,
            expiresAt: now + 3600, userAgent: "Firefox", source: "192.0.2.7", isPersistent: true)
        let begun = try await store.beginSession(
            session, proving: .password(try #require(user.passwordHash)), replacing: nil, recording: [])
        #expect(begun == .begun(session.id))
        let subject = try #require(ExternalSubject(issuer: "https://shop.example.com", subject: "customer 7"))
        let identity = UserIdentity(subject: subject, userID: user.id, createdAt: now)
        #expect(try await store.addIdentity(identity, recording: []) == .added)
        for number in 0..<450 {
            let grant = Grant(
                userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
                device: GrantDevice(name: "Kitchen tablet", userAgent: "Firefox", source: "192.0.2.7"),
                createdAt: now, lastUsedAt: now)
            let code = CodeRecord(
                digest: ArtefactDigest(of: AuthorizationCode()),
                interaction: ArtefactDigest(of: InteractionIdentifier()), grantID: grant.id,
                redirectURI: .registered(try #require(client.redirectURIs.first)), codeChallenge: nil, nonce: nil,
                issuedAt: now, expiresAt: now + 60)
            let approval = Approval(
                grant: grant, code: code, asked: grant.scope, appearance: ClientAppearance(of: client),
                clientRevision: client.revision, pkce: .s256, passwordHash: user.passwordHash, basis: .answer)
            #expect(try await store.recordConsent(approval) == .recorded)
            if number == 0 {
                let family = RefreshFamily(
                    digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: now,
                    lastUsedAt: now, expiresAt: now + 3600)
                let redeemed = try await store.consumeCode(
                    code.digest, beginning: family, givingAccessUntil: now + 3600, attempt: CommitAttempt(), at: now)
                #expect(redeemed == .consumed)
            }
            try await store.appendAudit(AuditEvent(at: now, .consent, userID: user.id, source: "192.0.2.7"))
        }
        return try await store.audit(AuditQuery(userID: user.id, limit: 1000)).count
    }

    @Test func `an export contains every record of the user, and no hash, digest or token`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.add(.bob)
            let name = Account.alice.name
            let edited = try await site.administer(["user", "edit", name, "--given-name", "Zaphod"])
            #expect(edited.status == 0)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            let events = try await Self.fill(store, name, clientID)
            await store.close()

            let path = site.folder.path("export.json")
            let exported = try await site.administer(["user", "export", name, "--output", path])
            #expect(exported.status == 0 && exported.output.isEmpty, "\(exported.errors)")
            #expect(exported.errors == "Exported the user \(name) to \(path).\n")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(
                Set(document.keys)
                    == [
                        "exported_at", "account", "attributes", "sessions", "passkeys", "identities", "grants",
                        "consents", "clients", "audit_events",
                    ])
            let account = try #require(document["account"] as? [String: Any])
            #expect((account["profile"] as? [String: Any])?["given_name"] as? String == "Zaphod")
            #expect(account["email"] as? String == Account.alice.email)
            #expect(account["has_password"] as? Bool == true)
            let sessions = try #require(document["sessions"] as? [[String: Any]])
            #expect(sessions.map { $0["source"] as? String } == ["192.0.2.7"])
            #expect(sessions.map { $0["persistent"] as? Bool } == [true])
            let identities = try #require(document["identities"] as? [[String: Any]])
            #expect(identities.map { $0["subject"] as? String } == ["customer 7"])
            let grants = try #require(document["grants"] as? [[String: Any]])
            #expect(Set(grants.compactMap { $0["grant_id"] as? String }).count == 450)
            #expect(grants.count { $0["refresh_token"] != nil } == 1)
            #expect(grants.count { $0["access_until"] != nil } == 1)
            #expect(grants.allSatisfy { $0["device_name"] as? String == "Kitchen tablet" })
            let consents = try #require(document["consents"] as? [[String: Any]])
            #expect(consents.map { $0["client_name"] as? String } == ["Lightbox"])
            let audit = try #require(document["audit_events"] as? [[String: Any]])
            // The export is an event itself.
            #expect(Set(audit.compactMap { $0["number"] as? Int }).count == events + 1 && events > 450)
            #expect((audit[0]["detail"] as? String) == "at the command line: exported")
            #expect(!text.contains("argon2") && !text.contains("digest") && !text.contains("Bob Berg"))

            // The file is not overwritten, and none is created for an unknown user.
            let again = try await site.administer(["user", "export", name, "--output", path])
            #expect(again.status == 3)
            #expect(again.errors.hasPrefix("counterfoil-server: --output: cannot create the file \(path): "))
            let other = site.folder.path("other.json")
            #expect(try await site.administer(["user", "export", "unknown", "--output", other]).status == 3)
            #expect(!FileManager.default.fileExists(atPath: other))
            let printed = try await site.administer(["user", "export", name, "--output", "-"])
            #expect(printed.status == 0 && printed.errors.isEmpty)
            let shown = try #require(
                try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
            #expect((shown["grants"] as? [Any])?.count == 450)
            #expect(try await site.administer(["user", "export", name]).status == 64)

            // A file can grow to 64 KiB, and the next write fails as on a full disk. No part of the export stays.
            let failed = try await RunningProgram(
                .server, ["user", "export", name, "--output", other, "--data-dir", site.dataDirectory],
                fileSizeLimit: 65_536, in: site.folder
            ).ended()
            #expect(failed.status == 6)
            #expect(
                failed.errors
                    == "counterfoil-server: cannot write to \(other), so the export is incomplete; "
                    + "nothing else was changed\n")
            #expect(!FileManager.default.fileExists(atPath: other))
        }
    }

    @Test func `the export of a user without records is a complete object`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let printed = try await site.administer(["user", "export", Account.alice.name, "--output", "-"])
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
            for name in ["sessions", "grants", "consents", "clients"] {
                #expect((document[name] as? [Any])?.isEmpty == true, "\(name)")
            }
            #expect((document["audit_events"] as? [Any])?.count == 2)
        }
    }
}
