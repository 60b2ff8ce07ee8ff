import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import TestSupport
import Testing

struct BackchannelLogoutTests {
    private static let address = "https://rp.example.net/backchannel"

    private static func endSession(of party: RelyingParty) async throws -> [String: Any] {
        var browser = party.test.browser()
        let tokens = try await party.tokens(party.attempt(), in: &browser)
        let hint = try #require(tokens.idToken).exposed
        _ = try await browser.open("/oauth2/logout?" + FormParameters(["id_token_hint": hint]).encoded)
        return try party.claims(tokens)
    }

    // OpenID Connect Back-Channel Logout §2.4
    @Test(arguments: [(SigningAlgorithm.rs256, SubjectType.public), (.es256, .pairwise)])
    func `a client is notified once of the end of a session`(
        algorithm: SigningAlgorithm, subjectType: SubjectType
    ) async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(
            subjectType: subjectType, idTokenAlgorithm: algorithm, backchannelLogoutURI: Self.address,
            logoutSender: receiver)
        let signedIn = try await Self.endSession(of: party)
        let notifier = try #require(party.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == 1)
        #expect(try await notifier.deliverDue() == 0)
        let notice = try #require(receiver.notices.first)
        #expect(receiver.notices.count == 1)
        #expect(notice.address.rawValue == Self.address)
        #expect(notice.form.pairs.map(\.name) == ["logout_token"])
        let parts = try IssuedTokens.parts(of: try #require(notice.form.pairs.first?.value))
        #expect(parts.header["typ"] as? String == "logout+jwt")
        #expect(parts.header["alg"] as? String == algorithm.rawValue)
        #expect(parts.claims["iss"] as? String == party.test.issuer.rawValue)
        #expect(parts.claims["aud"] as? String == party.client.id.rawValue)
        #expect(parts.claims["sub"] as? String == signedIn["sub"] as? String)
        #expect(parts.claims["sid"] as? String == signedIn["sid"] as? String)
        #expect(parts.claims["nonce"] == nil)
        #expect((parts.claims["exp"] as? Int).flatMap { exp in (parts.claims["iat"] as? Int).map { exp - $0 } } == 120)
        #expect((parts.claims["jti"] as? String)?.isEmpty == false)
        let events = try #require(parts.claims["events"] as? [String: Any])
        #expect((events["http://schemas.openid.net/event/backchannel-logout"] as? [String: Any])?.isEmpty == true)
    }

    // No token request has created the key before.
    @Test func `the key for Ed25519 is created for the first logout token that needs it`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(backchannelLogoutURI: Self.address, logoutSender: receiver)
        _ = try await Self.endSession(of: party)
        try await party.test.change(party.client) { $0.policy.idTokenAlgorithm = .ed25519 }
        #expect(try await party.test.store.signingKeys().allSatisfy { $0.algorithm != .ed25519 })
        #expect(try await #require(party.test.server.logoutNotifier).deliverDue() == 1)
        let notice = try #require(receiver.notices.first)
        let header = try IssuedTokens.parts(of: try #require(notice.form.pairs.first?.value)).header
        #expect(header["alg"] as? String == "Ed25519")
        let key = try #require(try await party.test.store.signingKeys().first { $0.algorithm == .ed25519 })
        #expect(header["kid"] as? String == key.id.rawValue)
    }

    // OpenID Connect Back-Channel Logout §2.4
    @Test(arguments: [SubjectType.public, .pairwise])
    func `a client is notified of the sessions of a deleted user with the subject that it knows`(
        subjectType: SubjectType
    ) async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(
            subjectType: subjectType, backchannelLogoutURI: Self.address, logoutSender: receiver)
        let signedIn = try party.claims(try await party.tokens())
        let alice = party.test.alice
        let terms = try World.terms(of: alice)
        let event = AuditEvent(at: party.test.clock.now, .account, userID: terms.pseudonym)
        #expect(
            try await party.test.store.beginRemoval(
                of: alice.id, by: terms, recording: event, at: party.test.clock.now) == .begun([]))
        try await party.test.server.maintenance.deleteAllExpired()
        let notifier = try #require(party.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == 1)
        #expect(try await notifier.deliverDue() == 0)
        let notice = try #require(receiver.notices.first)
        let claims = try IssuedTokens.parts(of: try #require(notice.form.pairs.first?.value)).claims
        #expect(claims["sub"] as? String == signedIn["sub"] as? String && claims["sub"] != nil)
        #expect(claims["sid"] as? String == signedIn["sid"] as? String && claims["sid"] != nil)
    }

    // The server key was replaced, so the user of the notification cannot be decrypted any more.
    @Test func `a notification about a deleted user that cannot be decrypted is given up`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(backchannelLogoutURI: Self.address, logoutSender: receiver)
        _ = try await party.tokens()
        let former = try #require(ServerKey(bytes: [UInt8](repeating: 8, count: 32)))
        let terms = try RemovalTerms(of: party.test.alice.id, with: former)
        let event = AuditEvent(at: party.test.clock.now, .account, userID: terms.pseudonym)
        #expect(
            try await party.test.store.beginRemoval(
                of: party.test.alice.id, by: terms, recording: event, at: party.test.clock.now) == .begun([]))
        let notifier = try #require(party.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == 1)
        #expect(receiver.notices.isEmpty)
        #expect(try await party.test.store.logoutBacklog().count == 0)
        #expect(party.test.server.metrics.snapshot.events[.logoutGivenUp] == 1)
    }

    @Test func `a failed notification is retried at growing intervals, and finally given up`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(backchannelLogoutURI: Self.address, logoutSender: receiver)
        _ = try await Self.endSession(of: party)
        let notifier = try #require(party.test.server.logoutNotifier)
        receiver.answers(.failed("unreachable"))
        #expect(try await notifier.deliverDue() == 1)
        for delay in [10.0, 60, 300, 1800, 7200, 7200, 7200] {
            party.test.clock.advance(by: delay - 1)
            #expect(try await notifier.deliverDue() == 0)
            party.test.clock.advance(by: 1)
            #expect(try await notifier.deliverDue() == 1)
        }
        party.test.clock.advance(by: 7 * 24 * 3600)
        #expect(try await notifier.deliverDue() == 0)
        #expect(receiver.notices.count == LogoutDelivery.attemptLimit)
        // Each retry has a token of its own, with the current time.
        let names = try Set(
            receiver.notices.map { notice in
                try IssuedTokens.parts(of: try #require(notice.form.pairs.first?.value)).claims["jti"] as? String
            })
        #expect(names.count == LogoutDelivery.attemptLimit)
    }

    @Test func `a client that refuses once and then accepts is notified twice`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(backchannelLogoutURI: Self.address, logoutSender: receiver)
        _ = try await Self.endSession(of: party)
        let notifier = try #require(party.test.server.logoutNotifier)
        receiver.answers(.answered(status: 400))
        #expect(try await notifier.deliverDue() == 1)
        receiver.answers(.answered(status: 204))
        party.test.clock.advance(by: 10)
        #expect(try await notifier.deliverDue() == 1)
        party.test.clock.advance(by: 3600)
        #expect(try await notifier.deliverDue() == 0)
        #expect(receiver.notices.count == 2)
    }

    @Test func `an old ID token that is presented again and again queues one notification`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(backchannelLogoutURI: Self.address, logoutSender: receiver)
        var browser = party.test.browser()
        let tokens = try await party.tokens(party.attempt(for: "openid offline_access"), in: &browser)
        let query = FormParameters(["id_token_hint": try #require(tokens.idToken).exposed]).encoded
        _ = try await browser.open("/oauth2/logout?" + query)
        let notifier = try #require(party.test.server.logoutNotifier)
        let stranger = party.test.browser()
        for _ in 0..<3 {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        var browser = stranger
                        if number.isMultiple(of: 2) {
                            _ = try? await browser.open("/oauth2/logout?" + query)
                        } else {
                            _ = try? await browser.send(
                                .post, to: "/oauth2/logout/answer",
                                form: FormParameters(["request": query, "decision": "ask"]))
                        }
                    }
                }
            }
            while try await notifier.deliverDue() > 0 {}
        }
        #expect(receiver.notices.count == 1)
    }

    @Test func `a client without a logout URI gets no notification`() async throws {
        let receiver = NoticeReceiver()
        let party = try await RelyingParty(logoutSender: receiver)
        _ = try await Self.endSession(of: party)
        #expect(try await #require(party.test.server.logoutNotifier).deliverDue() == 0)
        #expect(receiver.notices.isEmpty)
    }

    /// Connections to hosts of which some never respond.
    private final class SilentHosts: LogoutNoticeSender {
        private let told = Mutex<[String]>([])
        var answering: [String] { told.withLock { $0 } }

        func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
            let host = notice.address.host ?? ""
            guard host.hasPrefix("silent") else {
                told.withLock { $0.append(host) }
                return .answered(status: 200)
            }
            // Only the end of the notifier ends this wait, so that no delivery can follow a time-out of another.
            try? await Task.sleep(for: .seconds(3600))
            return .failed("timedOut")
        }
    }

    @Test func `fifty clients whose hosts never respond delay no other client`() async throws {
        let hosts = SilentHosts()
        let test = try await TestServer(logoutSender: hosts)
        let developer = try await test.addUser("dora")
        var browser = test.browser()
        var clients: [RegisteredClient] = []
        for letter in "abcdefghijklmnopqrstuvwxy" {
            for name in ["Silent\(letter)x", "Silent\(letter)y"] {
                clients.append(
                    try await test.register(name, redirectURIs: ["http://127.0.0.1/cb"], owner: developer.id))
            }
        }
        clients.append(try await test.register("Zealous", redirectURIs: ["http://127.0.0.1/cb"]))
        for client in clients {
            var notified = client
            let host = client.id.rawValue.replacing("app_", with: "")
            notified.backchannelLogoutURI = try AbsoluteURI(parsing: "https://\(host).example.net/logout")
            #expect(try await test.store.updateClient(notified, logo: .keep) == .updated)
            _ = try await Attempt(test, by: notified, at: "http://127.0.0.1:51004/cb", for: "openid")
                .tokens(in: &browser)
        }
        let account = try await browser.open("/account").accountPage
        _ = try await browser.submit(
            FormParameters(["ticket": account.console.signOutTicket]), to: account.console.paths.signOut)
        #expect(try await test.store.logoutBacklog().count == clients.count)

        let notifier = try #require(test.server.logoutNotifier)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notifier.run() }
            defer { group.cancelAll() }
            _ = try await Waiting.until("the notification of the only host that responds") {
                hosts.answering.isEmpty ? nil : true
            }
        }
        #expect(hosts.answering == ["zealous.example.net"])
        #expect(test.server.metrics.snapshot.events[.logoutDelivered] == 1)
        // A request that the end of the process cancelled does not count as a failure.
        #expect(test.server.metrics.snapshot.events[.logoutFailed] == nil)
        #expect(await test.server.logoutBacklog()?.count == clients.count - 1)
    }
}
