import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The approval and the suspension of a client, as administrators and developers see them.
struct ClientDecisionTests {
    private static func form(_ page: ClientDecisionPage, _ decision: String, reason: String = "") -> FormParameters {
        FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "decision": decision, "reason": reason,
        ])
    }

    private static func reserve(_ name: String, on test: TestServer) async throws {
        let former = try #require(try await test.store.scopes().first { $0.token.rawValue == name })
        var scope = former
        scope.isReserved = true
        #expect(try await test.store.updateScope(scope, from: former) == .updated)
    }

    @Test func `an administrator suspends and resumes a client, and its developer reads the reason`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        let path = "/apps/\(client.id)/approval"
        var page = try await administrator.browser.open(path).decisionPage
        #expect(page.suspension == nil)
        #expect(page.users == "0 users")
        let reason = "It asks for passwords <b>"
        page = try await administrator.browser.submit(
            Self.form(page, "suspend", reason: " \(reason) "), to: page.action
        ).decisionPage
        #expect(page.notice == "The app is suspended from the next request.")
        #expect(page.suspension?.hasSuffix(reason) == true)
        let shown = try await owner.browser.open("/apps/\(client.id)")
        #expect(try shown.clientPage.suspension?.contains(reason) == true)
        #expect(try !shown.html().contains("passwords <b>"))
        #expect(try await owner.browser.open("/apps").clientsPage.clients.map(\.isSuspended) == [true])
        // The form that is sent twice changes nothing.
        let twice = try await administrator.browser.submit(Self.form(page, "suspend", reason: "x"), to: page.action)
        #expect(try twice.decisionPage.suspension?.hasSuffix(reason) == true)

        page = try await administrator.browser.submit(Self.form(page, "resume"), to: page.action).decisionPage
        #expect(page.suspension == nil)
        let events = try await test.store.audit(AuditQuery(kind: .client, clientID: client.id)).map(\.event)
        #expect(events.map(\.detail) == ["resumed", "suspended: \(reason)", "registered"])
        #expect(events.prefix(2).allSatisfy { $0.userID != client.owner })
    }

    @Test(arguments: ["", " \u{200B}", "a\nb", String(repeating: "a", count: 501)])
    func `a suspension needs a reason that can be read`(reason: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/apps/\(test.lightbox.id)/approval").decisionPage
        let reply = try await administrator.browser.submit(
            Self.form(page, "suspend", reason: reason), to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.decisionPage.reason.problem != nil)
        #expect(try await test.store.client(test.lightbox.id)?.suspension == nil)
    }

    @Test func `the page of an approval shows what it is for, and marks the reserved scopes`() async throws {
        let test = try await TestServer { $0.newClients = .pending }
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(Developer.form(scopes: ["openid", "photos.write"]))
        try await Self.reserve("photos.write", on: test)
        try await test.change(client) { $0.presentation.publisher = "Example Inc." }
        let reply = try await administrator.browser.open("/apps/\(client.id)/approval")
        let shown = try #require(try reply.decisionPage.approvable)
        #expect(shown.publisher?.description == "Example Inc.")
        #expect(shown.redirectURIs == client.redirectURIs.map(\.rawValue) && !shown.redirectURIs.isEmpty)
        #expect(shown.permissions.map(\.scope) == ["openid", "photos.write"])
        #expect(shown.permissions.map(\.isReserved) == [false, true])
        let html = try reply.html()
        for text in ["Example Inc.", "photos.write", ">reserved<"] { #expect(html.contains(text), "\(text)") }
    }

    // The policy for unregistered clients alone decides about it.
    @Test func `a client with a document is not approved`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let client = try test.documentClient("https://app.example.com/oauth/client.json")
        #expect(try await test.store.addClient(client) == .added)
        let path = "/apps/~\(Base64URL.encode(Array(client.id.rawValue.utf8)))/approval"
        let page = try await administrator.browser.open(path).decisionPage
        #expect(page.approval == nil && page.approvable == nil)
        let reply = try await administrator.browser.submit(Self.form(page, "approve"), to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try await test.store.client(client.id)?.approval == .open)
    }

    @Test(arguments: [NewClientApproval.open, .pending])
    func `the forms of a developer say that a change loses reserved scopes`(setting: NewClientApproval) async throws {
        let test = try await TestServer { $0.newClients = setting }
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(Developer.form(scopes: ["openid", "photos.write"]))
        try await test.change(client) { $0.approval = .approved }
        #expect(try await !owner.browser.open("/apps/\(client.id)/edit").clientFormPage.losesReserved)
        try await Self.reserve("photos.write", on: test)
        let edit = try await owner.browser.open("/apps/\(client.id)/edit")
        #expect(try edit.clientFormPage.losesReserved)
        #expect(try edit.clientFormPage.endsApproval == (setting != .open))
        let logo = try await owner.browser.open("/apps/\(client.id)/logo")
        #expect(try logo.logoPage.losesReserved)
        #expect(try logo.logoPage.endsApproval == (setting != .open))
        for html in [try edit.html(), try logo.html()] { #expect(html.contains("loses its reserved permissions")) }
        var administrator = try await Developer("ada", of: test, role: .administrator)
        #expect(try await !administrator.browser.open("/apps/\(client.id)/logo").logoPage.losesReserved)
    }

    @Test func `the form of a new client leaves out a standard scope that is reserved`() async throws {
        let test = try await TestServer()
        try await Self.reserve("email", on: test)
        var owner = try await Developer("dora", of: test)
        let page = try await owner.browser.open("/apps/new?type=native").clientFormPage
        #expect(page.scopes.filter(\.isAssigned).map(\.name) == ["openid", "profile"])
        let client = try await owner.registered(Developer.form(scopes: []))
        #expect(client.scope == Scope([.openID, .profile]))
        var administrator = try await Developer("ada", of: test, role: .administrator)
        #expect(try await administrator.registered(Developer.form(scopes: [])).scope.contains(.email))
    }

    @Test func `a developer decides about no client, also not about an own one`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        #expect(try await owner.browser.open("/apps/\(client.id)").clientPage.paths.decision == nil)
        let path = "/apps/\(client.id)/approval"
        #expect(try await owner.browser.send(.get, to: path).status == .notFound)
        let ticket = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage.ticket
        let form = FormParameters(["ticket": ticket, "revision": "0", "decision": "approve"])
        #expect(try await owner.browser.send(.post, to: path, form: form).status == .notFound)
        #expect(try await test.store.client(client.id)?.approval == .open)
    }

    // The developer changes the client after the administrator has looked at it.
    @Test func `an approval is for the client that the administrator has seen`() async throws {
        let test = try await TestServer { $0.newClients = .pending }
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        #expect(client.approval == .pending)
        let list = try await administrator.browser.open("/admin/apps").administrationPage
        #expect(list.waiting.map(\.text) == ["One app waits for approval."])
        let waiting = try await administrator.browser.open(try #require(list.waiting.first).path).administrationPage
        #expect(waiting.clients.map(\.clientID) == [client.id.rawValue])
        var page = try await administrator.browser.open("/apps/\(client.id)/approval").decisionPage
        try await test.change(client) { $0.presentation.name = "Bank" }
        let refused = try await administrator.browser.submit(Self.form(page, "approve"), to: page.action)
        #expect(refused.status == .conflict)
        page = try refused.decisionPage
        #expect(try await test.store.client(client.id)?.isPending == true)
        page = try await administrator.browser.submit(Self.form(page, "approve"), to: page.action).decisionPage
        #expect(page.approvable == nil)
        #expect(try await test.store.client(client.id)?.isApproved == true)
        #expect(try await administrator.browser.open("/admin/apps").administrationPage.waiting == [])
    }

    @Test(arguments: NewClientApproval.allCases)
    func `a client of a developer begins as the setting says, that of an administrator is approved`(
        setting: NewClientApproval
    ) async throws {
        let test = try await TestServer { $0.newClients = setting }
        var owner = try await Developer("dora", of: test)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        #expect(try await owner.registered().approval.rawValue == setting.rawValue)
        #expect(try await administrator.registered().approval == .approved)
    }

    @Test(arguments: NewClientApproval.allCases)
    func `a change by the developer ends the approval, one by an administrator does not`(
        setting: NewClientApproval
    ) async throws {
        let test = try await TestServer { $0.newClients = setting }
        var owner = try await Developer("dora", of: test)
        let administrator = try await Developer("ada", of: test, role: .administrator)
        let client = try await owner.registered()
        try await test.change(client) { $0.approval = .approved }
        for isOwner in [false, true] {
            var person = isOwner ? owner : administrator
            let page = try await person.browser.open("/apps/\(client.id)/edit").clientFormPage
            #expect(page.endsApproval == (isOwner && setting != .open))
            let form = Developer.form("Changed \(isOwner)").adding("ticket", page.ticket)
                .adding("revision", String(page.revision))
            _ = try await person.browser.submit(form, to: page.action).clientPage
            let approval = try #require(try await test.store.client(client.id)).approval
            #expect(approval.rawValue == (isOwner ? setting.rawValue : "approved"))
        }
    }

    // A name that no user has gets no other answer, so that the form is no way to find accounts.
    @Test func `a developer names testers, whether they exist or not`() async throws {
        let test = try await TestServer { $0.newClients = .development }
        _ = try await test.addUser("bob")
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        var page = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(page.testers?.value == "")
        func form(_ testers: String) -> FormParameters {
            Developer.form().adding("ticket", page.ticket).adding("revision", String(page.revision))
                .adding("testers", testers)
        }
        let wrong = try await owner.browser.submit(form("bob\nno user"), to: page.action)
        #expect(wrong.status == .badRequest)
        #expect(try wrong.clientFormPage.testers?.problem?.contains("no user") == true)
        let many = (1...21).map { "user\($0)" }.joined(separator: "\n")
        #expect(try await owner.browser.submit(form(many), to: page.action).status == .badRequest)
        let saved = try await owner.browser.submit(form("Bob\nnobody\nbob"), to: page.action).clientPage
        #expect(saved.waiting?.hasSuffix("bob, nobody") == true)
        let stored = try #require(try await test.store.client(client.id))
        #expect(stored.testers.map(\.rawValue) == ["bob", "nobody"])
        // The testers stay when the form has no field for them.
        try await test.change(client) { $0.approval = .pending }
        page = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(page.testers == nil)
        _ = try await owner.browser.submit(form("eve"), to: page.action).clientPage
        #expect(try await test.store.client(client.id)?.testers.count == 2)
    }

    @Test func `a developer cannot add a reserved scope, an administrator can`() async throws {
        let test = try await TestServer()
        try await Self.reserve("photos.write", on: test)
        var owner = try await Developer("dora", of: test)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let refused = try await owner.register(Developer.form(scopes: ["openid", "photos.write"]))
        #expect(refused.status == .badRequest)
        let choice = try refused.clientFormPage.scopes.first { $0.name == "photos.write" }
        #expect(choice?.isReserved == true)
        #expect(choice?.hint == "Reserved for approved apps. Only administrators can add it.")
        #expect(try refused.html().contains("disabled"))

        let client = try await owner.registered()
        var page = try await administrator.browser.open("/apps/\(client.id)/edit").clientFormPage
        let scopes = ["openid", "photos.read", "photos.write"]
        _ = try await administrator.browser.submit(
            Developer.form(scopes: scopes).adding("ticket", page.ticket).adding("revision", String(page.revision)),
            to: page.action
        ).clientPage
        #expect(try await test.store.client(client.id)?.scope.tokens.map(\.rawValue) == scopes)
        // The developer keeps it with another change.
        page = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(page.scopes.first { $0.name == "photos.write" }?.isReserved == false)
        _ = try await owner.browser.submit(
            Developer.form("Other", scopes: scopes).adding("ticket", page.ticket)
                .adding("revision", String(page.revision)), to: page.action
        ).clientPage
        #expect(try await test.store.client(client.id)?.scope.tokens.count == 3)
    }

    @Test func `an unregistered client can be suspended, too`() async throws {
        let test = try await TestServer()
        try await test.acceptUnregisteredClients()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let client = try await test.selfRegisteredClient()
        let shown = try await administrator.browser.open("/admin/unregistered/clients/\(client.id)")
        let path = try shown.unregisteredClientPage.decisionPath
        var page = try await administrator.browser.open(path).decisionPage
        #expect(page.paths == nil)
        #expect(page.approval == "The app is not approved. It gets no reserved permission.")
        page = try await administrator.browser.submit(Self.form(page, "approve"), to: page.action).decisionPage
        #expect(page.notice == "The app is approved." && page.approvable == nil)
        page = try await administrator.browser.submit(
            Self.form(page, "suspend", reason: "Spam"), to: page.action
        ).decisionPage
        #expect(page.suspension != nil)
        #expect(try await Attempt(test, by: client).firstReply().problemPage.title.hasSuffix(" is suspended"))
        let row = try await administrator.browser.open("/admin/unregistered/clients/\(client.id)")
            .unregisteredClientPage.row
        #expect(row.isSuspended)
    }
}
