import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Registering clients at My Apps, and deleting them.
struct ClientRegistrationFormTests {
    // The types are offered, and the list shows the client identifier of the new client.
    @Test func `a developer registers a native app and finds its client identifier`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        #expect(try await developer.browser.open("/apps").clientsPage.clients.isEmpty)
        guard let types = try await developer.browser.open("/apps/new").page as? ClientTypesPage else {
            Issue.record("no choice of types")
            return
        }
        #expect(types.choices.map(\.name).contains("Native / mobile"))

        let client = try await developer.registered()
        let list = try await developer.browser.open("/apps").clientsPage.clients
        #expect(list.map(\.clientID) == [client.id.rawValue])
        #expect(list.map(\.typeName) == ["Native / mobile"])
        #expect(client.owner == (try await developer.test.addUser("dora")).id)
        #expect(client.policy == ClientPolicy.standard(for: .native))
    }

    // No secret is displayed or stored, and no URL creates one.
    @Test(arguments: ["native", "spa", "device"])
    func `a public client gets no secret`(type: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let redirectURIs = ["native": "com.example.lightbox:/callback", "spa": "https://app.example.com/callback"]
        let client = try await developer.registered(
            Developer.form(type: type, redirectURIs: redirectURIs[type] ?? ""))
        #expect(try await developer.test.store.clientSecrets(of: client.id).isEmpty)
        let page = try await developer.browser.open("/apps/\(client.id)").clientPage
        #expect(page.paths.secrets == nil)
        let secrets = try await developer.browser.send(.get, to: "/apps/\(client.id)/secrets")
        #expect(secrets.status == .notFound)
    }

    // Shown once, stored as a digest; two secrets can overlap.
    @Test func `a web client's secret is shown once`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let reply = try await developer.register(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let shown = try reply.secretsPage
        let secret = try #require(shown.newSecret)
        #expect(reply.fields[.cacheControl] == "no-store")
        let again = try await developer.browser.open(shown.action).secretsPage
        #expect(again.newSecret == nil)
        #expect(again.secrets.count == 1)
        #expect(shown.secrets.map(\.isNew) == [true] && again.secrets.map(\.isNew) == [false])
        // Date and time: two secrets of one day can be distinguished.
        #expect(again.secrets.first?.made.hasSuffix("UTC") == true)
        #expect(!String(describing: again).contains(secret))

        let add = FormParameters(["ticket": again.ticket, "decision": "add"])
        let second = try await developer.browser.submit(add, to: again.action).secretsPage
        #expect(second.newSecret != nil && second.newSecret != secret)
        #expect(!second.canAdd)
        #expect(second.secrets.filter(\.isNew).count == 1)
        let third = try await developer.browser.submit(add, to: again.action).secretsPage
        #expect(third.newSecret == nil)

        let oldest = try #require(third.secrets.first)
        let remove = FormParameters(["ticket": third.ticket, "decision": "remove", "secret": oldest.identifier])
        for _ in 0..<2 {
            let left = try await developer.browser.submit(remove, to: third.action).secretsPage.secrets
            #expect(left.map(\.identifier) == third.secrets.dropFirst().map(\.identifier))
        }
    }

    // The digest stays in the store.
    @Test func `the page of the secrets shows no part of a digest`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let digest = try #require(try await test.store.clientSecrets(of: client.id).first).digest.bytes
        let reply = try await developer.browser.open("/apps/\(client.id)/secrets")
        let identifier = try #require(try reply.secretsPage.secrets.first).identifier
        let page = try reply.html()
        #expect(page.contains(identifier))
        let hexadecimal = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for part in [hexadecimal.prefix(12), Base64URL.encode(digest).prefix(12)] { #expect(!page.contains(part)) }
    }

    // All mistakes are reported at once, at their fields, and the input is kept.
    @Test func `a form with mistakes is shown again with its input`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        var form = Developer.form(
            "", redirectURIs: "javascript:alert(1)\r\nhttp://127.0.0.1/callback\r\nmyapp:/callback")
        form.append("policy_uri", "javascript:alert(1)")
        form.append("tos_uri", "http://example.com/terms")
        form.append("apple_apps", "com.example.app")
        form.append("android_apps", "com.example.app:12")
        form.append("consent_text", String(repeating: "a", count: 5000))
        let reply = try await developer.register(form)
        #expect(reply.status == .badRequest)
        let page = try reply.clientFormPage
        #expect(
            Set(page.problems.compactMap(\.field)) == [
                "name", "redirect_uris", "policy_uri", "tos_uri", "apple_apps", "android_apps", "consent_text",
            ])
        #expect(page.privacyURI.value == "javascript:alert(1)")
        #expect(page.privacyURI.problem != nil)
        #expect(page.consentText.value.count == 5000)
        let addresses = try #require(page.addresses)
        #expect(addresses.redirectURIs.value == "javascript:alert(1)\nhttp://127.0.0.1/callback\nmyapp:/callback")
        #expect(addresses.redirectURIs.verdicts.map(\.state) == [.refused, .accepted, .refused])
        #expect(page.scopes.filter(\.isAssigned).map(\.name) == ["openid", "photos.read"])
        #expect(try await developer.browser.open("/apps").clientsPage.clients.isEmpty)
    }

    @Test(arguments: ["native", "spa", "web", "device", "service"])
    func `the form of a new app has openid, profile and email ticked`(type: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let page = try await developer.browser.open("/apps/new?type=\(type)").clientFormPage
        let ticked = Set(page.scopes.filter(\.isAssigned).map(\.name))
        #expect(ticked == (type == "service" ? [] : ["openid", "profile", "email"]))
    }

    // A client without scopes could not make a single request; the page says that it got some.
    @Test func `an app without scopes gets openid, profile and email, and the page says so`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let said = "No permission was selected, so it may request openid, profile and email."
        let native = try await developer.register(Developer.form(scopes: [])).clientPage
        #expect(native.notice?.contains(said) == true)
        let web = try await developer.register(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback", scopes: [])
        ).secretsPage
        #expect(web.notice?.contains(said) == true)
        let service = try await developer.register(
            Developer.form(type: "service", redirectURIs: "", scopes: [])
        ).secretsPage
        #expect(service.notice == nil)
        for (id, scope) in [
            (native.client.clientID, "openid profile email"), (web.client.clientID, "openid profile email"),
            (service.client.clientID, ""),
        ] {
            let client = try await developer.test.store.client(try #require(ClientIdentifier(id)))
            #expect(client?.scope.description == scope)
        }

        // A refused form keeps the boxes as the developer left them.
        let again = try await developer.register(Developer.form("", scopes: [])).clientFormPage
        #expect(again.scopes.allSatisfy { !$0.isAssigned })
    }

    // The next step after a registration is to connect the app.
    @Test func `the page after a registration leads to How to connect`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let native = try await developer.register(Developer.form())
        let id = try native.clientPage.client.clientID
        let link = "<a class=\"button primary\" href=\"/apps/\(id)/connect\">How to connect</a>"
        #expect(try native.html().contains(link))
        #expect(try await !developer.browser.open("/apps/\(id)").html().contains(link))
        let web = try await developer.register(
            Developer.form(type: "web", redirectURIs: "https://app.example.com/callback"))
        let other = try web.secretsPage.client.clientID
        #expect(try web.html().contains(link.replacing(id, with: other)))
    }

    // A new registration needs a name, redirect URIs and permissions.
    @Test(arguments: [
        ("publisher", "Frames & Sons"), ("consent_text", "Frames hangs your photos."), ("pkce", "s256-or-nonce"),
        ("tos_uri", "http://example.com/terms"),
    ])
    func `the form folds what a registration does not need, unless it has a value`(field: String, value: String)
        async throws
    {
        var developer = try await Developer("dora", of: try await TestServer())
        let empty = try await developer.browser.open("/apps/new?type=native")
        #expect(try !empty.clientFormPage.opensMore)
        #expect(try empty.html().contains("<details class=\"part\"><summary>More settings</summary>"))
        let again = Developer.form().adding("action", "check").adding("pkce", "s256")
            .adding("id_token_signed_response_alg", "ES256").adding("user_claims_in_id_token", "true")
        #expect(try await !developer.register(again).clientFormPage.opensMore)
        let changed = try await developer.register(again.setting(field, to: value))
        #expect(try changed.clientFormPage.opensMore)
        #expect(try changed.html().contains("<details class=\"part\" open>"))
    }

    // OpenID Connect Core §11
    @Test func `the form says what an app is without offline_access`() async throws {
        let test = try await TestServer { $0.accessTokenLifetime = 1800 }
        var developer = try await Developer("dora", of: test)
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        let hint = try #require(page.scopes.first { $0.name == "offline_access" }).hint
        #expect(hint?.contains("refresh token") == true && hint?.contains("30 minutes") == true)
        #expect(page.scopes.allSatisfy { $0.name == "offline_access" || $0.hint == nil })
        let service = try await developer.browser.open("/apps/new?type=service").clientFormPage
        #expect(service.scopes.allSatisfy { $0.hint == nil })
        var client = try await developer.registered()
        client.policy.refreshTokens = .always
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(edit.scopes.allSatisfy { $0.hint == nil })
    }

    // Submitting twice, or going back and submitting again.
    @Test func `a form that is submitted twice registers one client`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        let form = Developer.form().adding("ticket", page.ticket)
        let first = try await developer.browser.submit(form, to: page.action).clientPage
        let second = try await developer.browser.submit(form, to: page.action).clientPage
        #expect(first.client.clientID == second.client.clientID)
        #expect(try await developer.browser.open("/apps").clientsPage.clients.count == 1)
    }

    @Test func `checking the redirect URIs registers nothing`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let reply = try await developer.register(
            Developer.form(redirectURIs: "myapp:/cb").adding("action", "check"))
        #expect(reply.status == .ok)
        let page = try reply.clientFormPage
        #expect(page.problems.isEmpty)
        #expect(page.addresses?.redirectURIs.verdicts.map(\.state) == [.refused])
        #expect(try await developer.browser.open("/apps").clientsPage.clients.isEmpty)
    }

    @Test func `the verdicts while typing equal those of the form`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let form = FormParameters([
            "type": "native", "redirect_uris": "myapp:/cb\nhttp://localhost/cb\nhttp://127.0.0.1/cb",
        ])
        let reply = try await developer.browser.send(.post, to: "/apps/verdict", form: form)
        let verdicts = try JSONDecoder().decode([[String: JSONText]].self, from: Data(try reply.json))
        #expect(verdicts.map { $0["state"]?.text } == ["refused", "warned", "accepted"])
        var stranger = developer.test.browser()
        #expect(try await stranger.send(.post, to: "/apps/verdict", form: form).status == .seeOther)
    }

    /// A JSON text or a list of texts, whose values do not matter.
    private struct JSONText: Decodable {
        let text: String?
        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    @Test func `a developer has at most as many clients as the server allows`() async throws {
        var developer = try await Developer("dora", of: try await TestServer { $0.clientsPerDeveloper = 2 })
        for _ in 0..<2 { _ = try await developer.registered() }
        let reply = try await developer.register(Developer.form())
        #expect(reply.status == .badRequest)
        #expect(try reply.clientFormPage.problems.count == 1)
    }

    @Test(arguments: [RegistrationPolicy.administrators, .developers])
    func `if only administrators or developers register clients, other users read who may`(
        policy: RegistrationPolicy
    ) async throws {
        let test = try await TestServer { $0.registration = policy }
        var developer = try await Developer("dora", of: test)
        for path in ["/apps", "/apps/new", "/apps/new?type=native"] {
            let reply = try await developer.browser.open(path)
            #expect(reply.status == .forbidden)
            #expect(try reply.problemPage.title == "You cannot register apps here")
            #expect(try reply.problemPage.continueLink?.address == "/account")
        }
        #expect(try await developer.browser.submit(Developer.form(), to: "/apps/new").status == .forbidden)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        _ = try await administrator.registered()
        for role in [UserRole.support, .auditor, .developer] {
            var user = try await Developer("\(role)", of: test, role: role)
            let isOpen = policy == .developers && role == .developer
            #expect(try await user.browser.open("/apps/new").status == (isOpen ? .ok : .forbidden))
        }
    }

    // A client can request only the scopes that were assigned at registration.
    @Test func `assigned scopes are registered, and unknown ones are refused`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let refused = try await developer.register(Developer.form(scopes: ["photos.read", "photos.everything"]))
        #expect(try refused.clientFormPage.scopeProblem != nil)
        let client = try await developer.registered(
            Developer.form(redirectURIs: "http://127.0.0.1/callback", scopes: ["photos.read"]))
        let attempt = Attempt(test, by: client, for: "photos.read photos.write")
        #expect(try await attempt.error().code == .invalidScope)
        let reply = try await Attempt(test, by: client, for: "photos.read").authorize()
        #expect(try await test.redeem(Attempt(test, by: client).exchange(reply.code)).status == .badRequest)
    }

    // A selected option without effect is reported, not dropped.
    @Test func `an optional permission must also be a requested one`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let reply = try await developer.register(Developer.form().adding("optional_scope", "photos.write"))
        #expect(reply.status == .badRequest)
        let page = try reply.clientFormPage
        #expect(page.scopeProblem?.contains("photos.write") == true)
        #expect(page.problems.map(\.field) == ["scope"])
        #expect(page.scopes.filter(\.isOptional).map(\.name) == ["photos.write"])
        #expect(page.scopes.first?.name == "openid")
    }

    // One letter can carry any number of combining marks.
    @Test(arguments: ["name", "publisher"])
    func `a name of one letter with thousands of marks is refused`(field: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let marked = "a" + String(repeating: "\u{301}", count: 20_000)
        let reply = try await developer.register(Developer.form().setting(field, to: marked))
        #expect(reply.status == .badRequest)
        #expect(try reply.clientFormPage.problems.map(\.field) == [field])
        #expect(try await developer.browser.open("/apps").clientsPage.clients.isEmpty)
    }

    // The form contains the client identifier; a deleted client stays deleted.
    @Test func `submitting a form again does not restore a deleted client`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        let form = Developer.form().adding("ticket", page.ticket)
        let registered = try await developer.browser.submit(form, to: page.action).clientPage.client
        let id = try #require(ClientIdentifier(registered.clientID))
        // Submitted twice, it registers one client.
        #expect(
            try await developer.browser.submit(form, to: page.action).clientPage.client.clientID
                == registered.clientID)
        #expect(try await test.store.removeClient(id))
        // The browser arrives at the list.
        #expect(try await developer.browser.submit(form, to: page.action).clientsPage.clients.isEmpty)
        #expect(try await test.store.client(id) == nil)
    }

    // Every URL of a client has exactly one meaning.
    @Test(arguments: ["redirect_uris", "post_logout_redirect_uris", "backchannel_logout_uri"])
    func `a URL with dot segments is refused at its field`(field: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let form = Developer.form(type: "web", redirectURIs: "https://app.example.com/cb")
            .setting(field, to: "https://app.example.com/a/%2e%2e/cb")
        let reply = try await developer.register(form)
        #expect(reply.status == .badRequest)
        #expect(try reply.clientFormPage.problems.compactMap(\.field) == [field])
    }

    @Test func `deleting a client revokes its grants`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let attempt = Attempt(test, by: client)
        let code = try await attempt.authorize().code
        guard
            let page = try await developer.browser.open("/apps/\(client.id)/delete").page as? DeleteClientPage
        else {
            Issue.record("no question")
            return
        }
        _ = try await developer.browser.submit(FormParameters(["ticket": page.ticket]), to: page.action)
            .clientsPage
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_client")
        #expect(try await test.store.consents(of: test.alice.id).isEmpty)
        #expect(try await developer.browser.send(.get, to: "/apps/\(client.id)").status == .notFound)
    }
}
