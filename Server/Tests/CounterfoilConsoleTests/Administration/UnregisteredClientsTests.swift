import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// `/admin/unregistered` and the pages below it: clients that no person registered, their end and their adoption.
struct UnregisteredClientsTests {
    private static let url = "https://app.example.com/oauth/client.json"

    private let test: TestServer
    private let files = ScriptedClientFiles()
    private var administrator: Developer

    init() async throws {
        test = try await TestServer(clientFiles: files)
        try await test.acceptUnregisteredClients()
        administrator = try await Developer("ada", of: test, role: .administrator)
    }

    /// Lets alice allow an app with a document something, and returns the tokens of the app.
    private func allow(
        _ url: String = Self.url, name: String = "Album", for scope: String = "openid", at api: TestAPI? = nil
    ) async throws -> TokenResponse {
        files.set(url, .json(TestServer.document(of: url, name: name)))
        let client = try test.documentClient(url, name: name)
        return try await Attempt(test, by: client, for: scope)
            .with("resource", api?.resource.resource.rawValue).tokens()
    }

    private static func path(of url: String, below parent: String) -> String {
        "\(parent)/~\(Base64URL.encode(Array(url.utf8)))"
    }

    private static let page = path(of: url, below: "/admin/unregistered/clients")

    @Test(arguments: [
        "/admin/unregistered?after=%00", "/admin/unregistered?after=a&after=b", "/admin/unregistered?after=%ZZ",
        "/admin/unregistered/clients?host=%00", "/admin/unregistered/clients?host=a%20b",
        "/admin/unregistered/clients?host=a.example&host=b.example", "/admin/unregistered/clients?host=%ZZ",
        "/admin/unregistered/clients?before=1", "/admin/unregistered/clients?before=%00",
    ])
    mutating func `a part of a list that does not exist is no other part of it`(path: String) async throws {
        #expect(try await administrator.browser.open(path).status == .notFound)
    }

    @Test mutating func `administrators see who came, when, and what they got`() async throws {
        _ = try await allow()
        _ = try await allow("https://app.example.com/second", name: "Second")
        for number in 1...3 { _ = try await test.selfRegisteredClient("app_\(number)") }
        let list = try await administrator.browser.open("/admin/unregistered").unregisteredClientsPage
        #expect(list.hosts.map(\.name) == ["app.example.com"])
        #expect(list.hosts.map(\.count) == ["0 of 2 unused"])
        #expect(list.registrations?.count == "3 of 3 unused")
        #expect(list.more == nil && !list.isFixed)
        test.clock.advance(by: 3 * 3600)
        // The pages for administrators need a sign-in that is not so long ago.
        administrator = try await Developer("eve", of: test, role: .administrator)

        let host = try await administrator.browser.open(list.hosts[0].path).unregisteredFamilyPage
        #expect(host.host == "app.example.com")
        #expect(Set(host.rows.map(\.name)) == ["Album", "Second"])
        let row = try #require(host.rows.first { $0.name == "Album" })
        #expect(row.clientID == Self.url)
        #expect(row.firstSeen == "15 January 2027" && row.lastUsed == "3 hours ago")
        #expect(row.users == "1 user" && row.scopes == "openid")
        #expect(row.path == Self.page)

        let registrations = try #require(list.registrations)
        let family = try await administrator.browser.open(registrations.path).unregisteredFamilyPage
        #expect(family.host == nil && family.rows.map(\.users) == ["0 users", "0 users", "0 users"])
        #expect(family.rows.allSatisfy { $0.lastUsed == nil })

        let listed = try await administrator.browser.open("/admin/apps").administrationPage.clients
        #expect(listed.map(\.clientID) == ["app_lightbox"])
    }

    @Test mutating func `a search finds hosts by their beginning, and an app by its client ID`() async throws {
        _ = try await allow()
        _ = try await allow("https://other.example.com/client.json", name: "Other")
        _ = try await test.selfRegisteredClient("app_1")
        func hosts(_ search: String) async throws -> [String] {
            let path = "/admin/unregistered?" + FormParameters(["search": search]).encoded
            return try await administrator.browser.open(path).unregisteredClientsPage.hosts.map(\.name)
        }
        #expect(try await hosts(" APP.") == ["app.example.com"])
        #expect(try await hosts("https://other.example.com/unknown.json") == ["other.example.com"])
        #expect(try await hosts("nowhere") == [])
        for id in ["app_1", Self.url] {
            let path = "/admin/unregistered?" + FormParameters(["search": id]).encoded
            #expect(try await administrator.browser.open(path).unregisteredClientPage.row.clientID == id)
        }
        let refused = try await administrator.browser.open("/admin/unregistered?search=a%00").unregisteredClientsPage
        #expect(refused.search.problem != nil && refused.hosts == [])
    }

    // A stranger can register any number of apps, so no page reads them all.
    @Test mutating func `long lists are shown in pages`() async throws {
        for number in 100..<160 { _ = try await test.selfRegisteredClient("app_\(number)") }
        var path: String? = "/admin/unregistered/clients"
        var seen: [String] = []
        var pages = 0
        while let next = path {
            let page = try await administrator.browser.open(next).unregisteredFamilyPage
            seen += page.rows.map(\.clientID)
            (path, pages) = (page.older, pages + 1)
        }
        #expect(pages == 2)
        #expect(seen == (100..<160).reversed().map { "app_\($0)" })
    }

    @Test mutating func `ending an app ends its tokens, and the app can ask again`() async throws {
        let api = try await test.addAPI()
        let tokens = try await allow(for: "photos.read", at: api)
        #expect(try await api.sees(tokens.accessToken.exposed))
        let page = try await administrator.browser.open(Self.page).unregisteredClientPage
        let form = FormParameters(["ticket": page.ticket, "decision": "end"])
        let list = try await administrator.browser.submit(form, to: page.action).unregisteredClientsPage
        #expect(list.notice != nil && list.hosts.isEmpty)
        #expect(try await !api.sees(tokens.accessToken.exposed))
        let event = try #require(try await test.store.audit(AuditQuery(kind: .client)).first?.event)
        #expect(event.clientID?.rawValue == Self.url && event.detail == "deleted, unregistered")
        #expect(try await administrator.browser.open(Self.page).status == .notFound)
        _ = try await allow()
    }

    @Test(arguments: [true, false])
    mutating func `ending every app of a host refuses the host only if the form says so`(refuses: Bool) async throws {
        for number in 1...3 { _ = try await allow("https://app.example.com/\(number)") }
        _ = try await allow("https://other.example/app")
        let page = try await administrator.browser.open("/admin/unregistered/clients?host=app.example.com")
            .unregisteredFamilyPage
        var form = FormParameters(["ticket": page.ticket, "host": try #require(page.host)])
        if refuses { form.append("refuse", "on") }
        let list = try await administrator.browser.submit(form, to: page.action).unregisteredClientsPage
        #expect(list.hosts.map(\.name) == ["other.example"])
        let events = try await test.store.audit(AuditQuery()).map(\.event.detail)
        #expect(events.contains("deleted 3 unregistered apps of app.example.com"))
        #expect(events.contains("unregistered apps: refused_hosts with app.example.com") == refuses)
        let again = try await Attempt(
            test, by: try test.documentClient("https://app.example.com/1"), for: "openid"
        ).firstReply()
        #expect((again.status == .ok) != refuses)
    }

    // The next request would store it again, without the suspension.
    @Test mutating func `a suspended app with a document is not deleted`() async throws {
        _ = try await allow()
        _ = try await allow("https://app.example.com/other")
        let id = try #require(ClientIdentifier(Self.url))
        let decision = ClientDecision.suspend(reason: "Spam")
        #expect(try await test.store.decide(decision, on: id, at: test.clock.now, recording: []) == .decided)
        let page = try await administrator.browser.open(Self.page).unregisteredClientPage
        let end = FormParameters(["ticket": page.ticket, "decision": "end"])
        let refused = try await administrator.browser.submit(end, to: page.action)
        #expect(refused.status == .conflict)
        #expect(try refused.unregisteredClientPage.problems.count == 1)
        let family = try await administrator.browser.open("/admin/unregistered/clients?host=app.example.com")
            .unregisteredFamilyPage
        let endAll = FormParameters(["ticket": family.ticket, "host": try #require(family.host)])
        _ = try await administrator.browser.submit(endAll, to: family.action).unregisteredClientsPage
        #expect(try await test.store.unregisteredClientCount(of: .host("app.example.com")).clients == 1)
        let again = try await Attempt(test, by: try test.documentClient(Self.url), for: "openid").firstReply()
        #expect(again.status == .badRequest)
        #expect(try await test.store.client(id)?.suspension != nil)
        #expect(try await test.store.decide(.resume, on: id, at: test.clock.now, recording: []) == .decided)
        _ = try await administrator.browser.submit(end, to: page.action).unregisteredClientsPage
        #expect(try await test.store.client(id) == nil)
    }

    // With more hosts, the form of the policy could not be saved any more.
    @Test mutating func `a host is not refused beyond the limit of the policy, and the page says so`() async throws {
        _ = try await allow()
        let hosts = try (0..<UnregisteredClientPolicy.hostLimit).map { number in
            try #require(HostPattern("host\(number).example"))
        }
        try await test.acceptUnregisteredClients { $0.refusedHosts = hosts }
        let page = try await administrator.browser.open("/admin/unregistered/clients?host=app.example.com")
            .unregisteredFamilyPage
        let form = FormParameters(["ticket": page.ticket, "host": try #require(page.host)])
        let reply = try await administrator.browser.submit(form.adding("refuse", "on"), to: page.action)
        #expect(reply.status == .badRequest)
        let full = try reply.unregisteredFamilyPage
        #expect(full.problems.first?.text.hasPrefix("The policy already refuses 200 hosts") == true)
        #expect(full.host == "app.example.com" && full.rows.count == 1)
        #expect(try await test.store.unregisteredClientPolicy().refusedHosts == hosts)
        let policy = try await administrator.browser.open("/admin/unregistered/policy").unregisteredPolicyPage
        #expect(policy.problems.isEmpty)
        #expect(try await administrator.browser.submit(form, to: page.action).unregisteredClientsPage.hosts.isEmpty)
    }

    // For an identifier with slashes: the address of the page contains it in one segment.
    @Test mutating func `a user disconnects an app whose identifier is a URL`() async throws {
        _ = try await allow()
        var browser = test.browser()
        let account = try await browser.signInToConsole(username: "alice").accountPage
        let shown = try #require(account.clients.first)
        #expect(shown.path == Self.path(of: Self.url, below: "/account/apps"))
        let page = try await browser.open(shown.path).connectedClientPage
        let form = FormParameters(["ticket": page.ticket, "decision": "disconnect"])
        #expect(try await browser.submit(form, to: page.action).accountPage.clients.isEmpty)
        let client = try #require(ClientIdentifier(Self.url))
        #expect(try await test.store.consent(of: test.alice.id, to: client) == nil)
    }

    @Test mutating func `an adopted app is a registered one, and its document is never read again`() async throws {
        _ = try await allow()
        let page = try await administrator.browser.open(Self.page).unregisteredClientPage
        #expect(page.canBeAdopted && !page.publishesKeys)
        let form = FormParameters([
            "ticket": page.ticket, "decision": "adopt", "revision": String(page.revision),
        ])
        let shown = try await administrator.browser.submit(form, to: page.action).clientPage
        #expect(shown.notice != nil && shown.client.clientID == Self.url)
        #expect(shown.paths.edit == Self.path(of: Self.url, below: "/apps") + "/edit")
        let event = try #require(try await test.store.audit(AuditQuery(kind: .client)).first?.event)
        #expect(event.detail == "adopted")

        let requests = files.requests.count
        files.set(Self.url, .json(TestServer.document(of: Self.url, name: "Impostor")))
        test.clock.advance(by: 30 * 86_400)
        try await administrator.browser.signInToConsole(username: "ada")
        let id = try #require(ClientIdentifier(Self.url))
        let client = try #require(try await test.store.client(id))
        #expect(client.source == .console)
        _ = try await Attempt(test, by: client, for: "openid").tokens()
        #expect(files.requests.count == requests)

        let listed = try await administrator.browser.open("/admin/apps").administrationPage.clients
        #expect(listed.map(\.clientID).contains(Self.url))
        let edit = try await administrator.browser.open(try #require(shown.paths.edit)).clientFormPage
        let changed = try await administrator.browser.submit(
            FormParameters([
                "ticket": edit.ticket, "revision": String(edit.revision), "name": "Album Two",
                "redirect_uris": "http://127.0.0.1/callback", "scope": "openid",
            ]), to: edit.action
        ).clientPage
        #expect(changed.client.name == "Album Two")
        #expect(try await administrator.browser.open("/admin/unregistered").unregisteredClientsPage.hosts.isEmpty)
    }

    // The stored client has the scope and the lifetimes of its last authorization.
    @Test mutating func `an adopted app has no more than the policy allows at the adoption`() async throws {
        try await test.acceptUnregisteredClients { policy in
            policy.accessTokenLifetime = 7200
            policy.refreshTokens = .always
        }
        _ = try await allow(for: "openid photos.read")
        let id = try #require(ClientIdentifier(Self.url))
        let stored = try #require(try await test.store.client(id))
        #expect(stored.scope.description.contains("photos.read") && stored.policy.accessTokenLifetime == 7200)
        try await test.acceptUnregisteredClients { policy in
            policy.maximumScope = try Scope(parsing: "openid photos.write")
            policy.accessTokenLifetime = 300
            policy.refreshTokens = .never
            policy.refreshIdleLifetime = 3600
            policy.refreshLifetime = 7200
        }
        let page = try await administrator.browser.open(Self.page).unregisteredClientPage
        let form = FormParameters([
            "ticket": page.ticket, "decision": "adopt", "revision": String(page.revision),
        ])
        _ = try await administrator.browser.submit(form, to: page.action).clientPage
        let adopted = try #require(try await test.store.client(id))
        #expect(adopted.source == .console)
        #expect(adopted.scope == (try Scope(parsing: "openid photos.write")))
        #expect(adopted.policy.accessTokenLifetime == 300 && adopted.policy.refreshTokens == .never)
        #expect(adopted.policy.refreshTokenLife == RefreshTokenLife(idleLifetime: 3600, lifetime: 7200))
        let refused = try await Attempt(test, by: adopted, for: "photos.read").error()
        #expect(refused.code == .invalidScope)
    }

    // The administrator adopts what the page showed; the document may have changed since.
    @Test mutating func `an app that changed meanwhile is not adopted`() async throws {
        _ = try await allow()
        let page = try await administrator.browser.open(Self.page).unregisteredClientPage
        let id = try #require(ClientIdentifier(Self.url))
        let client = try #require(try await test.store.client(id))
        try await test.change(client) { $0.presentation.name = "Impostor" }
        let form = FormParameters([
            "ticket": page.ticket, "decision": "adopt", "revision": String(page.revision),
        ])
        let reply = try await administrator.browser.submit(form, to: page.action)
        #expect(reply.status == .conflict)
        let again = try reply.unregisteredClientPage
        #expect(again.name.description == "Impostor (app.example.com)" && !again.problems.isEmpty)
        #expect(try await test.store.unregisteredClient(client.id) != nil)
    }

    @Test mutating func `an app that registered itself is not adopted, and is ended`() async throws {
        let client = try await test.selfRegisteredClient()
        let page = try await administrator.browser.open("/admin/unregistered/clients/\(client.id)")
            .unregisteredClientPage
        #expect(!page.canBeAdopted)
        let adopt = FormParameters(["ticket": page.ticket, "decision": "adopt", "revision": "0"])
        #expect(try await administrator.browser.submit(adopt, to: page.action).status == .notFound)
        let end = FormParameters(["ticket": page.ticket, "decision": "end"])
        _ = try await administrator.browser.submit(end, to: page.action).unregisteredClientsPage
        #expect(try await test.store.client(client.id) == nil)
    }

    // An administrator edits only what a person registered: the next document would undo the change.
    @Test mutating func `the pages of registered apps do not show the others`() async throws {
        _ = try await allow()
        for page in ["", "/edit", "/policy", "/delete", "/secrets", "/connect", "/logo"] {
            let path = Self.path(of: Self.url, below: "/apps") + page
            #expect(try await administrator.browser.open(path).status == .notFound, "\(path)")
        }
    }
}
