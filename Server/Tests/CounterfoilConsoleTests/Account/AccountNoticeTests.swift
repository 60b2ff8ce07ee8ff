import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The notices that a user gets by mail after a change of the ways in.
struct AccountNoticeTests {
    private static let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
    private static let newPassword = "a new one that nobody else has"

    /// A server with mail, and the browser of alice, whose address is verified.
    private struct Visit {
        let recorder = MailRecorder()
        let test: TestServer
        var browser: ScriptedUserAgent

        init() async throws {
            test = try await TestServer(mailSender: recorder)
            var alice = test.alice
            alice.profile.isEmailVerified = true
            #expect(try await test.store.updateUser(alice, at: test.clock.now) == .updated)
            browser = test.browser(source: "198.51.100.7")
            browser.fields[.userAgent] = AccountNoticeTests.agent
            try await browser.signInToConsole(username: "alice")
        }

        /// Sends the queued mails, and returns the subjects of those that were not sent before.
        func newSubjects() async throws -> [String] {
            let count = recorder.mails.count
            while await (try #require(test.server.mailDelivery)).deliverDue() > 0 {}
            return recorder.mails.dropFirst(count).map(\.page.subject)
        }

        /// A code that was not used yet.
        func code(of app: TestAuthenticator) -> String {
            test.clock.advance(by: 30)
            return test.code(of: app)
        }

        /// Sends a form of the page of the second factor.
        mutating func change(_ fields: [String: String]) async throws -> Reply {
            let page = try await browser.open("/account/second-factor").secondFactorPage
            var form = FormParameters(["ticket": page.ticket])
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
            return try await browser.submit(form, to: page.action)
        }

        mutating func removePasskey(_ id: String) async throws -> Reply {
            let page = try await browser.open("/account/passkeys").passkeysPage
            let form = FormParameters(["ticket": page.offer.ticket, "decision": "remove", "passkey": id, "name": ""])
            return try await browser.submit(form, to: page.offer.action)
        }
    }

    @Test func `an added and a removed passkey each cause a notice with the device, the place and the time`()
        async throws
    {
        var visit = try await Visit()
        var passkey = TestPasskey()
        let row = try #require(try await visit.browser.add(&passkey).passkeysPage.rows.first)
        #expect(try await visit.newSubjects() == ["A passkey was added to your account at Example Photos"])
        let mail = try #require(visit.recorder.mails.last)
        #expect(mail.recipient == visit.test.alice.email && mail.page.link == nil)
        #expect(mail.page.origin == "The change came from: Firefox on Linux, 198.51.100.7.")
        #expect(mail.page.opening.contains(Localizer.english.moment(visit.test.clock.now)))
        #expect(try await visit.removePasskey(row.id).passkeysPage.rows.isEmpty)
        #expect(try await visit.newSubjects() == ["A passkey was removed from your account at Example Photos"])
        #expect(try await visit.removePasskey(row.id).passkeysPage.notice?.contains("already removed") == true)
        #expect(try await visit.newSubjects() == [])
    }

    @Test func `a second factor and a used recovery code cause notices`() async throws {
        var visit = try await Visit()
        let (_, codes) = try await visit.test.setUpSecondFactor(in: &visit.browser)
        #expect(try await visit.newSubjects() == ["Two-step sign-in for your account at Example Photos is on"])
        var other = visit.test.browser()
        let signIn = try await other.open("/sign-in").signInPage
        let asked = try await other.submit(
            signIn.form(username: "alice", password: TestServer.password), to: signIn.action)
        let page = try #require(asked.page as? CodePage)
        #expect(try await visit.newSubjects() == [])
        let form = FormParameters([
            "request": page.request, "ticket": page.ticket, "pending": page.pending,
            "code": try #require(codes.first),
        ])
        #expect(try await other.send(.post, to: page.action, form: form).status == .seeOther)
        #expect(try await visit.newSubjects() == ["A recovery code was used at Example Photos"])
        let settings = try await visit.browser.open("/account/second-factor").secondFactorPage
        let removal = FormParameters([
            "ticket": settings.ticket, "decision": "remove", "current": try #require(codes.last),
        ])
        _ = try await visit.browser.submit(removal, to: settings.action)
        #expect(try await visit.newSubjects() == ["Two-step sign-in for your account at Example Photos is off"])
    }

    @Test func `each change of the second factor causes a notice`() async throws {
        var visit = try await Visit()
        let (app, _) = try await visit.test.setUpSecondFactor(in: &visit.browser)
        _ = try await visit.newSubjects()
        #expect(try await visit.change(["decision": "recovery-codes", "current": visit.code(of: app)]).status == .ok)
        #expect(try await visit.newSubjects() == ["New recovery codes for your account at Example Photos"])
        var key = TestPasskey.securityKey()
        let added = try await visit.browser.add(&key, provingBy: visit.code(of: app)).secondFactorPage
        #expect(try await visit.newSubjects() == ["A security key was added to your account at Example Photos"])
        let row = try #require(added.keys.first)
        _ = try await visit.change(["decision": "remove-key", "passkey": row.id, "current": visit.code(of: app)])
        #expect(try await visit.newSubjects() == ["A security key of your account at Example Photos was removed"])
        let offer = try #require(try await visit.browser.open("/account/second-factor").secondFactorPage.offer)
        let other = try TestAuthenticator(offer)
        let current = visit.code(of: app)
        let replaced = [
            "decision": "replace", "setup": offer.setup, "code": visit.test.code(of: other), "current": current,
        ]
        #expect(try await visit.change(replaced).status == .ok)
        #expect(try await visit.newSubjects() == ["Two-step sign-in for your account at Example Photos was changed"])
    }

    @Test func `a removed and an added password cause notices`() async throws {
        var visit = try await Visit()
        for _ in 1...2 {
            var passkey = TestPasskey()
            _ = try await visit.browser.add(&passkey)
        }
        _ = try await visit.newSubjects()
        let before = try await visit.browser.open("/account/password").passwordPage
        let removal = FormParameters([
            "ticket": before.ticket, "current_password": TestServer.password, "decision": "remove",
        ])
        #expect(try await visit.browser.send(.post, to: before.action, form: removal).status == .seeOther)
        #expect(try await visit.newSubjects() == ["Your password for Example Photos was removed"])
        let after = try await visit.browser.open("/account/password").passwordPage
        let addition = FormParameters([
            "ticket": after.ticket, "username": after.username, "new_password": Self.newPassword, "decision": "add",
        ])
        #expect(try await visit.browser.send(.post, to: after.action, form: addition).status == .seeOther)
        #expect(try await visit.newSubjects() == ["Your account at Example Photos has a password"])
    }

    @Test func `a way back causes a notice, also that of an operator`() async throws {
        var visit = try await Visit()
        let (_, codes) = try await visit.test.setUpSecondFactor(in: &visit.browser)
        _ = try await visit.newSubjects()
        var browser = visit.test.browser()
        let page = try await browser.open("/recover")
        _ = try await browser.recover("alice", by: codes[0], to: Self.newPassword, on: page).codePage
        #expect(try await visit.newSubjects() == ["Your password for Example Photos was changed"])
        let link = try await visit.test.operatorLink(for: visit.test.alice)
        let form = try await browser.open(link)
        let after = try await browser.setPassword("another one that nobody else has", code: codes[1], on: form)
        #expect(after.status == .ok)
        #expect(try await visit.newSubjects().contains("Your password for Example Photos was changed"))
    }

    @Test func `forms that change nothing use up no notice`() async throws {
        var visit = try await Visit()
        var passkey = TestPasskey()
        let row = try #require(try await visit.browser.add(&passkey).passkeysPage.rows.first)
        // 32 bytes that are the digest of no passkey.
        let unknown = String(repeating: "A", count: 43)
        for _ in 1...MailQueue.mailsPerAddress + 1 { _ = try await visit.removePasskey(unknown) }
        _ = try await visit.newSubjects()
        _ = try await visit.removePasskey(row.id)
        #expect(try await visit.newSubjects() == ["A passkey was removed from your account at Example Photos"])
    }

    @Test func `an address gets a limited number of notices of one kind in an hour, and further ones of others`()
        async throws
    {
        var visit = try await Visit()
        for number in 1...MailQueue.mailsPerAddress + 1 {
            var passkey = TestPasskey()
            _ = try await visit.browser.add(&passkey)
            #expect(try await visit.newSubjects().count == (number <= MailQueue.mailsPerAddress ? 1 : 0))
        }
        let row = try #require(try await visit.browser.open("/account/passkeys").passkeysPage.rows.first)
        _ = try await visit.removePasskey(row.id)
        #expect(try await visit.newSubjects() == ["A passkey was removed from your account at Example Photos"])
    }

    @Test func `a notice has the language of the account before that of the browser`() async throws {
        var visit = try await Visit()
        var alice = try #require(try await visit.test.store.user(visit.test.alice.id))
        alice.profile.locale = "de-AT"
        #expect(try await visit.test.store.updateUser(alice, at: visit.test.clock.now) == .updated)
        var passkey = TestPasskey()
        _ = try await visit.browser.add(&passkey)
        #expect(try await visit.newSubjects() == ["Zu Ihrem Konto bei Example Photos wurde ein Passkey hinzugefügt"])
    }

    @Test(arguments: AccountChange.allCases)
    func `each change is found again in its event, also in that of a command`(_ change: AccountChange) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for prefix in ["", "at the command line: "] {
            let event = AuditEvent(at: now, change.kind, detail: prefix + change.detail)
            #expect(AccountChange(event) == change)
        }
        #expect(AccountChange(AuditEvent(at: now, change.kind, .refused, detail: change.detail)) == nil)
    }
}
