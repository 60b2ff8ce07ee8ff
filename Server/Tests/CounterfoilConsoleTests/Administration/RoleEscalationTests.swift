import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Users with rights of the administration who try to get more of them.
struct RoleEscalationTests {
    private let test: TestServer

    init() async throws { test = try await TestServer() }

    private func user(_ name: String) async throws -> User {
        let username = try #require(Username(name))
        return try #require(try await test.store.user(named: username))
    }

    /// The decisions on the page of an account, with the fields of their forms.
    private static let decisions: [[String: String]] = [
        ["decision": "link"], ["decision": "edit", "display_name": "Taken", "email": "mia@example.com"],
        ["decision": "disable"], ["decision": "enable"], ["decision": "role", "role": "none"],
        ["decision": "role", "role": "support"], ["decision": "end", "session": "AAAA"],
        ["decision": "sign-out"], ["decision": "reset-second-factor"],
    ]

    // The way into an account leads to its rights.
    @Test(arguments: [
        (UserRole.support, UserRole.owner), (.support, .administrator), (.support, .auditor), (.administrator, .owner),
    ])
    func `no one acts on the account of a user with a stronger role`(own: UserRole, other: UserRole) async throws {
        var actor = try await Developer("mia", of: test, role: own)
        let target = try await test.addUser("otto", email: "otto@example.com", role: other)
        var browser = test.browser()
        try await browser.signInToConsole(username: "otto")
        let page = try await actor.browser.open("/admin/users/\(target.id)").userAccountPage
        #expect(page.stronger?.contains(Localizer.english(other.label)) == true && page.roles == nil)
        let events = try await test.store.audit(AuditQuery(userID: target.id)).count
        for decision in Self.decisions {
            var form = FormParameters(["ticket": page.ticket, "revision": page.revision])
            for (name, value) in decision.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
            let reply = try await actor.browser.send(.post, to: page.action, form: form)
            let isWithoutSession = decision["decision"] == "end"
            #expect(reply.status == (isWithoutSession ? .seeOther : .forbidden), "\(decision)")
        }
        let session = try #require(try await test.store.sessions(of: target.id).first)
        let end = FormParameters([
            "ticket": page.ticket, "decision": "end", "session": Base64URL.encode(session.digest.bytes),
        ])
        #expect(try await actor.browser.send(.post, to: page.action, form: end).status == .forbidden)
        let deletion = try await actor.browser.open("/admin/users/\(target.id)/delete").deleteUserPage
        #expect(deletion.obstacle != nil)
        let form = FormParameters(["ticket": deletion.ticket, "username": "otto"])
        #expect(try await actor.browser.send(.post, to: deletion.action, form: form).status == .forbidden)
        #expect(try await test.store.user(target.id) == target)
        #expect(try await test.store.sessions(of: target.id).count == 1)
        // No attempt has left an event that says it happened.
        #expect(try await test.store.audit(AuditQuery(userID: target.id)).count == events)
    }

    @Test(arguments: [
        (UserRole.owner, [UserRole.owner, .administrator, .support, .auditor, .developer]),
        (.administrator, [.support, .auditor, .developer]), (.support, []), (.auditor, []),
    ])
    func `a role is given and withdrawn only by a user who may give it`(
        own: UserRole, assignable: [UserRole]
    ) async throws {
        var actor = try await Developer("mia", of: test, role: own)
        // One who can sign in is left, whatever happens.
        _ = try await test.addUser("root", role: .owner)
        for role in UserRole.allCases {
            let isAllowed = assignable.contains(role)
            let former = try await test.addUser("former-\(role)", role: role)
            let plain = try await test.addUser("plain-\(role)")
            for (user, wanted) in [(plain, role.rawValue), (former, "none")] {
                let page = try await actor.browser.open("/admin/users/\(user.id)").userAccountPage
                let form = FormParameters(["ticket": page.ticket, "decision": "role", "role": wanted])
                let reply = try await actor.browser.send(.post, to: page.action, form: form)
                #expect(reply.status == (isAllowed ? .seeOther : .forbidden), "\(role) to \(wanted)")
                let role = try await test.store.user(user.id)?.role
                #expect(role == (isAllowed ? UserRole(rawValue: wanted) : user.role))
            }
            guard own.rights.contains(.writeUsers) else { continue }
            let page = try await actor.browser.open("/admin/users/new").newUserPage
            let form = FormParameters(["ticket": page.ticket, "username": "new-\(role)", "role": role.rawValue])
            let reply = try await actor.browser.send(.post, to: page.action, form: form)
            #expect(reply.status == (isAllowed ? .seeOther : .forbidden))
            let name = try #require(Username("new-\(role)"))
            #expect(try await test.store.user(named: name)?.role == (isAllowed ? role : nil))
            #expect(try await (test.store.user(named: name) != nil) == isAllowed)
        }
    }

    @Test func `the log has the role before and after a change, and the user sees that it changed`() async throws {
        var owner = try await Developer("mia", of: test, role: .owner)
        for (role, detail) in [
            ("support", "role changed from none to support"), ("developer", "role changed from support to developer"),
            ("none", "role changed from developer to none"),
        ] {
            let page = try await owner.browser.open("/admin/users/\(test.alice.id)").userAccountPage
            let form = FormParameters(["ticket": page.ticket, "decision": "role", "role": role])
            let done = try await owner.browser.submit(form, to: page.action).userAccountPage
            #expect(done.notice == "The role is saved.")
            let event = try #require(try await test.store.audit(AuditQuery(userID: test.alice.id)).first?.event)
            #expect(event.detail == "by an administrator: " + detail)
            let mia = try await user("mia")
            let acted = try #require(try await test.store.audit(AuditQuery(userID: mia.id)).first?.event)
            #expect(acted.detail == "another account: " + detail && acted.requestID == event.requestID)
        }
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let rows = try await browser.open("/account/activity").activityPage.rows
        #expect(rows.filter { $0.what == "Role changed" && $0.isFromOperator }.count == 3)
    }

    @Test func `user support deletes no user with apps, and gives them to no other user`() async throws {
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        let dora = try await user("dora")
        var support = try await Developer("mia", of: test, role: .support)
        let page = try await support.browser.open("/admin/users/\(dora.id)/delete").deleteUserPage
        #expect(page.obstacle?.contains("Administrator") == true)
        for (fate, owner) in [("delete", ""), ("transfer", "mia")] {
            let form = FormParameters([
                "ticket": page.ticket, "username": "dora", "client": client.id.rawValue, "clients": fate,
                "owner": owner,
            ])
            #expect(try await support.browser.send(.post, to: page.action, form: form).status == .forbidden)
        }
        #expect(try await test.store.client(client.id) == client)
        let other = try await support.browser.open("/admin/users/\(test.alice.id)/delete").deleteUserPage
        #expect(other.obstacle == nil)
        let form = FormParameters(["ticket": other.ticket, "username": "alice"])
        #expect(try await support.browser.send(.post, to: other.action, form: form).status == .seeOther)
        #expect(try await test.store.user(test.alice.id) == nil)
    }
}
