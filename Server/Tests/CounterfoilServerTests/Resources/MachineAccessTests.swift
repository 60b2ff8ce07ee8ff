import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// A token without a user needs the decision of an administrator, for each client and each scope.
struct MachineAccessTests {
    private let test: TestServer
    private static let whoDecides = "an administrator approves scopes"

    init() async throws { test = try await TestServer() }

    private static func form(_ scopes: [String] = ["photos.read"], name: String = "Nightly") -> FormParameters {
        Developer.form(name, type: "service", redirectURIs: "", scopes: scopes)
    }

    /// Registers a service at the console; returns the client and its secret.
    private func service(
        of developer: inout Developer, scopes: [String] = ["photos.read"]
    ) async throws -> (client: RegisteredClient, fields: HTTPFields) {
        let page = try await developer.register(Self.form(scopes)).secretsPage
        let id = try #require(ClientIdentifier(page.client.clientID))
        let secret = try #require(page.newSecret.flatMap { ClientSecret($0) })
        return (try #require(try await test.store.client(id)), .basic(id, secret))
    }

    private func ask(_ fields: HTTPFields, scope: String? = nil) async -> Reply {
        var form = FormParameters(["grant_type": "client_credentials"])
        form.append("scope", ifPresent: scope)
        return await test.redeem(form, fields: fields)
    }

    /// Approves scopes on the policy page.
    private func approve(_ scopes: [String], of client: RegisteredClient, by administrator: inout Developer)
        async throws
    {
        let page = try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
        var form = FormParameters(["ticket": page.ticket, "revision": String(page.revision)])
        for scope in scopes { form.append("machine_scope", scope) }
        _ = try await administrator.browser.submit(form, to: page.action).clientPage
    }

    private func edit(
        _ client: RegisteredClient, by developer: inout Developer, _ form: FormParameters
    ) async throws -> RegisteredClient {
        let page = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        let sent = form.adding("ticket", page.ticket).adding("revision", String(page.revision))
        _ = try await developer.browser.submit(sent, to: page.action).clientPage
        return try #require(try await test.store.client(client.id))
    }

    private func details() async throws -> [String] {
        try await test.store.audit(AuditQuery(kind: .machineAccess)).compactMap(\.event.detail)
    }

    // A user without privileges registers a service, which gets no token.
    @Test(arguments: ["photos.read", nil])
    func `a service that its developer registered gets no token`(scope: String?) async throws {
        var developer = try await Developer("mallory", of: test)
        let service = try await service(of: &developer)
        let error = try await ask(service.fields, scope: scope).tokenError
        #expect(error.error == "unauthorized_client")
        #expect(error.errorDescription?.contains(Self.whoDecides) == true)
    }

    // The administrator decides about each scope, and the error names the missing one.
    @Test func `an administrator approves scopes one by one`() async throws {
        var developer = try await Developer("dora", of: test)
        let service = try await service(of: &developer, scopes: ["photos.read", "photos.write", "openid"])
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let choices = try await administrator.browser.open("/apps/\(service.client.id)/policy").policyPage.machineScope
        #expect(choices?.choices.map(\.value).sorted() == ["photos.read", "photos.write"])
        #expect(choices?.choices.contains(where: \.isChosen) == false)

        try await approve(["photos.read"], of: service.client, by: &administrator)
        #expect(try await ask(service.fields).tokenResponse.scope?.description == "photos.read")
        let refused = try await ask(service.fields, scope: "photos.read photos.write").tokenError
        #expect(refused.error == "invalid_scope")
        #expect(refused.errorDescription?.contains("photos.write; \(Self.whoDecides)") == true)

        try await approve([], of: service.client, by: &administrator)
        #expect(try await ask(service.fields).tokenError.error == "unauthorized_client")
        #expect(try await details() == ["withdrawn photos.read", "approved photos.read"])
    }

    @Test(arguments: ["openid", "photos.delete", "bad\"scope"])
    func `a scope that needs a user or is not registered is not approved`(scope: String) async throws {
        var developer = try await Developer("dora", of: test)
        let service = try await service(of: &developer, scopes: ["photos.read", "openid"])
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/apps/\(service.client.id)/policy").policyPage
        let form = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "machine_scope": scope,
        ])
        let reply = try await administrator.browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.policyPage.problems.compactMap(\.field) == ["machine_scope"])
    }

    // The form of the policy is for administrators.
    @Test func `a developer approves nothing`() async throws {
        var developer = try await Developer("dora", of: test)
        let page = try await developer.browser.open("/apps/new?type=service").clientFormPage
        let form = Self.form().adding("ticket", page.ticket).adding("machine_scope", "photos.read")
        let secrets = try await developer.browser.submit(form, to: page.action).secretsPage
        let id = try #require(ClientIdentifier(secrets.client.clientID))
        #expect(try await test.store.client(id)?.policy.machineScope == Scope())
        let policy = try await developer.browser.send(
            .post, to: "/apps/\(id)/policy", form: FormParameters(["machine_scope": "photos.read"]))
        #expect(policy.status == .notFound)
        #expect(try await test.store.client(id)?.policy.machineScope == Scope())
    }

    // An administrator who selects the scopes of a service has decided about them.
    @Test func `an administrator who registers a service approves its scopes`() async throws {
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let service = try await service(of: &administrator, scopes: ["photos.read", "openid"])
        #expect(try await ask(service.fields).tokenResponse.scope?.description == "photos.read")
        #expect(try await details() == ["approved photos.read"])
    }

    // An edit never approves a scope, not even by an administrator.
    @Test func `an edit by an administrator approves no further scope`() async throws {
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var service = try await service(of: &administrator)
        service.client = try await edit(
            service.client, by: &administrator, Self.form(["photos.read", "photos.write"]))
        #expect(try await ask(service.fields, scope: "photos.write").tokenError.error == "invalid_scope")
        #expect(try await ask(service.fields).tokenResponse.scope?.description == "photos.read")
        // A scope that was removed needs approval again when it is added again.
        service.client = try await edit(service.client, by: &administrator, Self.form(["photos.write"]))
        service.client = try await edit(
            service.client, by: &administrator, Self.form(["photos.read", "photos.write"]))
        #expect(try await ask(service.fields).tokenError.error == "unauthorized_client")
    }

    // A new scope of the same name is another scope.
    @Test func `a scope that was deleted is not approved when it is created again`() async throws {
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let service = try await service(of: &administrator, scopes: ["photos.read", "photos.write"])
        let token = try #require(Scope.Token("photos.read"))
        let removed = try await test.store.removeScope(token, takingFromUses: true, at: test.clock.now)
        guard case .removed = removed else {
            Issue.record("\(removed)")
            return
        }
        #expect(try await test.store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
        _ = try await edit(service.client, by: &administrator, Self.form(["photos.read", "photos.write"]))
        #expect(try await ask(service.fields).tokenResponse.scope?.description == "photos.write")
    }

    // An administrator's decision covers the registration of that time.
    @Test(arguments: [
        form(["photos.read", "photos.write"]), form([]), form(name: "Daily"), form().adding("publisher", "Somebody"),
    ])
    func `a change by the developer withdraws the approval`(change: FormParameters) async throws {
        var developer = try await Developer("dora", of: test)
        let service = try await service(of: &developer)
        let api = try await test.addAPI()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        try await approve(["photos.read"], of: service.client, by: &administrator)
        let request = FormParameters([
            "grant_type": "client_credentials", "resource": api.resource.resource.rawValue,
        ])
        let token = try await test.redeem(request, fields: service.fields).tokenResponse.accessToken
        #expect(try await api.sees(token.exposed))

        _ = try await edit(service.client, by: &developer, change)
        #expect(try await ask(service.fields).tokenError.error == "unauthorized_client")
        #expect(try await !api.sees(token.exposed), "introspection reports what is approved now")
        #expect(try await details() == ["withdrawn photos.read", "approved photos.read"])
    }

    @Test func `a developer who saves without changes keeps the approval`() async throws {
        var developer = try await Developer("dora", of: test)
        let service = try await service(of: &developer)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        try await approve(["photos.read"], of: service.client, by: &administrator)
        _ = try await edit(service.client, by: &developer, Self.form())
        #expect(await ask(service.fields).status == .ok)
    }

    // RFC 7662 §2.2: introspection does not reveal a scope that is no longer approved.
    @Test func `introspection omits a scope whose approval was withdrawn`() async throws {
        let service = try await test.addService(scope: "photos.read photos.write")
        let api = try await test.addAPI()
        let token = try await service.token(["resource": api.resource.resource.rawValue]).accessToken
        try await test.setPolicy(
            ClientPolicy(isVouchedFor: true, machineScope: try Scope(parsing: "photos.read")), of: service.client.id)
        let members = try await api.introspect(token.exposed).members
        #expect(members["active"] as? Bool == true)
        #expect(members["scope"] as? String == "photos.read")
    }

    // The developer sees which scopes lack approval, and the administrator finds them in the list.
    @Test func `the console shows which scopes need approval`() async throws {
        var developer = try await Developer("dora", of: test)
        let service = try await service(of: &developer, scopes: ["photos.read", "photos.write", "openid"])
        var administrator = try await Developer("ada", of: test, role: .administrator)
        try await approve(["photos.read"], of: service.client, by: &administrator)
        let page = try await developer.browser.open("/apps/\(service.client.id)").clientPage
        #expect(page.permissions.filter(\.isPending).map(\.name) == ["photos.write"])
        #expect(try #require(page.pendingMachineScope).contains("photos.write"))
        #expect(page.policy.map(\.value).contains("photos.read"))
        let list = try await administrator.browser.open("/admin/apps").administrationPage.clients
        #expect(list.first { $0.clientID == service.client.id.rawValue }?.hasPendingScopes == true)
        #expect(list.first { $0.clientID == "app_lightbox" }?.hasPendingScopes == false)
        let html = try await administrator.browser.open("/apps/\(service.client.id)/policy").html()
        #expect(html.contains(#"name="machine_scope" value="photos.read" checked"#))
        #expect(html.contains(#"name="machine_scope" value="photos.write">"#))

        try await approve(["photos.read", "photos.write"], of: service.client, by: &administrator)
        #expect(
            try await developer.browser.open("/apps/\(service.client.id)").clientPage.pendingMachineScope == nil)
    }
}
