import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/apps/{client_id}/developers`: the users who manage a client with its owner.
struct ClientDevelopersTests {
    private let recorder = MailRecorder()
    private let test: TestServer
    private var owner: Developer
    private var bob: Developer
    private let client: RegisteredClient
    private var path: String { "/apps/\(client.id)/developers" }

    init() async throws {
        test = try await TestServer(mailSender: recorder)
        owner = try await Developer("dora", of: test)
        bob = try await Developer("bob", of: test)
        client = try await owner.registered(
            Developer.form("Shared", type: "web", redirectURIs: "https://app.example.com/callback"))
        let userName = try #require(Username("bob"))
        var user = try #require(try await test.store.user(named: userName))
        user.profile.isEmailVerified = true
        #expect(try await test.store.updateUser(user, at: test.clock.now) == .updated)
    }

    private static func send(
        _ decision: String, _ username: String, to path: String, in browser: inout ScriptedUserAgent
    ) async throws -> Reply {
        let page = try await browser.open(path).developersPage
        let form = FormParameters(["ticket": page.ticket, "decision": decision, "username": username])
        return try await browser.submit(form, to: page.action)
    }

    private static func answer(
        _ decision: String, about client: RegisteredClient, in browser: inout ScriptedUserAgent
    ) async throws -> ClientsPage {
        let page = try await browser.open("/apps").clientsPage
        let form = FormParameters(["ticket": page.ticket, "decision": decision, "client": client.id.rawValue])
        return try await browser.submit(form, to: page.invitationAction).clientsPage
    }

    private mutating func share() async throws {
        _ = try await Self.send("add", "bob", to: path, in: &owner.browser)
        _ = try await Self.answer("accept", about: client, in: &bob.browser)
    }

    private func subjects() async throws -> [String] {
        while await (try #require(test.server.mailDelivery)).deliverDue() > 0 {}
        return recorder.mails.map(\.page.subject)
    }

    @Test mutating func `a user who accepts changes the app, and cannot delete it, give it away or approve it`()
        async throws
    {
        let asked = try await Self.send("add", "bob", to: path, in: &owner.browser).developersPage
        #expect(asked.developers.isEmpty && asked.questions.map(\.username) == ["bob"])
        #expect(asked.notice?.contains("is asked") == true)
        #expect(try await subjects() == ["You are asked to manage an app at Example Photos"])
        #expect(try await bob.browser.send(.get, to: "/apps/\(client.id)").status == .notFound)
        let invited = try await bob.browser.open("/apps").clientsPage
        #expect(invited.invitations.map(\.name.description) == ["Shared"])
        #expect(invited.invitations.first?.owner?.description == "Dora" && invited.clients.isEmpty)
        let accepted = try await Self.answer("accept", about: client, in: &bob.browser)
        #expect(accepted.invitations.isEmpty && accepted.clients.map(\.clientID) == [client.id.rawValue])
        #expect(accepted.clients.first?.owner?.description == "Dora")

        let edit = try await bob.browser.open("/apps/\(client.id)/edit").clientFormPage
        let form = Developer.form("Ours", type: "web", redirectURIs: "https://app.example.com/callback")
            .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        _ = try await bob.browser.submit(form, to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.presentation.name == "Ours")
        let page = try await bob.browser.open("/apps/\(client.id)").clientPage
        #expect(page.paths.delete == nil && page.paths.isOwn && page.developers.map(\.description) == ["Bob"])
        for rest in ["/delete", "/policy", "/approval"] {
            #expect(try await bob.browser.send(.get, to: "/apps/\(client.id)\(rest)").status == .notFound)
        }
        let ticket = try await bob.browser.open(path).developersPage.ticket
        let handover = FormParameters(["ticket": ticket, "decision": "hand-over", "username": "bob"])
        #expect(try await bob.browser.send(.post, to: path, form: handover).status == .notFound)
        _ = try await Self.send("remove", "dora", to: path, in: &bob.browser)
        #expect(try await test.store.client(client.id)?.owner == client.owner)
    }

    @Test mutating func `a user who is removed or leaves has no access from the next request`() async throws {
        try await share()
        let open = try await bob.browser.open("/apps/\(client.id)/edit").clientFormPage
        let removed = try await Self.send("remove", "bob", to: path, in: &owner.browser).developersPage
        #expect(removed.developers.isEmpty)
        let form = Developer.form("Taken", type: "web", redirectURIs: "https://eve.example.com/callback")
            .adding("ticket", open.ticket).adding("revision", String(open.revision))
        #expect(try await bob.browser.send(.post, to: open.action, form: form).status == .notFound)
        #expect(try await test.store.client(client.id) == client)
        // Mails are sent side by side, in no order.
        let sent = try await subjects().sorted()
        #expect(
            sent == [
                "The apps that you manage at Example Photos have changed",
                "You are asked to manage an app at Example Photos",
            ])
        try await share()
        let left = try await Self.send("remove", "bob", to: path, in: &bob.browser).clientsPage
        #expect(left.clients.isEmpty && left.notice == "You no longer manage the app.")
        let details = try await test.store.audit(AuditQuery(clientID: client.id)).compactMap(\.event.detail)
        for detail in [
            "accepted to manage the app", "left the app", "asked to manage an app", "manages an app no more",
        ] {
            #expect(details.contains { $0.hasSuffix(detail) }, "\(detail)")
        }
        // The owner's address is not in an event that another user can read.
        let userName = try #require(Username("bob"))
        let user = try #require(try await test.store.user(named: userName))
        let events = try await test.store.audit(AuditQuery(kind: .account, userID: user.id)).map(\.event)
        #expect(events.filter { $0.clientID == client.id }.allSatisfy { $0.source == nil })
    }

    @Test mutating func `the owner hands the app over, and stays a developer`() async throws {
        try await share()
        let page = try await Self.send("hand-over", "bob", to: path, in: &owner.browser).developersPage
        #expect(page.owner?.description == "Bob" && page.developers.map(\.username) == ["dora"] && !page.maySetOwner)
        #expect(try await owner.browser.send(.get, to: "/apps/\(client.id)/delete").status == .notFound)
        #expect(try await bob.browser.open("/apps/\(client.id)").clientPage.paths.delete != nil)
    }

    // The answer is the same whether there is such a user or not.
    @Test mutating func `a developer does not learn which users exist, and a user declines`() async throws {
        let known = try await Self.send("add", "bob", to: path, in: &owner.browser)
        let unknown = try await Self.send("add", "nobody", to: path, in: &owner.browser)
        #expect(try known.developersPage.notice == unknown.developersPage.notice && known.status == unknown.status)
        #expect(try known.developersPage.developers == unknown.developersPage.developers)
        let questions = try unknown.developersPage.questions
        #expect(questions.map(\.username) == ["bob", "nobody"] && Set(questions.map(\.expires)).count == 1)
        let declined = try await Self.answer("decline", about: client, in: &bob.browser)
        #expect(declined.invitations.isEmpty && declined.clients.isEmpty)
        // A user who declines is shown like one who does not answer.
        let shown = try await owner.browser.open(path).developersPage.questions
        #expect(shown == questions)
        let late = try await Self.answer("accept", about: client, in: &owner.browser)
        #expect(late.notice?.contains("can’t be accepted") == true)
        let wrong = try await Self.send("add", "no user", to: path, in: &owner.browser)
        #expect(wrong.status == .badRequest)
        #expect(try wrong.developersPage.username.problem != nil && wrong.developersPage.username.value == "no user")
    }

    @Test mutating func `a question is withdrawn, and ends with the developer who may have asked it`() async throws {
        try await share()
        _ = try await Developer("carl", of: test)
        _ = try await Self.send("add", "carl", to: path, in: &bob.browser)
        let withdrawn = try await Self.send("withdraw", "carl", to: path, in: &owner.browser).developersPage
        #expect(withdrawn.questions.isEmpty && withdrawn.notice == "The question is withdrawn.")
        _ = try await Self.send("add", "carl", to: path, in: &bob.browser)
        let removed = try await Self.send("remove", "bob", to: path, in: &owner.browser).developersPage
        #expect(removed.questions.isEmpty)
        let carlName = try #require(Username("carl"))
        let carl = try #require(try await test.store.user(named: carlName))
        #expect(try await test.store.clientInvitations(of: carl.id, at: test.clock.now).isEmpty)
        let details = try await test.store.audit(AuditQuery(clientID: client.id)).compactMap(\.event.detail)
        #expect(details.contains("withdrew a question to manage the app"))
    }

    @Test mutating func `a user asks a limited number of times in an hour, also for names without a user`()
        async throws
    {
        for _ in 1...20 {
            let asked = try await Self.send("add", "nobody", to: path, in: &owner.browser)
            #expect(asked.status == .ok)
        }
        for name in ["nobody", "bob"] {
            let refused = try await Self.send("add", name, to: path, in: &owner.browser)
            #expect(refused.status == .tooManyRequests)
            #expect(try refused.developersPage.username.value == name)
        }
    }

    @Test(arguments: [false, true])
    mutating func `a handover by the owner ends what an administrator decided, one by an administrator does not`(
        byAdministrator: Bool
    ) async throws {
        var administrator = try await Developer("ada", of: test, role: .owner)
        var dora = owner
        let service = try await dora.registered(Developer.form("Nightly", type: "service", redirectURIs: ""))
        let scope = try Scope(parsing: "photos.read")
        try await test.change(service) {
            $0.approval = .approved
            $0.policy.machineScope = scope
            $0.policy.isVouchedFor = true
        }
        let path = "/apps/\(service.id)/developers"
        _ = try await Self.send("add", "bob", to: path, in: &administrator.browser)
        if byAdministrator {
            _ = try await Self.send("hand-over", "bob", to: path, in: &administrator.browser)
        } else {
            _ = try await Self.send("hand-over", "bob", to: path, in: &dora.browser)
        }
        let given = try #require(try await test.store.client(service.id))
        #expect(given.owner != service.owner)
        #expect(given.approval == (byAdministrator ? .approved : .open))
        #expect(given.policy.machineScope == (byAdministrator ? scope : Scope()))
        #expect(given.policy.isVouchedFor == byAdministrator)
        let events = try await test.store.audit(AuditQuery(kind: .machineAccess, clientID: service.id)).map(\.event)
        #expect(events.compactMap(\.detail) == (byAdministrator ? [] : ["withdrawn photos.read"]))
    }

    @Test mutating func `an invitation to an app without room is accepted once a developer has left`() async throws {
        _ = try await Self.send("add", "bob", to: path, in: &owner.browser)
        let developers = try (0..<ClientDeveloper.limit).map { try User.named("developer-\($0)") }
        for user in developers {
            #expect(try await test.store.addUser(user) == .added)
            let outcome = try await test.store.changeDevelopers(
                of: client.id, .add(user.id), by: .administration, at: test.clock.now, recording: [])
            #expect(outcome == .changed)
        }
        let full = try await Self.answer("accept", about: client, in: &bob.browser)
        #expect(full.notice?.contains("already has 20 developers") == true && full.invitations.count == 1)
        _ = try await test.store.changeDevelopers(
            of: client.id, .remove(developers[0].id), by: .administration, at: test.clock.now, recording: [])
        // Questions that wait end when a developer goes.
        _ = try await Self.send("add", "bob", to: path, in: &owner.browser)
        let accepted = try await Self.answer("accept", about: client, in: &bob.browser)
        #expect(accepted.clients.map(\.clientID) == [client.id.rawValue])
    }

    @Test mutating func `an administrator adds a user at once`() async throws {
        var administrator = try await Developer("ada", of: test, role: .owner)
        let added = try await Self.send("add", "bob", to: path, in: &administrator.browser).developersPage
        #expect(added.developers.map(\.username) == ["bob"] && added.isAdministrator)
        #expect(try await Self.send("add", "nobody", to: path, in: &administrator.browser).status == .badRequest)
        #expect(try await bob.browser.open("/apps").clientsPage.clients.count == 1)
        #expect(try await subjects() == ["The apps that you manage at Example Photos have changed"])
    }

    @Test func `a user who may not register apps finds those that are shared`() async throws {
        let test = try await TestServer { $0.registration = .administrators }
        var administrator = try await Developer("ada", of: test, role: .owner)
        var bob = try await Developer("bob", of: test)
        let client = try await administrator.registered()
        #expect(try await bob.browser.open("/apps").status == .forbidden)
        let userName = try #require(Username("bob"))
        let user = try #require(try await test.store.user(named: userName))
        let added = try await test.store.changeDevelopers(
            of: client.id, .add(user.id), by: .administration, at: test.clock.now, recording: [])
        #expect(added == .changed)
        let page = try await bob.browser.open("/apps").clientsPage
        #expect(page.clients.map(\.clientID) == [client.id.rawValue] && page.newPath == nil)
    }
}
