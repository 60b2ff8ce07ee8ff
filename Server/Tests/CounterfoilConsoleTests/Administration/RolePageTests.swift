import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import Testing

/// The pages of the console, for each role.
struct RolePageTests {
    /// The users who may see the page of an endpoint, and those who may submit its form.
    ///
    /// The sets are written out, so that a changed right shows here.
    private struct Rule {
        let endpoint: Endpoint
        let path: String
        let readers: Set<UserRole>
        let changers: Set<UserRole>
        /// The users who learn from the refusal of a form which roles may submit it.
        let refused: Set<UserRole>

        init(
            _ endpoint: Endpoint, _ path: String, _ readers: Set<UserRole>, _ changers: Set<UserRole>,
            refused: Set<UserRole> = [.support, .auditor]
        ) {
            self.endpoint = endpoint
            self.path = path
            self.readers = readers
            self.changers = changers
            self.refused = refused.subtracting(changers)
        }
    }

    private enum Verdict: Hashable {
        case admitted
        /// As if the page did not exist.
        case hidden
        /// A page that says which roles may.
        case refused
    }

    private static let administrators: Set<UserRole> = [.owner, .administrator]
    private static let readers = administrators.union([.auditor])
    private static let supporters = administrators.union([.support])

    /// The endpoints of each user's own account and clients, which need no right.
    private static let own: Set<Endpoint> = [
        .consoleSignIn, .account, .connectedClient, .sessions, .passkeys, .secondFactor, .password, .email, .activity,
        .signOut, .clients, .newClient, .availableAPIs, .verdicts, .clientInvitations,
    ]

    private let test: TestServer
    private let rules: [Rule]

    init() async throws {
        let test = try await TestServer(
            reporter: ScriptedInstallation { $0.ordersCertificate = true }, mailSender: MailRecorder()
        ) { $0.signUp = .invited }
        self.test = test
        var developer = try await Developer("dora", of: test)
        let web = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let native = try await developer.registered(
            Developer.form("Claiming", redirectURIs: "https://native.example.com/callback"))
        try await test.acceptUnregisteredClients()
        let unregistered = try await test.selfRegisteredClient()
        _ = try await test.addAPI("https://photos.example.com", scope: "photos.read")
        let (administrators, readers, supporters) = (Self.administrators, Self.readers, Self.supporters)
        let alice = test.alice.id
        func client(_ endpoint: Endpoint, of client: RegisteredClient, _ readers: Set<UserRole>) -> Rule {
            Rule(endpoint, endpoint.path(of: client.id), readers, administrators, refused: [.auditor])
        }
        let key = try #require(try await test.store.signingKeys().first { $0.algorithm == .es256 }).id
        let webhook = Webhook(
            url: try AbsoluteURI(parsing: "https://hooks.example.com/"), label: "Receiver", types: [],
            sealedSecret: [1], createdAt: test.clock.now, cursor: 0)
        #expect(try await test.store.addWebhook(webhook, recording: []) == .added)
        let api = "?api=https%3A%2F%2Fphotos.example.com"
        func user(_ endpoint: Endpoint) -> String { endpoint.path(of: alice) }
        rules = [
            client(.client, of: web, readers), client(.connectClient, of: web, readers),
            client(.clientSecrets, of: web, readers), client(.clientAssociation, of: native, readers),
            client(.editClient, of: web, administrators), client(.clientLogo, of: web, administrators),
            client(.clientDevelopers, of: web, administrators), client(.deleteClient, of: web, administrators),
            Rule(.clientPolicy, Endpoint.clientPolicy.path(of: web.id), administrators, administrators),
            Rule(.clientDecision, Endpoint.clientDecision.path(of: web.id), readers, administrators),
            Rule(.overview, "/admin", readers.union(supporters), readers.union(supporters)),
            Rule(.administration, "/admin/apps", readers, administrators),
            Rule(.users, "/admin/users", readers.union(supporters), supporters),
            Rule(.invitations, "/admin/users/invitations", supporters, supporters),
            Rule(.newUser, "/admin/users/new", supporters, supporters),
            Rule(.user, user(.user), readers.union(supporters), supporters),
            Rule(.userClaims, user(.userClaims), readers.union(supporters), supporters),
            Rule(.deleteUser, user(.deleteUser), supporters, supporters),
            Rule(.scopes, "/admin/scopes", readers, administrators),
            Rule(.newScope, "/admin/scopes/new", administrators, administrators),
            Rule(.editScope, "/admin/scopes/edit?scope=photos.read", administrators, administrators),
            Rule(.deleteScope, "/admin/scopes/delete?scope=photos.read", administrators, administrators),
            Rule(.apis, "/admin/apis", readers, administrators),
            Rule(.newAPI, "/admin/apis/new", administrators, administrators),
            Rule(.api, "/admin/apis/api" + api, readers, administrators),
            Rule(.editAPI, "/admin/apis/edit" + api, administrators, administrators),
            Rule(.deleteAPI, "/admin/apis/delete" + api, administrators, administrators),
            Rule(.webhooks, "/admin/webhooks", readers, administrators),
            Rule(.newWebhook, "/admin/webhooks/new", administrators, administrators),
            Rule(.webhook, "/admin/webhooks/webhook?webhook=\(webhook.id)", readers, administrators),
            Rule(.editWebhook, "/admin/webhooks/edit?webhook=\(webhook.id)", administrators, administrators),
            Rule(.deleteWebhook, "/admin/webhooks/delete?webhook=\(webhook.id)", administrators, administrators),
            Rule(.branding, "/admin/branding", administrators, administrators),
            Rule(.mailPreview, "/admin/mail", readers, administrators),
            Rule(.audit, "/admin/audit", readers, readers),
            Rule(.testMail, "/admin/mail/test", administrators, administrators),
            Rule(.server, "/admin/server", readers, readers),
            Rule(.certificate, "/admin/server/certificate", readers, administrators),
            Rule(.serverSettings, "/admin/settings", readers, readers),
            Rule(.keys, "/admin/keys", readers, administrators),
            Rule(.rotateKey, "/admin/keys/rotate?algorithm=ES256", administrators, administrators),
            Rule(.withdrawKey, "/admin/keys/withdraw?key=\(key)", administrators, administrators),
            Rule(.registrationTokens, "/admin/registration-tokens", readers, administrators),
            Rule(.unregisteredClients, "/admin/unregistered", readers, administrators),
            Rule(.unregisteredPolicy, "/admin/unregistered/policy", administrators, administrators),
            Rule(.unregisteredFamily, "/admin/unregistered/clients?host=album.example.com", readers, administrators),
            Rule(
                .unregisteredClient, Endpoint.unregisteredClient.path(of: unregistered.id), readers, administrators),
        ]
    }

    private static func verdict(on reply: Reply) -> Verdict {
        let title = (reply.page as? ProblemPage)?.title
        if title == "Your role does not allow this" { return reply.status == .forbidden ? .refused : .hidden }
        return reply.status == .notFound ? .hidden : .admitted
    }

    /// A new endpoint needs a line here.
    @Test func `each endpoint of the console is for everyone's own account, or for the roles of its rule`() {
        #expect(Set(rules.map(\.endpoint)).union(Self.own) == Set(ServerPages.console.endpoints))
        #expect(Self.own.isDisjoint(with: rules.map(\.endpoint)))
        for endpoint in Self.own.subtracting([.consoleSignIn]) { #expect(endpoint.audience == .signedIn) }
        for rule in rules where rule.path.hasPrefix("/admin") {
            guard case .administration = rule.endpoint.audience else {
                Issue.record("\(rule.endpoint) has no right")
                continue
            }
        }
    }

    @Test(arguments: UserRole.allCases.map(Optional.some) + [nil])
    func `a page is for the roles that have its right, and a form of it for those that may change it`(
        role: UserRole?
    ) async throws {
        var user = try await Developer("mia", of: test, role: role)
        for rule in rules {
            let shown = try await user.browser.send(.get, to: rule.path)
            let isReader = role.map(rule.readers.contains) ?? false
            #expect(Self.verdict(on: shown) == (isReader ? .admitted : .hidden), "GET \(rule.path)")
            guard rule.endpoint.methods.contains(.post) else { continue }
            let form = FormParameters(["ticket": "forged", "decision": "none"])
            let sent = try await user.browser.send(.post, to: rule.path, form: form)
            let isChanger = role.map(rule.changers.contains) ?? false
            let isRefused = role.map(rule.refused.contains) ?? false
            let expected: Verdict = isChanger ? .admitted : isRefused ? .refused : .hidden
            #expect(Self.verdict(on: sent) == expected, "POST \(rule.path)")
        }
        for endpoint in Self.own where endpoint.methods.contains(.get) && endpoint.path.firstIndex(of: "{") == nil {
            #expect(try await user.browser.send(.get, to: endpoint.path).status != .notFound, "\(endpoint)")
        }
    }

    // The only form is the sign-out in the head.
    @Test(arguments: UserRole.allCases)
    func `a page has no form that the role may not submit, and no link to a page that it may not see`(
        role: UserRole
    ) async throws {
        var user = try await Developer("mia", of: test, role: role)
        let routes = RouteTable(ServerPages.console.endpoints, settings: test.server.settings)
        for rule in rules where rule.readers.contains(role) {
            let html = try await user.browser.open(rule.path).html()
            if rule.endpoint.methods.contains(.post), !rule.changers.contains(role) {
                #expect(html.split(separator: "method=\"post\"").count == 2, "\(rule.path)")
            }
            for link in html.matches(of: /href="(\/[^"?#]*)/) {
                guard let endpoint = routes.route(link.output.1)?.endpoint,
                    let target = rules.first(where: { $0.endpoint == endpoint })
                else { continue }
                #expect(target.readers.contains(role), "\(rule.path) links to \(endpoint)")
            }
        }
        let account = try await user.browser.open("/account").accountPage
        #expect(account.user.role == Localizer.english(role.label))
        #expect(account.user.roleMeaning == Localizer.english(role.meaning))
        let first = account.console.paths.administration
        #expect((first == nil) == role.rights.isEmpty)
        if let first { #expect(try await user.browser.send(.get, to: first).status == .ok) }
    }

    /// The fields that a form needs beside its hidden ones, to be more than a form without a decision.
    private static let fields: [Endpoint: [String: String]] = [
        .clientDecision: ["decision": "suspend", "reason": "It sends mail."], .clientLogo: ["decision": "remove"],
        .clientDevelopers: ["decision": "add", "username": "alice"], .invitations: ["decision": "invite", "days": "7"],
        .branding: ["decision": "save"], .clientSecrets: ["decision": "add"], .user: ["decision": "disable"],
        .rotateKey: ["beginning": "now"], .registrationTokens: ["decision": "add", "name": "Build", "days": "30"],
    ]

    // The age of the sign-in counts when the form arrives.
    @Test func `no form that changes rights is accepted an hour after the sign-in`() async throws {
        var user = try await Developer("mia", of: test, role: .owner)
        let own: [(Endpoint, String)] = [
            (.newClient, "/apps/new?type=web"), (.passkeys, "/account/passkeys"),
            (.secondFactor, "/account/second-factor"), (.email, "/account/email"),
        ]
        let pages = own + rules.map { ($0.endpoint, $0.path) }
        let recent = ServerPages.console.endpoints.filter { $0.needsRecentSignIn && $0.methods.contains(.post) }
        #expect(Set(recent).isSubset(of: pages.map { $0.0 }))
        var forms: [(endpoint: Endpoint, action: String, fields: FormParameters)] = []
        for (endpoint, path) in pages where recent.contains(endpoint) {
            let html = try await user.browser.open(path).html()
            let found = html.matches(of: /<form[^>]* method="post" action="([^"]*)"[^>]*>((.|\n)*?)<\/form>/)
                .first { !$0.output.1.hasSuffix("/sign-out") }
            let form = try #require(found, "\(path)")
            var fields = FormParameters()
            for input in form.output.2.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
                fields.append(String(input.output.1), String(input.output.2))
            }
            #expect(fields.pairs.contains { $0.name == "ticket" }, "\(path)")
            for (name, value) in Self.fields[endpoint] ?? [:] { fields.append(name, value) }
            forms.append((endpoint, String(form.output.1).replacing("&amp;", with: "&"), fields))
        }
        let before = try await state()
        test.clock.advance(by: Double(test.server.settings.recentSignInAge))
        for form in forms {
            let upload = ScriptedUserAgent.Upload(form.fields, fileField: "logo", file: [])
            let isUpload = [.branding, .clientLogo].contains(form.endpoint)
            let reply = try await user.browser.send(
                .post, to: form.action, form: isUpload ? nil : form.fields, upload: isUpload ? upload : nil)
            let asks =
                reply.location?.contains("/sign-in?") == true
                || (try? reply.html().contains("You signed in too long ago")) == true
            #expect(asks, "\(form.endpoint): \(reply.status)")
        }
        for (record, former) in zip(try await state(), before) { #expect(record == former) }
    }

    /// The records that the forms change.
    private func state() async throws -> [AnyHashable] {
        let store = test.store
        return [
            try await store.clients(), try await store.scopes(), try await store.resources(),
            try await store.branding(), try await store.unregisteredClientPolicy(),
            try await store.user(test.alice.id), try await store.userCount(matching: UserQuery()),
        ]
    }

    // The role is read with each request.
    @Test(arguments: [(nil, .notFound), (.auditor, .forbidden)] as [(UserRole?, HTTPResponse.Status)])
    func `a role that was withdrawn a second ago has no effect any more`(
        later: UserRole?, status: HTTPResponse.Status
    ) async throws {
        var user = try await Developer("mia", of: test, role: .administrator)
        let page = try await user.browser.open("/admin/users/\(test.alice.id)").userAccountPage
        let name = try #require(Username("mia"))
        let mia = try #require(try await test.store.user(named: name))
        let outcome = try await test.store.setRole(
            later, of: mia.id, from: .administrator, at: test.clock.now, recording: [])
        #expect(outcome == .changed)
        let form = FormParameters(["ticket": page.ticket, "decision": "disable"])
        #expect(try await user.browser.send(.post, to: page.action, form: form).status == status)
        #expect(try await test.store.user(test.alice.id)?.disabledAt == nil)
    }
}
