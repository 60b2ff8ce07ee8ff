import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/admin/users/invitations`: the invitations that administrators create and withdraw.
struct InvitationPageTests {
    private static let path = "/admin/users/invitations"

    private static func submit(
        _ fields: [String: String], by administrator: inout Developer
    ) async throws -> Reply {
        let page = try await administrator.browser.open(path).invitationsPage
        var form = FormParameters(["ticket": page.ticket])
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        return try await administrator.browser.submit(form, to: page.action)
    }

    @Test func `an administrator without mail gets the link once, and it creates the account`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        var administrator = try await Developer("root", of: test, role: .owner)
        let created = try await Self.submit(
            [
                "decision": "invite", "email": "bob@example.com", "client": test.lightbox.id.rawValue, "days": "3",
                "role": "administrator",
            ], by: &administrator
        ).invitationsPage
        let link = try #require(created.link)
        let row = try #require(created.rows.first)
        #expect(created.rows.count == 1 && created.count == "1" && created.language == nil)
        #expect(row.email == "bob@example.com" && row.role == "Administrator" && !row.isMailed && !row.hasExpired)
        #expect(row.client?.description == "Lightbox")
        let stored = try #require(try await test.store.invitations().first)
        #expect(stored.expiresAt == test.clock.now + 3 * 86_400 && stored.shortID == row.id)
        let again = try await administrator.browser.open(Self.path)
        #expect(try again.invitationsPage.link == nil)
        let secret = try #require(link.split(separator: "=").last.map(String.init))
        #expect(try !again.html().contains(secret))

        var browser = test.browser()
        let page = try await browser.open(String(link.dropFirst(test.issuer.origin.count))).newAccountPage
        _ = try await browser.submit(page.form("bob"), to: page.action).accountPage
        let bobName = try #require(Username("bob"))
        let bob = try #require(try await test.store.user(named: bobName))
        #expect(bob.role == .administrator)
        #expect(try await administrator.browser.open(Self.path).invitationsPage.rows.isEmpty)
        let rootName = try #require(Username("root"))
        let root = try #require(try await test.store.user(named: rootName))
        let event = try #require(
            try await test.store.audit(AuditQuery(kind: .account, userID: root.id)).map(\.event).first)
        #expect(event.detail?.hasSuffix("created the invitation \(row.id), with the role administrator") == true)
        // The administrator's own account was not created by it.
        let activity = try await administrator.browser.open("/account/activity").activityPage
        #expect(activity.rows.allSatisfy { $0.what == "Signed in" })
    }

    @Test func `with mail the link goes to the address alone, and a withdrawn one creates nothing`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder) { $0.signUp = .open }
        var administrator = try await Developer("root", of: test, role: .owner)
        let reply = try await Self.submit(
            ["decision": "invite", "email": "bob@example.com", "days": "1", "language": "de"], by: &administrator)
        let page = try reply.invitationsPage
        #expect(page.link == nil && page.notice?.contains("by email") == true)
        await (try #require(test.server.mailDelivery)).deliverDue()
        let mail = try #require(recorder.mails.first)
        #expect(mail.page.subject == "Sie sind zu Example Photos eingeladen")
        let id = try #require(page.rows.first?.id)
        for _ in 1...2 {
            let withdrawn = try await Self.submit(
                ["decision": "withdraw", "invitation": id], by: &administrator
            ).invitationsPage
            #expect(withdrawn.rows.isEmpty && withdrawn.notice?.contains("withdrawn") == true)
        }
        var browser = test.browser()
        #expect(try await browser.open(try #require(mail.linkPath(at: test.issuer))).status == .notFound)
        let details = try await test.store.audit(AuditQuery(kind: .account)).compactMap(\.event.detail)
        #expect(details.filter { $0.contains("withdrew the invitation \(id)") }.count == 1)
    }

    @Test(arguments: [
        ("email", "bob"), ("email", "alice@example.com"), ("days", "0"), ("days", "31"), ("days", "soon"),
        ("client", "app_nowhere"), ("client", "\u{1}"),
    ])
    func `a refusal names the field, and keeps what was typed`(field: String, value: String) async throws {
        let test = try await TestServer { $0.signUp = .invited }
        var administrator = try await Developer("root", of: test, role: .owner)
        var fields = ["decision": "invite", "days": "5", "email": "bob@example.com"]
        fields[field] = value
        let reply = try await Self.submit(fields, by: &administrator)
        #expect(reply.status == .badRequest || reply.status == .conflict)
        let page = try reply.invitationsPage
        #expect(page.problems.map(\.field) == [field] && page.link == nil)
        let shown = ["email": page.email, "days": page.days, "client": page.client][field]
        #expect(shown?.value == value && shown?.problem != nil)
        #expect(try await test.store.invitations().isEmpty)
    }

    @Test func `a server that lets no one create an account has no form, and refuses one`() async throws {
        let test = try await TestServer { $0.signUp = .closed }
        var administrator = try await Developer("root", of: test, role: .owner)
        let page = try await administrator.browser.open(Self.path)
        #expect(try page.invitationsPage.isClosed && !page.html().contains("name=\"email\""))
        let reply = try await Self.submit(["decision": "invite", "days": "5"], by: &administrator)
        #expect(reply.status == .conflict)
        #expect(try await test.store.invitations().isEmpty)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.send(.get, to: Self.path).status == .notFound)
    }

    @Test func `user support withdraws no invitation with a role`() async throws {
        let test = try await TestServer { $0.signUp = .invited }
        let (invitation, _) = try await test.invite(Invitations.Draft(role: .administrator))
        _ = try await test.invite()
        var support = try await Developer("mia", of: test, role: .support)
        let rows = try await support.browser.open(Self.path).invitationsPage.rows
        #expect(rows.filter(\.isWithdrawable).map(\.role) == [nil] && rows.count == 2)
        let reply = try await Self.submit(
            ["decision": "withdraw", "invitation": invitation.shortID], by: &support)
        #expect(reply.status == .forbidden)
        #expect(try await test.store.invitations().count == 2)
    }
}
