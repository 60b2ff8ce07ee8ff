import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Accounts that persons create with an invitation of an operator.
struct InvitationTests {
    private static func user(_ name: String, _ test: TestServer) async throws -> User? {
        try await test.store.user(named: try #require(Username(name)))
    }

    @Test func `an invitation creates an account with its role, once`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let draft = Invitations.Draft(
            email: EmailAddress("bob@example.com"), role: .support, clientID: test.lightbox.id)
        let (invitation, path) = try await test.invite(draft)
        var browser = test.browser()
        for _ in 1...2 {
            let page = try await browser.open(path).newAccountPage
            #expect(page.email == "bob@example.com" && page.clientName?.description == "Lightbox")
        }
        let page = try await browser.open(path).newAccountPage
        let account = try await browser.submit(page.form("bob"), to: page.action)
        _ = try account.accountPage
        let user = try #require(try await Self.user("bob", test))
        // No mail proved the address.
        #expect(user.role == .support && user.email == invitation.email && user.profile.isEmailVerified != true)
        let again = try await browser.submit(page.form("robert"), to: page.action)
        #expect(again.status == .notFound)
        #expect(try await browser.open(path).status == .notFound)
        let log = try await test.store.audit(AuditQuery(kind: .account)).map(\.event)
        let created = try #require(log.first { $0.userID == user.id })
        #expect(created.detail == "created by the invitation \(invitation.shortID), with the role support")
        #expect(created.clientID == test.lightbox.id)
    }

    @Test func `an invitation that was mailed verifies the address`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder) { $0.signUp = .invited }
        let draft = Invitations.Draft(email: EmailAddress("bob@example.com"), days: 3, mailLanguage: .german)
        // The operator, who chooses the address, gets no link that verifies it.
        #expect(try await test.invited(draft).link == nil)
        await (try #require(test.server.mailDelivery)).deliverDue()
        let mail = try #require(recorder.mails.first)
        let path = try #require(mail.linkPath(at: test.issuer))
        #expect(mail.recipient.rawValue == "bob@example.com")
        #expect(mail.page.subject == "Sie sind zu Example Photos eingeladen")
        #expect(mail.page.closing.contains("3 Tage"))
        var browser = test.browser()
        let page = try await browser.open(path).newAccountPage
        _ = try await browser.submit(page.form("bob"), to: page.action).accountPage
        #expect(try await Self.user("bob", test)?.profile.isEmailVerified == true)
    }

    @Test func `an invitation without an address gives an account without one`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let (_, path) = try await test.invite()
        var browser = test.browser()
        let page = try await browser.open(path).newAccountPage
        #expect(page.email == nil)
        // No field of the form sets another one.
        var form = page.form("bob")
        form.append("email", "alice@example.com")
        form.append("role", "owner")
        _ = try await browser.submit(form, to: page.action).accountPage
        let user = try #require(try await Self.user("bob", test))
        #expect(user.email == nil && user.role == nil)
    }

    @Test func `an invitation that was withdrawn, has expired or is for a taken address creates nothing`()
        async throws
    {
        let test = try await TestServer { $0.signUp = .invited }
        var browser = test.browser()
        let (withdrawn, first) = try await test.invite()
        let page = try await browser.open(first).newAccountPage
        #expect(try await test.store.removeInvitation(withdrawn.digest, recording: []))
        #expect(try await browser.submit(page.form("bob"), to: page.action).status == .notFound)

        let (_, second) = try await test.invite(Invitations.Draft(days: 1))
        #expect(try await browser.open(second).page is NewAccountPage)
        test.clock.advance(by: 86_400)
        #expect(try await browser.open(second).status == .notFound)

        let (_, third) = try await test.invite(Invitations.Draft(email: EmailAddress("bob@example.com")))
        let late = try await browser.open(third).newAccountPage
        _ = try await test.addUser("robert", email: "bob@example.com")
        #expect(try await browser.submit(late.form("bob"), to: late.action).status == .notFound)
        #expect(try await Self.user("bob", test) == nil)
        for secret in ["", "x", String(repeating: "a", count: 4096), "%00"] {
            #expect(try await browser.open("/sign-up?invitation=" + secret).status == .notFound)
        }
    }

    @Test func `a closed server accepts no invitation`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let (_, path) = try await test.invite()
        var browser = test.browser()
        let page = try await browser.open(path).newAccountPage
        var settings = test.server.settings
        settings.signUp = .closed
        test.server.replaceSettings(by: settings)
        #expect(try await browser.open(path).status == .notFound)
        #expect(try await browser.submit(page.form("bob"), to: page.action).status == .notFound)
    }

    @Test func `two tabs with one invitation create one account`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let (_, path) = try await test.invite()
        var browser = test.browser()
        let first = try await browser.open(path).newAccountPage
        let second = try await browser.open(path).newAccountPage
        _ = try await browser.submit(first.form("bob"), to: first.action).accountPage
        #expect(try await browser.submit(second.form("robert"), to: second.action).status == .notFound)
        #expect(try await Self.user("robert", test) == nil)
    }

    @Test func `a person who is signed in as another user becomes the new user`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let (_, path) = try await test.invite()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(path).newAccountPage
        let account = try await browser.submit(page.form("bob"), to: page.action)
        #expect(try account.html().contains("bob"))
        #expect(try await test.store.sessions(of: test.alice.id).isEmpty)
    }
}
