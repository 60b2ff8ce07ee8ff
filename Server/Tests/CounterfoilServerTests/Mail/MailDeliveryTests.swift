import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The queue of mails, from the page that asks for one to the mail server.
struct MailDeliveryTests {
    /// Asks for a link as alice, and returns the status of the response.
    @discardableResult
    private static func ask(_ test: TestServer, source: String = "192.0.2.1") async throws -> Int {
        var browser = test.browser(source: source)
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open("/account/email").emailPage
        return try await browser.send(.post, to: page.action, form: page.form("send")).status.code
    }

    private static func delivery(of test: TestServer) throws -> MailDelivery {
        try #require(test.server.mailDelivery)
    }

    @Test func `a mail is sent once, in the language of the page and with the name of the service`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        try await Self.ask(test)
        let delivery = try Self.delivery(of: test)
        #expect(await delivery.deliverDue() == 1)
        #expect(await delivery.deliverDue() == 0)
        let mail = try #require(recorder.mails.first)
        #expect(recorder.mails.count == 1)
        #expect(mail.recipient.rawValue == "alice@example.com" && mail.createdAt == test.clock.now)
        #expect(mail.page.subject == "Verify your email address for Example Photos")
        #expect(mail.page.link?.address.hasPrefix("https://id.example.com/account/email?token=") == true)
        #expect(try await test.store.mailBacklog().count == 0)
        #expect(test.server.metrics.snapshot.events[.mailSent] == 1)
        #expect(await test.server.mailBacklog()?.count == 0)
    }

    @Test func `the queue contains neither the address nor the link of a mail`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        try await Self.ask(test)
        let queued = try #require(
            try await test.store.takeMails(dueAt: test.clock.now, until: test.clock.now, limit: 1).first)
        await (try Self.delivery(of: test)).deliverDue()
        let link = try #require(recorder.mails.first?.page.link?.address)
        let token = try #require(link.split(separator: "?token=").last)
        let text = String(decoding: queued.mail.sealed, as: UTF8.self)
        #expect(!text.contains(token) && !text.contains("alice@example.com"))
        #expect(!test.log.lines.contains { $0.contains(token) || $0.contains("alice@example.com") })
    }

    // RFC 5321 §4.5.4.1
    @Test func `a mail is sent again at growing intervals, and given up after a day`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        try await Self.ask(test)
        let delivery = try Self.delivery(of: test)
        recorder.answers(.failed("the mail server accepts no connection"))
        #expect(await delivery.deliverDue() == 1)
        for delay in [30.0, 120, 600, 1800, 3600, 7200, 7200] {
            test.clock.advance(by: delay - 1)
            #expect(await delivery.deliverDue() == 0)
            test.clock.advance(by: 1)
            #expect(await delivery.deliverDue() == 1)
        }
        test.clock.advance(by: 86_400)
        await delivery.deliverDue()
        #expect(try await test.store.mailBacklog().count == 0)
        #expect(Set(recorder.mails.map(\.id)).count == 1)
        #expect(test.server.metrics.snapshot.events[.mailGivenUp] == 1)
        #expect(test.log.lines.contains { $0.contains("failed to send a mail, giving up") })
    }

    @Test func `a refused mail is given up at once, and one that was cut off is sent again`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        let delivery = try Self.delivery(of: test)
        try await Self.ask(test)
        recorder.answers(.cancelled)
        #expect(await delivery.deliverDue() == 1)
        test.clock.advance(by: 2)
        recorder.answers(.refused("refused by the mail server (550 5.1.1)", reply: "<alice@example.com>: unknown"))
        #expect(await delivery.deliverDue() == 1)
        #expect(try await test.store.mailBacklog().count == 0)
        #expect(test.server.metrics.snapshot.events[.mailFailed] == 1)
        let line = try #require(test.log.lines.first { $0.contains("failed to send a mail, giving up") })
        #expect(line.contains("550 5.1.1") && !line.contains("alice@example.com"))
    }

    @Test func `a server that ends before it sends, or before it notes the outcome, loses no mail`() async throws {
        let (recorder, store) = (MailRecorder(), TestStore())
        let test = try await TestServer(store: store, mailSender: recorder)
        let delivery = try Self.delivery(of: test)
        try await Self.ask(test)
        // It has taken the mail, and ends.
        let now = test.clock.now
        #expect(try await store.takeMails(dueAt: now, until: now + MailDelivery.lease, limit: 4).count == 1)
        #expect(await delivery.deliverDue() == 0)
        test.clock.advance(by: MailDelivery.lease)
        // The mail server accepts the mail, and the server ends before the note: the only case of a second mail.
        store.fail(StoreOperation("settleMail"))
        #expect(await delivery.deliverDue() == 1)
        store.recover()
        #expect(await delivery.deliverDue() == 0)
        test.clock.advance(by: MailDelivery.lease)
        #expect(await delivery.deliverDue() == 1)
        #expect(recorder.mails.count == 2 && Set(recorder.mails.map(\.id)).count == 1)
        #expect(Set(recorder.mails.map(\.page)).count == 1 && Set(recorder.mails.map(\.createdAt)).count == 1)
        test.clock.advance(by: MailDelivery.lease)
        #expect(await delivery.deliverDue() == 0)
    }

    @Test func `two servers with one store send each mail once`() async throws {
        let (recorder, store, clock) = (MailRecorder(), TestStore(), FixedClock())
        let first = try await TestServer(store: store, clock: clock, mailSender: recorder)
        let second = try await TestServer(store: store, clock: clock, mailSender: recorder)
        for name in 1...12 {
            _ = try await first.addUser("user-\(name)", email: "user-\(name)@example.com")
            var browser = first.browser(source: "198.51.100.\(name)")
            try await browser.signInToConsole(username: "user-\(name)")
            let page = try await browser.open("/account/email").emailPage
            _ = try await browser.send(.post, to: page.action, form: page.form("send"))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for test in [first, second] {
                let delivery = try Self.delivery(of: test)
                group.addTask { while await delivery.deliverDue() > 0 {} }
            }
            try await group.waitForAll()
        }
        #expect(recorder.mails.count == 12 && Set(recorder.mails.map(\.recipient)).count == 12)
    }

    @Test func `a mail that cannot be read is kept until it expires`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        let address = try #require(test.alice.email)
        let verification = EmailVerification(
            userID: test.alice.id, email: address, replacing: address, digest: ArtefactDigest(of: MailLinkSecret()),
            expires: test.clock.now + 60)
        let mail = NewMail(
            id: MailIdentifier(), userID: test.alice.id, sealed: [1, 2, 3], createdAt: test.clock.now,
            expires: test.clock.now + 60)
        let outcome = try await test.store.beginEmailVerification(verification, sending: mail, recording: [])
        #expect(outcome == .queued)
        #expect(await (try Self.delivery(of: test)).deliverDue() == 1)
        #expect(try await test.store.mailBacklog().count == 1)
        #expect(
            test.log.lines.contains { $0.contains("failed to send a mail, will retry") && $0.contains("server key") })
        test.clock.advance(by: 60)
        #expect(await (try Self.delivery(of: test)).deliverDue() == 1)
        #expect(try await test.store.mailBacklog().count == 0 && recorder.mails.isEmpty)
        #expect(test.log.lines.contains { $0.contains("failed to send a mail, giving up") })
    }

    // OpenID Connect Core §5.1
    @Test func `email_verified is true only after the user has followed the link`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        let address = "https://app.example.com/cb"
        let client = try await test.register("Gallery", redirectURIs: [address], scope: "openid email")
        func isVerified() async throws -> Bool? {
            let tokens = try await Attempt(test, by: client, at: address, for: "openid email").tokens()
            return try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims["email_verified"] as? Bool
        }
        #expect(try await isVerified() == false)
        try await Self.ask(test)
        await (try Self.delivery(of: test)).deliverDue()
        #expect(try await isVerified() == false)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(try #require(recorder.mails.first?.linkPath(at: test.issuer))).emailPage
        _ = try await browser.submit(page.form("verify"), to: page.action)
        #expect(try await isVerified() == true)
    }

    @Test func `an address and a source get a limited number of mails in an hour`() async throws {
        let test = try await TestServer(mailSender: MailRecorder())
        for number in 1...MailQueue.mailsPerAddress {
            #expect(try await Self.ask(test, source: "198.51.100.\(number)") == 303)
        }
        #expect(try await Self.ask(test, source: "198.51.100.99") == 429)
        #expect(try await test.store.mailBacklog().count == MailQueue.mailsPerAddress)
        test.clock.advance(by: MailQueue.window)
        #expect(try await Self.ask(test) == 303)
        let source = "203.0.113.7"
        for number in 1...MailQueue.mailsPerSource + 1 {
            _ = try await test.addUser("user-\(number)", email: "user-\(number)@example.com")
            var browser = test.browser(source: source)
            try await browser.signInToConsole(username: "user-\(number)")
            let page = try await browser.open("/account/email").emailPage
            let reply = try await browser.send(.post, to: page.action, form: page.form("send"))
            #expect(reply.status == (number <= MailQueue.mailsPerSource ? .seeOther : .tooManyRequests))
        }
    }
}
