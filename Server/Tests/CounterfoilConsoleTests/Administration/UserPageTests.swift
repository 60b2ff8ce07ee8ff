import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/admin/users` and the pages below it.
struct UserPageTests {
    private let test: TestServer
    private var administrator: Developer
    private let root: User

    init() async throws {
        test = try await TestServer()
        administrator = try await Developer("root", of: test, role: .owner)
        root = try await Self.user("root", of: test)
    }

    private static func user(_ name: String, of test: TestServer) async throws -> User {
        let username = try #require(Username(name))
        return try #require(try await test.store.user(named: username))
    }

    private func path(_ user: User, _ rest: String = "") -> String { "/admin/users/\(user.id)\(rest)" }

    private mutating func send(
        _ decision: String, _ fields: [String: String] = [:], to user: User
    ) async throws -> Reply {
        let page = try await administrator.browser.open(path(user)).userAccountPage
        var form = FormParameters(["ticket": page.ticket, "decision": decision, "revision": page.revision])
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        return try await administrator.browser.submit(form, to: page.action)
    }

    private func events(of user: User) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(userID: user.id)).map(\.event)
    }

    @Test(arguments: ["", "/new", "/USER", "/USER/claims", "/USER/delete"])
    mutating func `no other user sees that the pages exist, and no page changes anything by GET`(
        rest: String
    ) async throws {
        let path = "/admin/users" + rest.replacing("USER", with: test.alice.id.rawValue)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.send(.get, to: path).status == .notFound)
        if !rest.isEmpty {
            let form = FormParameters(["decision": "role", "role": "owner", "username": "alice"])
            #expect(try await browser.send(.post, to: path, form: form).status == .notFound)
        }
        var stranger = test.browser()
        #expect(try await stranger.send(.get, to: path).status == .seeOther)
        let query = path + "?decision=role&role=owner&username=alice"
        let status = try await administrator.browser.send(.get, to: query).status
        #expect(status == .ok || status == .badRequest)
        #expect(try await test.store.user(test.alice.id) == test.alice)
    }

    // A role that was withdrawn a second ago.
    @Test mutating func `an administrator who was demoted changes nothing with a page that is open`() async throws {
        let other = try await test.addUser("other", role: .owner)
        let page = try await administrator.browser.open(path(other)).userAccountPage
        #expect(
            try await test.store.setRole(nil, of: root.id, from: .owner, at: test.clock.now, recording: [])
                == .changed)
        let form = FormParameters(["ticket": page.ticket, "decision": "disable"])
        #expect(try await administrator.browser.send(.post, to: page.action, form: form).status == .notFound)
        #expect(try await test.store.user(other.id)?.disabledAt == nil)
    }

    @Test mutating func `a change of an account needs a recent sign-in, and the ticket of its page`() async throws {
        let page = try await administrator.browser.open(path(test.alice)).userAccountPage
        for ticket in ["", try await administrator.browser.open(path(root)).userAccountPage.ticket] {
            let form = FormParameters(["ticket": ticket, "decision": "disable"])
            let reply = try await administrator.browser.send(.post, to: page.action, form: form)
            #expect(reply.status != .seeOther)
        }
        test.clock.advance(by: Double(test.server.settings.recentSignInAge))
        let form = FormParameters(["ticket": page.ticket, "decision": "disable"])
        let reply = try await administrator.browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther && reply.location?.contains("/sign-in?") == true)
        #expect(try await administrator.browser.send(.get, to: path(test.alice)).status == .seeOther)
        #expect(try await test.store.user(test.alice.id)?.disabledAt == nil)
        #expect(try await administrator.browser.send(.get, to: "/admin/users").status == .ok)
    }

    // Each event has one user, and both have the request.
    @Test mutating func `both the account and the administrator are in the log of a change`() async throws {
        let done = try await send("disable", to: test.alice).userAccountPage
        #expect(done.isDisabled && done.notice?.hasPrefix("The user is disabled") == true)
        let changed = try #require(try await events(of: test.alice).first)
        let acted = try #require(try await events(of: root).first)
        #expect(changed.kind == .account && changed.detail == "by an administrator: disabled")
        #expect(acted.kind == .account && acted.detail == "another account: disabled")
        #expect(changed.requestID != nil && changed.requestID == acted.requestID)
        // The user of the account can read its event, but not from where the administrator works.
        #expect(changed.source == nil && acted.source != nil)
        // A change of the own account is one event.
        let before = try await events(of: root).count
        let form = ["display_name": "Root", "email": "root@example.com"]
        #expect(try await send("edit", form, to: root).userAccountPage.notice == "The account is saved.")
        let own = try await events(of: root)
        #expect(own.count == before + 1 && own.first?.detail == "changed")
    }

    @Test mutating func `a user reads what an administrator did, and no address, and the administrator nothing`()
        async throws
    {
        var alice = test.browser(source: "203.0.113.77")
        try await alice.signInToConsole(username: "alice")
        var other = test.browser(source: "203.0.113.78")
        try await other.signInToConsole(username: "alice")
        test.clock.advance(by: 1)
        let page = try await administrator.browser.open(path(test.alice)).userAccountPage
        let session = try #require(page.rows.last)
        _ = try await send("end", ["session": session.id], to: test.alice)
        _ = try await send("edit", ["display_name": "Alice B.", "email": "alice@example.com"], to: test.alice)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let rows = try await browser.open("/account/activity").activityPage.rows.filter(\.isFromOperator)
        #expect(rows.count == 2 && rows.allSatisfy { $0.source == nil })
        #expect(rows.contains { $0.what == "Signed out elsewhere" })
        let own = try await administrator.browser.open("/account/activity").activityPage.rows
        #expect(!own.isEmpty && own.allSatisfy { $0.what == "Signed in" })
    }

    @Test mutating func `a change that changes nothing is not recorded`() async throws {
        for _ in 1...2 { #expect(try await send("disable", to: test.alice).userAccountPage.isDisabled) }
        for _ in 1...2 { #expect(try await !send("enable", to: test.alice).userAccountPage.isDisabled) }
        let changes = try await events(of: test.alice).filter { $0.kind == .account }.map(\.detail)
        #expect(changes == ["by an administrator: enabled", "by an administrator: disabled"])
    }

    @Test mutating func `administrators who delete their own accounts leave no address behind`() async throws {
        _ = try await test.addUser("other", role: .owner)
        let page = try await administrator.browser.open(path(root, "/delete")).deleteUserPage
        let form = FormParameters(["ticket": page.ticket, "username": "root"])
        let reply = try await administrator.browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        #expect(try await test.store.user(root.id) == nil)
        let log = try await test.store.audit(AuditQuery(kind: .account)).map(\.event)
        let deleted = log.filter { $0.detail?.hasSuffix("deleted") == true }
        #expect(deleted.count == 1 && deleted.first?.userID?.isPseudonym == true)
        #expect(deleted.first?.detail == "deleted")
        #expect(deleted.allSatisfy { $0.source == nil && $0.requestID == nil })
    }

    @Test mutating func `a role is given and taken, but not that of the last owner`() async throws {
        let refused = try await send("role", ["role": "none"], to: root)
        #expect(refused.status == .conflict)
        #expect(try refused.userAccountPage.problems.map(\.text).first?.hasPrefix("No other owner") == true)
        #expect(try await send("disable", to: root).status == .conflict)
        #expect(try await send("role", ["role": "owner"], to: test.alice).userAccountPage.role == "Owner")
        #expect(try await test.store.user(test.alice.id)?.role == .owner)
        // The user has no rights any more, and lands on the account.
        let left = try await send("role", ["role": "none"], to: root)
        #expect(left.page is AccountPage)
        #expect(try await administrator.browser.send(.get, to: "/admin/users").status == .notFound)
        #expect(try await test.store.user(root.id)?.role == nil)
    }

    @Test mutating func `a new user has no password, which an administrator neither sees nor sets`() async throws {
        let page = try await administrator.browser.open("/admin/users/new").newUserPage
        let form = FormParameters([
            "ticket": page.ticket, "username": "Nora", "display_name": "Nora N.", "email": "nora@example.com",
        ])
        let made = try await administrator.browser.submit(form, to: page.action).userAccountPage
        #expect(made.username == "nora" && made.notice == "The user is added." && made.role == nil)
        let nora = try await Self.user("nora", of: test)
        #expect(nora.displayName == "Nora N." && nora.profile.isEmailVerified != true)
        #expect(nora.passwordHash == nil)
        let again = try await administrator.browser.submit(form, to: page.action)
        #expect(try again.status == .badRequest && again.newUserPage.problems.map(\.field) == ["username"])
        let bad = FormParameters(["ticket": page.ticket, "username": "a b", "email": "@", "display_name": "\u{7}"])
        let refused = try await administrator.browser.submit(bad, to: page.action).newUserPage
        #expect(refused.problems.map(\.field) == ["username", "display_name", "email"])
        #expect(refused.username.value == "a b" && refused.email.value == "@")
    }

    // The box was ticked for the former address.
    @Test mutating func `another email address is not verified, whatever the box of the former one says`() async throws
    {
        for (address, isVerified) in [
            ("a1@example.com", false), ("a1@example.com", true), ("a2@example.com", false),
        ] {
            let form = ["display_name": "Alice A.", "email": address, "email_verified": "on"]
            let page = try await send("edit", form, to: test.alice).userAccountPage
            #expect(page.isEmailVerified == isVerified && page.name == "Alice A." && page.address == address)
        }
        let taken = try await send("edit", ["display_name": "A", "email": "root@example.com"], to: test.alice)
        #expect(try taken.status == .conflict && taken.userAccountPage.problems.map(\.field) == ["email"])
        #expect(try taken.userAccountPage.displayName.value == "A")
        let empty = try await send("edit", ["display_name": " ", "email": "x"], to: test.alice).userAccountPage
        #expect(empty.problems.map(\.field) == ["display_name", "email"] && empty.isEditing)
        #expect(try await test.store.user(test.alice.id)?.displayName == "Alice A.")
    }

    @Test mutating func `a form with outdated values does not undo the change of another administrator`() async throws {
        let page = try await administrator.browser.open(path(test.alice)).userAccountPage
        _ = try await send("edit", ["display_name": "Alice Z.", "email": "z@example.com"], to: test.alice)
        let form = FormParameters([
            "ticket": page.ticket, "decision": "edit", "revision": page.revision, "display_name": "Alice O.",
            "email": "alice@example.com",
        ])
        let reply = try await administrator.browser.submit(form, to: page.action)
        let again = try reply.userAccountPage
        #expect(reply.status == .conflict && again.problems.count == 1 && again.displayName.value == "Alice O.")
        let stored = try #require(try await test.store.user(test.alice.id))
        #expect(stored.displayName == "Alice Z." && stored.email?.rawValue == "z@example.com")
        // The commit compares, too.
        var old = test.alice
        old.displayName = "Alice O."
        #expect(
            try await test.store.updateUser(old, from: test.alice, at: test.clock.now, recording: [])
                == .changedMeanwhile)
        #expect(try await test.store.user(test.alice.id) == stored)
    }

    @Test mutating func `a one-time link is shown once, and lets the user set a password`() async throws {
        let reply = try await send("link", to: test.alice)
        let link = try #require(try reply.userAccountPage.link)
        #expect(link.hasPrefix(test.server.settings.issuer.endpoint(Endpoint.recovery.path) + "?token="))
        #expect(try reply.html().contains(link))
        #expect(try await administrator.browser.open(path(test.alice)).userAccountPage.link == nil)
        let log = try await events(of: test.alice)
        #expect(log.first?.detail == "by an administrator: created a link for a new password")
        #expect(try await events(of: root).first?.detail == "another account: created a link for a new password")
        var visitor = test.browser()
        let target = link.replacing(test.server.settings.issuer.rawValue, with: "")
        #expect(try await visitor.send(.get, to: target).status == .ok)
        _ = try await send("disable", to: test.alice)
        let refused = try await send("link", to: test.alice)
        #expect(try refused.status == .conflict && refused.userAccountPage.link == nil)
    }

    @Test mutating func `an administrator ends sessions and sign-ins of apps of the user alone`() async throws {
        var first = test.browser()
        try await first.signInToConsole(username: "alice")
        var second = test.browser()
        try await second.signInToConsole(username: "alice")
        _ = try await Attempt(test, for: "openid offline_access").tokens()
        let page = try await administrator.browser.open(path(test.alice)).userAccountPage
        #expect(page.rows.count >= 2 && page.apps.rows.count == 1 && page.consents.count == 1)
        #expect(page.rows.allSatisfy { !$0.isCurrent } && page.apps.rows.allSatisfy { !$0.isFromHere })

        let ended = try await send("end", ["session": page.rows[0].id], to: test.alice).userAccountPage
        #expect(ended.notice == "The browser is signed out." && ended.rows.count == page.rows.count - 1)
        let again = try await send("end", ["session": page.rows[0].id], to: test.alice).userAccountPage
        #expect(again.notice == "It had ended before.")
        // What belongs to another user is not ended here.
        let other = try await send("end", ["session": page.rows[1].id], to: root).userAccountPage
        #expect(other.notice == "It had ended before.")
        let foreign = try await send("end-app", ["sign_in": page.apps.rows[0].id], to: root).userAccountPage
        #expect(foreign.notice == "It had ended before.")
        let app = try await send("end-app", ["sign_in": page.apps.rows[0].id], to: test.alice).userAccountPage
        #expect(app.notice?.hasPrefix("The app is signed out.") == true && app.apps.rows.isEmpty)
        let out = try await send("sign-out", to: test.alice).userAccountPage
        #expect(out.rows.isEmpty && out.notice?.hasPrefix("The user is signed out everywhere.") == true)
        #expect(try await test.store.sessions(of: test.alice.id).isEmpty)
        #expect(try await events(of: test.alice).first?.detail == "by an administrator: all sessions")
    }

    @Test mutating func `passkeys are removed and a second factor is reset, those of this user alone`() async throws {
        let passkey = Passkey(
            credentialID: [1, 2, 3], userID: test.alice.id, publicKey: [4], name: "Key", createdAt: test.clock.now)
        #expect(try await test.store.addPasskey(passkey, recording: []) == .added)
        let row = try #require(try await administrator.browser.open(path(test.alice)).userAccountPage.passkeys.first)
        let foreign = try await send("remove-passkey", ["passkey": row.id], to: root).userAccountPage
        #expect(foreign.notice == "It had ended before.")
        let removed = try await send("remove-passkey", ["passkey": row.id], to: test.alice).userAccountPage
        #expect(removed.notice == "The passkey is removed." && removed.passkeys.isEmpty)

        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        _ = try await test.setUpSecondFactor(in: &browser)
        #expect(try await administrator.browser.open(path(test.alice)).userAccountPage.secondFactor != nil)
        let reset = try await send("reset-second-factor", to: test.alice).userAccountPage
        #expect(reset.secondFactor == nil)
        #expect(try await test.store.secondFactor(of: test.alice.id) == .none)
        #expect(try await events(of: test.alice).first?.detail == "by an administrator: removed")
    }

    // The user learns of it, and the page of another user causes no mail.
    @Test func `a user gets a notice of a passkey that an administrator has removed`() async throws {
        let recorder = MailRecorder()
        let test = try await TestServer(mailSender: recorder)
        var administrator = try await Developer("root", of: test, role: .owner)
        var alice = test.alice
        alice.profile.isEmailVerified = true
        #expect(try await test.store.updateUser(alice, at: test.clock.now) == .updated)
        let passkey = Passkey(
            credentialID: [1, 2, 3], userID: alice.id, publicKey: [4], name: "Key", createdAt: test.clock.now)
        #expect(try await test.store.addPasskey(passkey, recording: []) == .added)
        for (user, count) in [(try await Self.user("root", of: test), 0), (alice, 1), (alice, 1)] {
            let page = try await administrator.browser.open(path(user)).userAccountPage
            let form = FormParameters([
                "ticket": page.ticket, "decision": "remove-passkey",
                "passkey": Base64URL.encode(passkey.digest.bytes),
            ])
            _ = try await administrator.browser.submit(form, to: page.action).userAccountPage
            await (try #require(test.server.mailDelivery)).deliverDue()
            #expect(recorder.mails.count == count)
        }
    }

    @Test mutating func `a deletion says what it deletes, and asks for the user name`() async throws {
        _ = try await Attempt(test, for: "openid").tokens()
        let page = try await administrator.browser.open(path(test.alice, "/delete")).deleteUserPage
        #expect(page.counts.map(\.number).prefix(4) == ["1", "0", "1", "1"] && page.fate == nil)
        var form = FormParameters(["ticket": page.ticket, "username": "bob"])
        let refused = try await administrator.browser.submit(form, to: page.action)
        #expect(try refused.status == .badRequest && refused.deleteUserPage.problems.map(\.field) == ["username"])
        #expect(try await test.store.user(test.alice.id) == test.alice)
        form = FormParameters(["ticket": page.ticket, "username": "Alice "])
        let list = try await administrator.browser.submit(form, to: page.action).usersPage
        #expect(list.notice == "The user is deleted." && !list.rows.contains { $0.username == "alice" })
        #expect(try await test.store.user(test.alice.id) == nil)
        let log = try await test.store.audit(AuditQuery(kind: .account)).map(\.event)
        #expect(log.contains { $0.userID?.isPseudonym == true && $0.detail == "by an administrator: deleted" })
        #expect(log.contains { $0.userID == root.id && $0.detail == "another account: deleted" })
        #expect(try await administrator.browser.send(.get, to: path(test.alice)).status == .notFound)
    }

    @Test mutating func `the apps of a deleted user are deleted or transferred, as far as they were shown`()
        async throws
    {
        var owner = try await Developer("dora", of: test)
        let first = try await owner.registered()
        let dora = try await Self.user("dora", of: test)
        let page = try await administrator.browser.open(path(dora, "/delete")).deleteUserPage
        #expect(page.clientIDs == [first.id.rawValue] && page.clients.count == 1)
        func form(_ fields: [String: String]) -> FormParameters {
            var form = FormParameters(["ticket": page.ticket, "username": "dora"])
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
            for id in page.clientIDs { form.append("client", id) }
            return form
        }
        for (fields, field) in [
            ([:], "clients"), (["clients": "transfer"], "owner"), (["clients": "transfer", "owner": "dora"], "owner"),
            (["clients": "keep"], "clients"),
        ] {
            let reply = try await administrator.browser.submit(form(fields), to: page.action)
            #expect(try reply.deleteUserPage.problems.map(\.field) == [field])
        }
        // An app that was registered after the page was shown is not deleted with the others.
        let second = try await owner.registered()
        let more = try await administrator.browser.submit(form(["clients": "delete"]), to: page.action)
        #expect(try more.status == .conflict && more.deleteUserPage.clientIDs.count == 2)
        #expect(try await test.store.user(dora.id) != nil)
        _ = try await administrator.browser.submit(
            form(["clients": "transfer", "owner": "root"]), to: page.action
        ).usersPage
        for client in [first, second] {
            #expect(try await test.store.client(client.id)?.owner == root.id)
        }
    }

    @Test(arguments: Language.allCases)
    mutating func `the pages are rendered in every language`(language: Language) async throws {
        administrator.browser.fields[.acceptLanguage] = language.rawValue
        for path in ["/admin/users", "/admin/users/new", path(test.alice), path(test.alice, "/delete")] {
            let html = try await administrator.browser.open(path).html()
            #expect(!html.contains(">users."), "\(path)")
            #expect(html.contains("lang=\"\(language.rawValue)\""))
        }
    }
}
