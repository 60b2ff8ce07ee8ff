import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on the installation: findings, settings, the certificate and mail.
struct InstallationOperationTests {
    private static let findings = [
        ServerFinding(.sound, "store", "the store answers"),
        ServerFinding(.fault, "backup-old", "the last backup is old", mend: "check the timer"),
    ]

    /// The details of the events that a user has caused, newest first.
    private static func details(by user: User, in test: TestServer) async throws -> [String] {
        try await test.store.audit(AuditQuery(kind: .setting)).map(\.event).filter { $0.userID == user.id }
            .compactMap(\.detail)
    }

    // SEC-952
    @Test func `findings are listed, and checks of other hosts run with a post only, and are limited`() async throws {
        let reporter = ScriptedInstallation { script in
            script.findings = Self.findings
            script.slowFindings = [Self.findings[0]]
        }
        let desk = try await AdministrationDesk(reporter: reporter)
        let token = try await desk.token("counterfoil.admin.server:read")
        let list = try await desk.send(.get, "/server/findings", as: token)
        #expect(try list.items("topic") == ["backup-old", "store"])
        #expect(try list.items("mend") == ["check the timer"] && list.items("weight") == ["fault", "sound"])
        #expect(reporter.checks == 0)
        #expect(try await desk.send(.post, "/server/checks", as: token).items("topic") == ["store"])
        reporter.change { $0.slowFindings = nil }
        let late = try await desk.send(.post, "/server/checks", as: token)
        #expect(late.problem == "check-pending" && late.fields[.retryAfter] != nil)
        for _ in 3...6 { _ = try await desk.send(.post, "/server/checks", as: token) }
        let refused = try await desk.send(.post, "/server/checks", as: token)
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] != nil)
        let service = try await desk.serviceToken("counterfoil.admin.server:read")
        for status in [409, 409, 409, 409, 409, 409, 429] {
            #expect(try await desk.send(.post, "/server/checks", as: service).status.code == status)
        }
    }

    @Test func `the server keys are listed with what needs them, as often as the checks that take long`() async throws {
        let need = ServerKeyNeed(kind: .refreshTokens, count: 2, until: Date(timeIntervalSince1970: 1_800_000_000))
        let reporter = ScriptedInstallation { script in
            script.serverKeys = [
                ServerKeyState(fingerprint: "0a1b2c3d", state: .current, firstUntil: nil, needs: []),
                ServerKeyState(fingerprint: "1b2c3d4e", state: .former, firstUntil: nil, needs: [need]),
            ]
        }
        let desk = try await AdministrationDesk(reporter: reporter)
        let token = try await desk.token("counterfoil.admin.server:read")
        let list = try await desk.send(.get, "/server-keys", as: token)
        #expect(try list.items("fingerprint") == ["0a1b2c3d", "1b2c3d4e"])
        #expect(try list.items("state") == ["current", "former"])
        let items = try #require(try list.members["items"] as? [[String: Any]])
        let needs = try #require(items[1]["needs"] as? [[String: Any]])
        #expect(needs.map { $0["kind"] as? String } == ["refresh-tokens"] && needs[0]["count"] as? Int == 2)
        #expect(needs[0]["until"] as? String == "2027-01-15T08:00:00Z" && needs[0]["last_used"] == nil)
        for _ in 2...6 { _ = try await desk.send(.get, "/server-keys", as: token) }
        #expect(try await desk.send(.get, "/server-keys", as: token).status == .tooManyRequests)
        let other = try await AdministrationDesk()
        #expect(try await other.send(.get, "/server-keys", as: try await other.token()).status == .notFound)
    }

    // SEC-952
    @Test func `the settings say where each value comes from, and show no secret`() async throws {
        let reporter = ScriptedInstallation { script in
            script.settings = [
                ReportedSettings(
                    title: "Server",
                    settings: [
                        ReportedSetting(
                            name: "server-key", value: .secret, origin: .variable("COUNTERFOIL_SERVER_KEY")),
                        ReportedSetting(
                            name: "trusted-proxy", value: .many(["10.0.0.0/8"]),
                            origin: .file(path: "/etc/server.yaml", line: 3), waitsForRestart: true),
                        ReportedSetting(name: "mail-server", value: .missing, origin: .standard),
                    ])
            ]
        }
        let desk = try await AdministrationDesk(reporter: reporter)
        let token = try await desk.token()
        let items = try #require(
            try await desk.send(.get, "/settings", as: token).members["items"] as? [[String: Any]])
        #expect(items.map { $0["name"] as? String } == ["server-key", "trusted-proxy", "mail-server"])
        #expect(items[0]["value"] as? String == "(set)")
        #expect(items[0]["variable"] as? String == "COUNTERFOIL_SERVER_KEY")
        #expect(items[1]["value"] as? [String] == ["10.0.0.0/8"] && items[1]["line"] as? Int == 3)
        #expect(items[1]["waits_for_restart"] as? Bool == true)
        #expect(items[2]["value"] == nil && items[2]["origin"] as? String == "default")
    }

    @Test func `the certificate is shown, and requested only if the server orders it`() async throws {
        let reporter = ScriptedInstallation()
        let desk = try await AdministrationDesk(reporter: reporter)
        let (token, test) = (try await desk.token(), desk.test)
        #expect(try await desk.send(.get, "/certificate", as: token).status == .notFound)
        let other = try await desk.send(.post, "/certificate/renewal", as: token)
        #expect(other.problem == "certificate-not-ordered")
        let start = test.clock.now
        reporter.change { script in
            script.ordersCertificate = true
            script.state?.certificate = InstallationState.Certificate(
                authority: "https://ca.example", validity: DateInterval(start: start, duration: 86_400))
        }
        let shown = try await desk.send(.get, "/certificate", as: token).members
        #expect(shown["authority"] as? String == "https://ca.example")
        #expect(shown["valid_from"] as? String == Moment.text(start))
        #expect(shown["renewal_requested"] as? Bool == false && shown["failed"] == nil)

        let (holder, digest) = (LeaseHolder(), ArtefactDigest(of: ClientSecret()))
        #expect(try await test.store.takeOrderLease(holder, until: start.addingTimeInterval(30), at: start))
        #expect(
            try await test.store.storeCertificate(
                IssuedCertificate(chain: "chain", sealedKey: [1], authority: "https://ca.example", storedAt: start),
                orderedWith: digest, by: holder))
        for _ in 1...2 {
            #expect(try await desk.send(.post, "/certificate/renewal", as: token).status == .accepted)
        }
        #expect(try await Self.details(by: test.alice, in: test) == ["requested a new certificate"])
    }

    @Test func `a test mail is recorded if it was accepted, and the problem says why it was not`() async throws {
        let recorder = MailRecorder()
        let desk = try await AdministrationDesk(mailSender: recorder)
        let token = try await desk.token()
        func send(_ address: String) async throws -> Reply {
            try await desk.send(.post, "/mail/test", as: token, json: #"{"email": "\#(address)"}"#)
        }
        #expect(try await send("nobody").refusedParts == ["/email"])
        let sent = try await send("bob@example.com")
        #expect(sent.status == .ok)
        #expect(recorder.mails.map(\.recipient.rawValue) == ["bob@example.com"])
        #expect(try sent.members["mail"] as? String == recorder.mails.first?.id.rawValue)
        recorder.answers(.refused("refused", reply: "550 no such user"))
        let refused = try await send("eve@example.com")
        #expect(refused.status == .conflict && refused.problem == "mail-refused")
        #expect((try refused.members["detail"] as? String)?.contains("550 no such user") == true)
        #expect(try await Self.details(by: desk.test.alice, in: desk.test) == ["sent a test mail"])

        let other = try await AdministrationDesk()
        let without = try await other.send(
            .post, "/mail/test", as: try await other.token(), json: #"{"email": "bob@example.com"}"#)
        #expect(without.problem == "no-mail")
    }
}
