import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import CounterfoilTokens
import HTTPTypes
import Testing

/// What an administrator has said of an application holds for what the administrator saw.
struct ApplicationTrustTests {
    private static let redirectURI = "http://127.0.0.1/callback"

    /// An application that an administrator has marked as the owner's own.
    private static func firstParty(_ developer: inout Developer) async throws -> RegisteredClient {
        let client = try await developer.registered(
            Developer.form(redirectURIs: redirectURI, scopes: ["openid", "photos.read"]))
        var policy = client.policy
        policy.isFirstParty = true
        policy.isVouchedFor = true
        try await developer.test.setPolicy(policy, of: client.id)
        return client
    }

    private static func change(
        _ client: RegisteredClient, by developer: inout Developer, _ form: FormParameters
    ) async throws -> ClientPolicy {
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").applicationFormPage
        let sent = form.adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        _ = try await developer.browser.submit(sent, to: edit.action).applicationPage
        return try #require(try await developer.test.store.client(client.id)).policy
    }

    // SEC-12
    // Nobody signs in without being asked to an address, or for a permission, that nobody has looked at.
    @Test(arguments: [
        Developer.form("Google", redirectURIs: redirectURI),
        Developer.form(redirectURIs: redirectURI + "\nhttps://evil.example/callback"),
        Developer.form(redirectURIs: redirectURI, scopes: ["openid", "photos.read", "photos.delete"]),
        Developer.form(redirectURIs: redirectURI).adding("optional_scope", "photos.read"),
    ])
    func `a developer who changes an application of the owner's own has people asked again`(
        form: FormParameters
    ) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await Self.firstParty(&developer)
        let attempt = Attempt(test, by: client)
        _ = try await developer.browser.open(attempt.url).continuePage

        let policy = try await Self.change(client, by: &developer, form)
        #expect(!policy.isFirstParty && !policy.isVouchedFor)
        _ = try await developer.browser.open(attempt.url).consentPage
    }

    // OpenID Connect Core §8.1 and §12.2: who moves an application to another host learns no names that are known
    // there, and nobody's name changes without an administrator.
    @Test(arguments: [
        "https://photos.example.org/cb", "https://mine.example/cb\nhttps://staging.mine.example/cb",
        "https://mine.example/cb\ncom.example.mine:/cb",
    ])
    func `a developer does not change the host that pairwise names belong to`(moved: String) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "https://mine.example/cb"))
        var policy = client.policy
        policy.subjectType = .pairwise
        try await test.setPolicy(policy, of: client.id)
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").applicationFormPage
        func form(_ redirectURIs: String) -> FormParameters {
            Developer.form(redirectURIs: redirectURIs).adding("ticket", edit.ticket)
                .adding("revision", String(edit.revision))
        }
        let refused = try await developer.browser.submit(form(moved), to: edit.action)
        #expect(refused.status == .badRequest)
        #expect(try refused.applicationFormPage.problems.compactMap(\.field) == ["redirect_uris"])
        #expect(try await test.store.client(client.id)?.redirectURIs == client.redirectURIs)
        let within = "https://mine.example/cb\nhttps://mine.example/other"
        _ = try await developer.browser.submit(form(within), to: edit.action).applicationPage
        #expect(try await test.store.client(client.id)?.redirectURIs.count == 2)
    }

    // What was looked at has not changed.
    @Test func `a developer who saves the same again changes nothing of it`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let client = try await Self.firstParty(&developer)
        let policy = try await Self.change(client, by: &developer, Developer.form(redirectURIs: Self.redirectURI))
        #expect(policy.isFirstParty && policy.isVouchedFor)
    }

    /// A change of something that no page shows, and that sign-out, scripts and keys depend on.
    private static let unseen: [(type: String, redirectURI: String, field: String, values: [String])] = [
        ("native", redirectURI, "post_logout_redirect_uris", ["http://127.0.0.1/bye", "http://127.0.0.1/elsewhere"]),
        (
            "web", "https://app.example.com/cb", "backchannel_logout_uri",
            ["https://app.example.com/told", "https://evil.example/told"]
        ),
        ("spa", "https://app.example.com/cb", "origins", ["https://app.example.com", "https://evil.example"]),
        ("native", redirectURI, "android_apps", ["com.example.app:\(fingerprint)", "com.evil.app:\(fingerprint)"]),
        ("native", redirectURI, "apple_apps", ["ABCDE12345.com.example.app", "ABCDE12345.com.evil.app"]),
    ]
    private static let fingerprint = Array(repeating: "0A", count: 32).joined(separator: ":")

    // SEC-12
    // Trust depends on everything that is registered, also where no page shows it.
    @Test(arguments: unseen.indices)
    func `a developer who changes what nobody sees loses the trust of the administrator`(index: Int) async throws {
        let change = Self.unseen[index]
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        func form(_ value: String) -> FormParameters {
            Developer.form(type: change.type, redirectURIs: change.redirectURI).adding(change.field, value)
        }
        let client = try await developer.registered(form(change.values[0]))
        try await test.change(client) {
            $0.policy.isFirstParty = true
            $0.policy.isVouchedFor = true
        }
        let same = try await Self.change(client, by: &developer, form(change.values[0]))
        #expect(same.isFirstParty && same.isVouchedFor)
        let policy = try await Self.change(client, by: &developer, form(change.values[1]))
        #expect(!policy.isFirstParty && !policy.isVouchedFor)
    }

    // A key proves who the client is.
    @Test func `a developer who changes the keys loses the trust of the administrator`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        func form() throws -> FormParameters {
            let keys = JSONWebKeySet(keys: [try SigningKey.generate(.es256).publicKey])
            return Developer.form(type: "web", redirectURIs: "https://app.example.com/cb")
                .adding("jwks", String(decoding: keys.encoded(), as: UTF8.self))
        }
        let client = try await developer.registered(try form())
        try await test.change(client) { $0.policy.isVouchedFor = true }
        #expect(try await !Self.change(client, by: &developer, try form()).isVouchedFor)
    }

    // The order of a list says nothing.
    @Test func `a developer who writes redirect URIs in another order keeps the trust`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(
            Developer.form(redirectURIs: "\(Self.redirectURI)\ncom.example.app:/cb"))
        try await test.change(client) { $0.policy.isVouchedFor = true }
        let form = Developer.form(redirectURIs: "com.example.app:/cb\n\(Self.redirectURI)")
        #expect(try await Self.change(client, by: &developer, form).isVouchedFor)
    }

    // SEC-12
    // A picture says who it is as much as a name does.
    @Test func `a developer who changes the picture has people asked again`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await Self.firstParty(&developer)
        let page = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
        let fields = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "decision": "replace",
        ])
        let picture = try Pictures.png(width: 64, height: 64)
        _ = try await developer.browser.submit(
            ScriptedUserAgent.Upload(fields, fileField: "logo", file: picture), to: page.action
        ).applicationPage
        let policy = try #require(try await test.store.client(client.id)).policy
        #expect(!policy.isFirstParty && !policy.isVouchedFor)
        _ = try await developer.browser.open(Attempt(test, by: client).url).consentPage
    }

    // An administrator has looked at what the administrator writes.
    @Test func `an administrator who changes an application keeps what was decided`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await Self.firstParty(&developer)
        var administrator = try await Developer("ada", of: test, isAdministrator: true)
        let policy = try await Self.change(
            client, by: &administrator, Developer.form("Lightbox Three", redirectURIs: Self.redirectURI))
        #expect(policy.isFirstParty && policy.isVouchedFor)
    }

    // SEC-10
    // Each page says in which part of the console the application stands for who looks.
    @Test(arguments: ["", "/edit", "/connect", "/logo", "/delete"])
    func `an application of somebody else stands in the administration`(page: String) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        var administrator = try await Developer("ada", of: test, isAdministrator: true)
        func part(_ reply: Reply) throws -> ConsoleHead.Part? {
            (reply.page as? any ConsolePage)?.console.part
        }
        #expect(try await part(administrator.browser.open("/apps/\(client.id)\(page)")) == .administration)
        #expect(try await part(developer.browser.open("/apps/\(client.id)\(page)")) == .applications)
    }
}
