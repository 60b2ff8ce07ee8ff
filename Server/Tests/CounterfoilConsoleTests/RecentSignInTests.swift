import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The pages that change a registration, a policy or the branding require a recent sign-in, not only a session.
struct RecentSignInTests {
    static let sensitive = ["/edit", "/policy", "/secrets", "/delete", "/logo"]

    /// An administrator with a web client, an hour after the sign-in.
    private static func anHourLater() async throws -> (Developer, ClientIdentifier) {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        return (developer, client.id)
    }

    // OpenID Connect Core §3.1.2.1 defines max_age for clients in the same way.
    @Test(arguments: sensitive)
    func `a page that changes a registration requires a recent sign-in and returns`(page: String) async throws {
        var (developer, client) = try await Self.anHourLater()
        #expect(developer.test.server.settings.recentSignInAge == 3600)
        let path = "/apps/\(client)\(page)"
        let asked = try await developer.browser.send(.get, to: path)
        #expect(asked.status == .seeOther)
        let signIn = try await developer.browser.open(try #require(asked.location)).signInPage
        #expect(signIn.notice == Localizer.english(SignInMessage.signInAgain))
        let form = signIn.form(username: "dora", password: TestServer.password)
        let back = try await developer.browser.send(.post, to: signIn.action, form: form)
        #expect(back.location == path)
        #expect(try await developer.browser.send(.get, to: path).status == .ok)
    }

    @Test func `branding, policy and registration require a recent sign-in, read-only pages do not`() async throws {
        var (developer, client) = try await Self.anHourLater()
        for path in ["/admin/branding", "/admin/unregistered/policy", "/apps/new", "/apps/new?type=service"] {
            #expect(try await developer.browser.send(.get, to: path).status == .seeOther, "\(path)")
        }
        for path in ["/admin", "/apps", "/apps/\(client)", "/apps/\(client)/connect", "/account"] {
            #expect(try await developer.browser.send(.get, to: path).status == .ok, "\(path)")
        }
    }

    /// A form with typed values that was opened in time.
    enum TypedForm: String, CaseIterable, Sendable {
        case registration, change, policy, unregisteredPolicy, branding
    }

    /// What the forms change.
    private struct State: Equatable {
        let clients: [RegisteredClient]
        let branding: Branding
        let policy: UnregisteredClientPolicy
    }

    /// The page of a form that is shown again, with a value that was typed.
    private struct Shown {
        let typed: String?
        let ticket: String
        let console: ConsoleHead
        let problems: [FormProblem]
    }

    /// Opens a form, and returns its ticket and a function that submits it with a ticket and a password.
    private static func open(
        _ form: TypedForm, _ developer: inout Developer, _ client: ClientIdentifier
    ) async throws -> (ticket: String, submit: (inout Developer, String, String) async throws -> Reply) {
        func submitting(
            _ fields: FormParameters, to action: String
        ) -> (inout Developer, String, String) async throws -> Reply {
            { developer, ticket, password in
                let sent = fields.setting("ticket", to: ticket).setting("current_password", to: password)
                if form == .branding {
                    return try await developer.browser.send(
                        .post, to: action, upload: ScriptedUserAgent.Upload(sent, fileField: "logo", file: []))
                }
                return try await developer.browser.send(.post, to: action, form: sent)
            }
        }
        switch form {
        case .registration:
            let page = try await developer.browser.open("/apps/new?type=service").clientFormPage
            let fields = Developer.form("Typed", type: "service", redirectURIs: "", scopes: ["photos.read"])
            return (page.ticket, submitting(fields, to: page.action))
        case .change:
            let page = try await developer.browser.open("/apps/\(client)/edit").clientFormPage
            let fields = Developer.form("Typed", redirectURIs: "https://app.example.com/callback")
            return (page.ticket, submitting(fields.adding("revision", String(page.revision)), to: page.action))
        case .policy:
            let page = try await developer.browser.open("/apps/\(client)/policy").policyPage
            let fields = page.form(["refresh_tokens": "never", "access_token_lifetime": "1234"])
            return (page.ticket, submitting(fields, to: page.action))
        case .unregisteredPolicy:
            let page = try await developer.browser.open("/admin/unregistered/policy").unregisteredPolicyPage
            let fields = page.form(["access_token_lifetime": "1234"])
            return (page.ticket, submitting(fields, to: page.action))
        case .branding:
            let page = try await developer.browser.open("/admin/branding").brandingPage
            let fields = FormParameters([
                "revision": String(page.revision), "decision": "save", "site_name": "Typed",
            ])
            return (page.ticket, submitting(fields, to: page.action))
        }
    }

    // The password alone is half of a sign-in.
    @Test func `a late form of a user with a second factor leads to a new sign-in`() async throws {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        try await developer.test.setUpSecondFactor(in: &developer.browser)
        let (ticket, submit) = try await Self.open(.change, &developer, client.id)
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        let reply = try await submit(&developer, ticket, TestServer.password)
        #expect(reply.status == .seeOther && reply.location?.contains("/sign-in?") == true)
        #expect(try await developer.test.store.client(client.id) == client)
    }

    @Test func `a late form of a user without a password leads to a new sign-in`() async throws {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let (ticket, submit) = try await Self.open(.change, &developer, client.id)
        let store = developer.test.store
        let named = try await store.user(named: try #require(Username("dora")))
        let user = try #require(named)
        let session = try #require(try await store.sessions(of: user.id).first)
        for number: UInt8 in 1...2 { _ = try await store.addPasskey(.example(number, of: user), recording: []) }
        #expect(
            try await store.changePassword(
                of: user.id, from: user.passwordHash, to: nil, keeping: session.digest, at: developer.test.clock.now)
                == .changed)
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        for password in ["", TestServer.password] {
            let reply = try await submit(&developer, ticket, password)
            #expect(reply.status == .seeOther && reply.location?.contains("/sign-in?") == true)
        }
        #expect(try await store.client(client.id) == client)
    }

    private static func shown(_ form: TypedForm, on reply: Reply) throws -> Shown {
        switch form {
        case .registration, .change:
            let page = try reply.clientFormPage
            return Shown(
                typed: page.name.value, ticket: page.ticket, console: page.console, problems: page.problems)
        case .policy:
            let page = try reply.policyPage
            return Shown(
                typed: page.accessTokenLifetime.value, ticket: page.ticket, console: page.console,
                problems: page.problems)
        case .unregisteredPolicy:
            let page = try reply.unregisteredPolicyPage
            return Shown(
                typed: page.accessTokenLifetime.value, ticket: page.ticket, console: page.console,
                problems: page.problems)
        case .branding:
            let page = try reply.brandingPage
            return Shown(
                typed: page.siteName.value, ticket: page.ticket, console: page.console, problems: page.problems)
        }
    }

    // The age of the sign-in counts when the form arrives, and what the user typed is kept.
    @Test(arguments: TypedForm.allCases)
    func `a form that is submitted an hour after the sign-in needs the password`(form: TypedForm) async throws {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let test = developer.test
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        func state() async throws -> State {
            State(
                clients: try await test.store.clients(), branding: try await test.store.branding(),
                policy: try await test.store.unregisteredClientPolicy())
        }
        let before = try await state()
        var (ticket, submit) = try await Self.open(form, &developer, client.id)
        test.clock.advance(by: Double(test.server.settings.recentSignInAge))
        for (password, problem) in [("", "You signed in too long ago"), ("wrong", "That's not your password")] {
            let reply = try await submit(&developer, ticket, password)
            #expect(reply.status == .badRequest)
            let shown = try Self.shown(form, on: reply)
            #expect(shown.typed == (form == .policy || form == .unregisteredPolicy ? "1234" : "Typed"))
            #expect(shown.console.confirmation?.name == "current_password")
            #expect(shown.problems.map(\.field) == [nil])
            #expect(shown.problems.first?.text.contains(problem) == true)
            #expect(try reply.html().contains("name=\"current_password\""))
            #expect(try await state() == before)
            ticket = shown.ticket
        }
        let saved = try await submit(&developer, ticket, TestServer.password)
        #expect(saved.status == (form == .registration ? .ok : .seeOther))
        #expect(try await state() != before)
    }

    // A thief with the cookie cannot try passwords without a limit.
    @Test func `wrong passwords of a form count as those of the sign-in page do`() async throws {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let (ticket, submit) = try await Self.open(.change, &developer, client.id)
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        var problems: Set<String> = []
        for _ in 0...developer.test.server.settings.signInLimits.failuresPerUser {
            let reply = try await submit(&developer, ticket, "wrong")
            problems.formUnion(try Self.shown(.change, on: reply).problems.map(\.text))
        }
        #expect(problems.contains { $0.contains("too many wrong passwords") })
        let right = try await submit(&developer, ticket, TestServer.password)
        #expect(right.status == .badRequest)
        #expect(try await developer.test.store.client(client.id) == client)
    }

    // A form with buttons only leads to the password, and back to its page.
    @Test(arguments: [("/secrets", "add"), ("/delete", "delete")])
    func `a button that is pressed an hour after the sign-in changes nothing`(
        page: String, decision: String
    ) async throws {
        var developer = try await Developer("dora", of: try await TestServer(), role: .administrator)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let path = "/apps/\(client.id)\(page)"
        let opened = try await developer.browser.open(path)
        let ticket = (opened.page as? SecretsPage)?.ticket ?? (opened.page as? DeleteClientPage)?.ticket
        let secrets = try await developer.test.store.clientSecrets(of: client.id)
        developer.test.clock.advance(by: Double(developer.test.server.settings.recentSignInAge))
        let form = FormParameters(["ticket": try #require(ticket), "decision": decision])
        let reply = try await developer.browser.send(.post, to: path, form: form)
        #expect(reply.status == .seeOther)
        let signIn = try await developer.browser.open(try #require(reply.location)).signInPage
        #expect(signIn.request == path)
        #expect(try await developer.test.store.clientSecrets(of: client.id) == secrets)
        #expect(try await developer.test.store.client(client.id) == client)
    }

    @Test func `a copied cookie changes nothing without the password`() async throws {
        var (developer, client) = try await Self.anHourLater()
        let before = try await developer.test.store.clientSecrets(of: client)
        let form = FormParameters(["decision": "add"])
        #expect(try await developer.browser.send(.post, to: "/apps/\(client)/secrets", form: form).status == .forbidden)
        #expect(try await developer.test.store.clientSecrets(of: client) == before)
    }
}
