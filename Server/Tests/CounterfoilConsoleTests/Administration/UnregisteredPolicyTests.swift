import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// `/admin/unregistered/policy`, the policy for clients that no person registered.
struct UnregisteredPolicyTests {
    private static let path = "/admin/unregistered/policy"

    @Test func `an administrator sets every part of the policy, and the audit log names what changed`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open(Self.path).unregisteredPolicyPage
        #expect(page.kinds?.choices.filter(\.isChosen).map(\.value) == ["none"])
        let form = page.form(
            [
                "allowed_hosts": "Example.com\r\n*.example.org\r\n\r\n", "refused_hosts": "bad.example.org",
                "approvers": "administrators", "require_initial_access_token": "on", "scope_limit": "chosen",
                "maximum_scope": "openid", "resource_limit": "chosen", "resources": "https://photos.example.com",
                "refresh_tokens": "never", "access_token_lifetime": "600", "refresh_idle_lifetime": "3600",
                "refresh_lifetime": "7200",
            ]
        ).adding("maximum_scope", "photos.read").adding("default_scope", "photos.read")
        let saved = try await administrator.browser.submit(form, to: page.action).unregisteredClientsPage
        #expect(saved.notice != nil)
        #expect(saved.accepted.contains("document") && saved.accepted.contains("register themselves"))
        let policy = try await test.store.unregisteredClientPolicy()
        #expect(policy.kinds == [.document, .registration])
        #expect(policy.allowedHosts.map(\.rawValue) == ["example.com", "*.example.org"])
        #expect(policy.refusedHosts.map(\.rawValue) == ["bad.example.org"])
        #expect(policy.maximumScope == (try Scope(parsing: "openid photos.read")))
        #expect(policy.defaultScope == (try Scope(parsing: "photos.read")))
        #expect(policy.resources == [try Resource("https://photos.example.com")])
        #expect(policy.approvers == .administrators && policy.requiresInitialAccessToken)
        #expect(policy.refreshTokens == .never && policy.accessTokenLifetime == 600)
        #expect(policy.refreshIdleLifetime == 3600 && policy.refreshLifetime == 7200)
        let event = try #require(try await test.store.audit(AuditQuery(kind: .setting)).first?.event)
        let detail = try #require(event.detail)
        #expect(detail.hasPrefix("unregistered apps: kinds both, allowed_hosts example.com *.example.org"))
        #expect(event.userID != nil)

        let again = try await administrator.browser.open(Self.path).unregisteredPolicyPage
        #expect(again.allowedHosts.value == "example.com\n*.example.org")
        #expect(again.maximumScope.choices.filter(\.isChosen).map(\.value) == ["openid", "photos.read"])
        #expect(again.resources?.choices.filter(\.isChosen).map(\.value) == ["https://photos.example.com"])
        #expect(again.requiresInitialAccessToken.isOn)
        let opened = again.form(["kinds": "none"])
        _ = try await administrator.browser.submit(opened, to: again.action).unregisteredClientsPage
        let everything = try await test.store.unregisteredClientPolicy()
        #expect(everything.maximumScope == nil && everything.resources == nil && everything.allowedHosts == [])
    }

    @Test func `an invalid policy is marked at each field, with the typed values`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open(Self.path).unregisteredPolicyPage
        let form = page.form(
            [
                "kinds": "all", "allowed_hosts": "https://example.com", "refused_hosts": "10.0.0.1", "approvers": "bob",
                "scope_limit": "chosen", "maximum_scope": "nothing", "default_scope": "photos.read",
                "resource_limit": "chosen", "resources": "https://nowhere.example", "refresh_tokens": "perhaps",
                "access_token_lifetime": "5", "refresh_idle_lifetime": "soon", "refresh_lifetime": "-1",
            ])
        let reply = try await administrator.browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        let again = try reply.unregisteredPolicyPage
        #expect(
            again.problems.compactMap(\.field) == [
                "kinds", "allowed_hosts", "refused_hosts", "maximum_scope", "default_scope", "resources",
                "refresh_tokens", "access_token_lifetime", "refresh_idle_lifetime", "refresh_lifetime", "approvers",
            ])
        #expect(again.allowedHosts.value == "https://example.com")
        #expect(again.allowedHosts.problem?.contains("*.example.com") == true)
        #expect(again.defaultScope.problem?.contains("photos.read") == true)
        #expect(try reply.html().contains("aria-invalid"))
        #expect(try await test.store.unregisteredClientPolicy() == UnregisteredClientPolicy())
    }

    // Two administrators at once: the second one sees that the first one was faster.
    @Test func `a policy that another administrator changed meanwhile is not overwritten`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open(Self.path).unregisteredPolicyPage
        try await test.acceptUnregisteredClients { $0.kinds = [.document] }
        let reply = try await administrator.browser.submit(page.form(["kinds": "none"]), to: page.action)
        #expect(reply.status == .conflict)
        let again = try reply.unregisteredPolicyPage
        #expect(again.problems.contains { $0.text.contains("Someone else") })
        #expect(try await test.store.unregisteredClientPolicy().kinds == [.document])
        _ = try await administrator.browser.submit(again.form(["kinds": "none"]), to: again.action)
            .unregisteredClientsPage
        #expect(try await test.store.unregisteredClientPolicy().kinds == [])
    }

    // The option of the command line applies to this process; the stored policy stays as it is.
    @Test func `kinds that the command line determines are shown and cannot be changed`() async throws {
        let test = try await TestServer { $0.unregisteredClients = [.registration] }
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let list = try await administrator.browser.open("/admin/unregistered").unregisteredClientsPage
        #expect(list.isFixed && list.accepted == "The service accepts apps that register themselves.")
        let reply = try await administrator.browser.open(Self.path)
        let page = try reply.unregisteredPolicyPage
        #expect(page.kinds == nil && page.fixedKinds != nil)
        #expect(try reply.html().contains("--unregistered-clients"))
        let saved = try await administrator.browser.submit(
            page.form(["kinds": "both", "approvers": "administrators"]), to: page.action)
        _ = try saved.unregisteredClientsPage
        let policy = try await test.store.unregisteredClientPolicy()
        #expect(policy.kinds == [] && policy.approvers == .administrators)
    }

    @Test(arguments: [Set<UnregisteredClientKind>?.none, [], [.document], [.registration]])
    func `the option decides whether a client that registered itself is accepted`(
        kinds: Set<UnregisteredClientKind>?
    ) async throws {
        let test = try await TestServer { $0.unregisteredClients = kinds }
        try await test.acceptUnregisteredClients()
        let client = try await test.selfRegisteredClient()
        let reply = try await Attempt(test, by: client).firstReply()
        if kinds?.contains(.registration) ?? true {
            _ = try reply.signInPage
        } else {
            #expect(reply.status == .badRequest)
        }
    }

    @Test func `other users find neither the policy nor the list`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await test.selfRegisteredClient()
        for path in [
            "/admin/unregistered", Self.path, "/admin/unregistered/clients", "/admin/unregistered/clients/\(client.id)",
        ] {
            #expect(try await owner.browser.open(path).status == .notFound, "\(path)")
            var stranger = test.browser()
            _ = try await stranger.open(path).signInPage
        }
        #expect(try await owner.browser.open("/apps/\(client.id)").status == .notFound)
    }

    // The policy decides who can sign users in, so a session cookie is not enough.
    @Test func `a form without a ticket of its page changes nothing`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open(Self.path).unregisteredPolicyPage
        for ticket in ["", "forged", page.console.signOutTicket] {
            let form = page.form().setting("ticket", to: ticket)
            #expect(try await administrator.browser.submit(form, to: page.action).status == .forbidden)
        }
        test.clock.advance(by: 3700)
        _ = try await administrator.browser.open(Self.path).signInPage
        #expect(try await test.store.unregisteredClientPolicy().kinds == [])
    }
}
