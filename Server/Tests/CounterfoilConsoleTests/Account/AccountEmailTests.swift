import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The verification of an email address by a link in a mail.
struct AccountEmailTests {
    /// A server with mail, and the browser of alice, who has asked for a link.
    private struct Visit {
        let recorder = MailRecorder()
        let test: TestServer
        var browser: ScriptedUserAgent

        init() async throws {
            test = try await TestServer(mailSender: recorder)
            browser = test.browser()
            try await browser.signInToConsole(username: "alice")
        }

        /// Asks for a link, and returns its path and query.
        mutating func ask() async throws -> String {
            let page = try await browser.open("/account/email").emailPage
            let reply = try await browser.submit(page.form("send"), to: page.action)
            #expect(try reply.emailPage.notice?.hasPrefix("The email with the link is on its way.") == true)
            await (try #require(test.server.mailDelivery)).deliverDue()
            return try #require(recorder.mails.last?.linkPath(at: test.issuer))
        }

        mutating func verify(_ link: String) async throws -> Reply {
            let page = try await browser.open(link).emailPage
            return try await browser.submit(page.form("verify"), to: page.action)
        }

        /// Types a new address, and returns the response.
        mutating func change(to address: String) async throws -> Reply {
            let page = try await browser.open("/account/email").emailPage
            return try await browser.submit(page.form("change", email: address), to: page.action)
        }

        /// Sends the queued mails, and returns the newest one.
        func newestMail() async throws -> OutgoingMail {
            while await (try #require(test.server.mailDelivery)).deliverDue() > 0 {}
            return try #require(recorder.mails.last)
        }

        var alice: User {
            get async throws { try #require(try await test.store.user(test.alice.id)) }
        }

        var isVerified: Bool {
            get async throws { try await test.store.user(test.alice.id)?.profile.isEmailVerified == true }
        }
    }

    @Test func `a link verifies the address of the user once`() async throws {
        var visit = try await Visit()
        let account = try await visit.browser.open("/account")
        #expect(try account.accountPage.user.verificationPath == "/account/email")
        #expect(try account.html().contains("<a href=\"/account/email\">Verify this address</a>"))
        let link = try await visit.ask()
        // A virus scanner or a mail program opens the link, too.
        for _ in 1...2 {
            let page = try await visit.browser.open(link)
            #expect(try page.emailPage.token != nil && page.html().contains("Does this address belong to you?"))
        }
        #expect(try await !visit.isVerified)
        let reply = try await visit.verify(link)
        #expect(try reply.emailPage.notice == "Your email address is verified.")
        #expect(try reply.emailPage.isVerified)
        #expect(try await visit.isVerified)
        #expect(try await visit.browser.open("/account").accountPage.user.verificationPath == nil)
        let again = try await visit.verify(link)
        #expect(again.status == .badRequest)
        #expect(try again.emailPage.problems.first?.text.contains("This link was used") == true)
        let log = try await visit.test.store.audit(AuditQuery()).map(\.event)
        #expect(log.contains { $0.kind == .account && $0.detail == "verified the email address" })
        #expect(log.contains { $0.kind == .account && $0.detail == "sent a link to verify the email address" })
    }

    @Test func `a link needs a session of the user who asked for it`() async throws {
        var visit = try await Visit()
        let link = try await visit.ask()
        var stranger = visit.test.browser()
        let door = try await stranger.send(.get, to: link)
        #expect(door.status == .seeOther && door.location?.contains("/sign-in?to=") == true)
        _ = try await visit.test.addUser("bob", email: "bob@example.com")
        try await stranger.signInToConsole(username: "bob")
        let page = try await stranger.open(link).emailPage
        let reply = try await stranger.send(.post, to: page.action, form: page.form("verify"))
        #expect(reply.status == .badRequest)
        #expect(
            try await visit.test.store.users(after: nil, limit: 9).allSatisfy { $0.profile.isEmailVerified != true })
        #expect(try await visit.verify(link).emailPage.isVerified)
    }

    @Test func `a link is valid for a day, for the address to which it was sent, and until a newer one`() async throws {
        var visit = try await Visit()
        let first = try await visit.ask()
        let second = try await visit.ask()
        #expect(try await visit.verify(first).status == .badRequest)
        var alice = visit.test.alice
        alice.email = EmailAddress("new@example.com")
        #expect(try await visit.test.store.updateUser(alice, at: visit.test.clock.now) == .updated)
        #expect(try await visit.verify(second).status == .badRequest)
        let third = try await visit.ask()
        #expect(visit.recorder.mails.last?.recipient.rawValue == "new@example.com")
        visit.test.clock.advance(by: 24 * 3600)
        visit.browser = visit.test.browser()
        try await visit.browser.signInToConsole(username: "alice")
        #expect(try await visit.verify(third).status == .badRequest)
        #expect(try await !visit.isVerified)
    }

    @Test func `a forged form sends and verifies nothing`() async throws {
        var visit = try await Visit()
        let link = try await visit.ask()
        let token = String(link.split(separator: "=").last ?? "")
        for decision in ["send", "verify"] {
            let form = FormParameters(["ticket": "forged", "decision": decision, "token": token])
            let reply = try await visit.browser.send(.post, to: "/account/email", form: form)
            #expect(reply.status == .badRequest || reply.status == .forbidden)
        }
        #expect(try await !visit.isVerified)
        #expect(try await visit.test.store.mailBacklog().count == 0)
    }

    @Test func `a verified address gets a notice when the password changes, and an unverified one gets none`()
        async throws
    {
        var visit = try await Visit()
        var current = TestServer.password
        for (isVerified, new) in [(false, "a new one that nobody else has"), (true, "another one of many words")] {
            if isVerified { _ = try await visit.verify(try await visit.ask()) }
            let count = visit.recorder.mails.count
            let page = try await visit.browser.open("/account/password").passwordPage
            let wrong = page.form(from: "not the password", to: new)
            #expect(try await visit.browser.send(.post, to: page.action, form: wrong).status == .badRequest)
            let reply = try await visit.browser.send(.post, to: page.action, form: page.form(from: current, to: new))
            #expect(reply.status == .seeOther)
            current = new
            await (try #require(visit.test.server.mailDelivery)).deliverDue()
            #expect(visit.recorder.mails.count == count + (isVerified ? 1 : 0))
        }
        let notice = try #require(visit.recorder.mails.last)
        #expect(notice.recipient.rawValue == "alice@example.com" && notice.page.link == nil)
        #expect(notice.page.subject == "Your password for Example Photos was changed")
        #expect(notice.page.opening.contains(Localizer.english.moment(visit.test.clock.now)))
    }

    @Test func `a user changes the address by a link to the new one, and the verified former one gets a notice`()
        async throws
    {
        var visit = try await Visit()
        _ = try await visit.verify(try await visit.ask())
        let account = try await visit.browser.open("/account")
        #expect(try account.html().contains("<a href=\"/account/email\">Change this address</a>"))
        #expect(try await visit.change(to: " New@example.com ").emailPage.notice?.contains("on its way") == true)
        #expect(try await visit.alice.email?.rawValue == "alice@example.com")
        let mail = try await visit.newestMail()
        #expect(mail.recipient.rawValue == "new@example.com")
        #expect(mail.page.subject == "Confirm your new email address for Example Photos")
        let link = try #require(mail.linkPath(at: visit.test.issuer))
        for _ in 1...2 {
            let page = try await visit.browser.open(link)
            #expect(try page.emailPage.newEmail == "new@example.com")
            #expect(try page.html().contains("Use this address for your account?"))
        }
        #expect(try await visit.alice.email?.rawValue == "alice@example.com")
        let reply = try await visit.verify(link)
        #expect(try reply.emailPage.notice == "Your account has the new email address.")
        #expect(try await visit.alice.email?.rawValue == "new@example.com")
        #expect(try await visit.isVerified)
        let notice = try await visit.newestMail()
        #expect(notice.recipient.rawValue == "alice@example.com" && notice.page.link == nil)
        #expect(notice.page.subject == "The email address of your account at Example Photos was changed")
        #expect(!notice.page.plainText.contains("new@example.com"))
        #expect(try await visit.verify(link).status == .badRequest)
        let log = try await visit.test.store.audit(AuditQuery(kind: .account)).map(\.event.detail)
        #expect(log.contains("changed the email address") && log.contains("sent a link to change the email address"))
    }

    @Test func `the address of another user gets the same answer as a free one, and its owner a notice`() async throws {
        var visit = try await Visit()
        let bob = try await visit.test.addUser("bob", email: "bob@example.com")
        let former = try await visit.ask()
        let free = try await visit.change(to: "free@example.com")
        #expect(try await visit.newestMail().recipient.rawValue == "free@example.com")
        let taken = try await visit.change(to: "bob@example.com")
        #expect(free.status == taken.status)
        #expect(try free.emailPage.notice == taken.emailPage.notice)
        #expect(try taken.emailPage.problems.isEmpty)
        let notice = try await visit.newestMail()
        #expect(notice.recipient == bob.email && notice.page.link == nil)
        #expect(notice.page.subject == "Your email address was entered at Example Photos")
        #expect(!notice.page.plainText.contains("alice"))
        // A free address would have replaced the link, too.
        #expect(try await visit.verify(former).status == .badRequest)
        #expect(try await visit.alice.email?.rawValue == "alice@example.com")
        #expect(try await visit.test.store.user(bob.id)?.email == bob.email)
    }

    @Test func `a link to an address that another user has got meanwhile changes nothing and sends no notice`()
        async throws
    {
        var visit = try await Visit()
        _ = try await visit.verify(try await visit.ask())
        _ = try await visit.change(to: "new@example.com")
        let link = try #require(try await visit.newestMail().linkPath(at: visit.test.issuer))
        _ = try await visit.test.addUser("bob", email: "new@example.com")
        #expect(try await visit.verify(link).status == .badRequest)
        #expect(try await visit.test.store.mailBacklog().count == 0)
        #expect(try await visit.alice.email?.rawValue == "alice@example.com")
    }

    @Test func `a new address needs a recent sign-in, and must be another one`() async throws {
        var visit = try await Visit()
        _ = try await visit.verify(try await visit.ask())
        for (typed, problem) in [
            ("alice@example.com", "Your account has this address already."),
            ("no address", "Enter an email address, such as ada@example.com."),
        ] {
            let reply = try await visit.change(to: typed)
            let page = try reply.emailPage
            #expect(reply.status == .badRequest && page.problems.map(\.text) == [problem])
            #expect(page.address.value == typed)
        }
        let page = try await visit.browser.open("/account/email").emailPage
        visit.test.clock.advance(by: Double(visit.test.server.settings.recentSignInAge))
        let late = try await visit.browser.send(
            .post, to: page.action, form: page.form("change", email: "new@example.com"))
        #expect(late.status == .seeOther && late.location?.contains("/sign-in?") == true)
        #expect(try await visit.test.store.mailBacklog().count == 0)
    }

    @Test func `one user can ask for ten mails in an hour, to any addresses`() async throws {
        var visit = try await Visit()
        for number in 1...MailQueue.mailsPerUser {
            #expect(try await visit.change(to: "new\(number)@example.com").emailPage.problems.isEmpty)
        }
        #expect(try await visit.change(to: "last@example.com").status == .tooManyRequests)
        #expect(try await visit.test.store.mailBacklog().count == MailQueue.mailsPerUser)
    }

    @Test func `without mail, no page offers anything that needs it`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("ada", of: test, role: .administrator)
        let account = try await developer.browser.open("/account")
        #expect(try account.accountPage.user.verificationPath == nil)
        #expect(try !account.html().contains("/account/email"))
        #expect(try await developer.browser.send(.get, to: "/account/email").status == .notFound)
        #expect(try await developer.browser.send(.get, to: "/admin/mail").status == .notFound)
        #expect(try await !developer.browser.open("/admin").html().contains("/admin/mail"))
        #expect(test.server.mailDelivery == nil)
        #expect(await test.server.mailBacklog() == nil)
    }

    @Test func `administrators see each mail in each language`() async throws {
        let test = try await TestServer(mailSender: MailRecorder())
        var developer = try await Developer("ada", of: test, role: .administrator)
        #expect(try await developer.browser.open("/admin").html().contains("href=\"/admin/mail\""))
        for language in Language.allCases {
            let reply = try await developer.browser.open("/admin/mail?language=\(language.rawValue)")
            let page = try #require(reply.page as? MailPreviewPage)
            let html = try reply.html()
            #expect(page.previews.count == MailKind.allCases.count)
            #expect(page.languages.filter(\.isCurrent).map(\.language) == [language.rawValue])
            for preview in page.previews {
                #expect(html.contains("Example Photos") && preview.plainText.contains(preview.mail.opening))
            }
            #expect(!html.contains("{{") && !html.contains("[["))
        }
        var user = test.browser()
        try await user.signInToConsole(username: "alice")
        #expect(try await user.send(.get, to: "/admin/mail").status == .notFound)
    }
}
