import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import TestSupport
import Testing

/// A decision of an administrator about a client is valid for the registration that the administrator saw.
struct ClientTrustTests {
    private static let redirectURI = "http://127.0.0.1/callback"

    /// A client that an administrator has marked as first-party.
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
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        let sent = form.adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        _ = try await developer.browser.submit(sent, to: edit.action).clientPage
        return try #require(try await developer.test.store.client(client.id)).policy
    }

    // Users are not signed in silently to a redirect URI, or for a scope, that no administrator has seen.
    @Test(arguments: [
        Developer.form("Google", redirectURIs: redirectURI),
        Developer.form(redirectURIs: redirectURI + "\nhttps://evil.example/callback"),
        Developer.form(redirectURIs: redirectURI, scopes: ["openid", "photos.read", "photos.delete"]),
        Developer.form(redirectURIs: redirectURI).adding("optional_scope", "photos.read"),
    ])
    func `a developer who changes a first-party client makes users consent again`(
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

    // OpenID Connect Core §8.1 and §12.2: moving a client to another host reveals no subject identifiers
    // known there, and none changes without an administrator.
    @Test(arguments: [
        "https://photos.example.org/cb", "https://mine.example/cb\nhttps://staging.mine.example/cb",
        "https://mine.example/cb\ncom.example.mine:/cb",
    ])
    func `a developer cannot change the sector of pairwise subject identifiers`(moved: String) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "https://mine.example/cb"))
        var policy = client.policy
        policy.subjectType = .pairwise
        try await test.setPolicy(policy, of: client.id)
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        func form(_ redirectURIs: String) -> FormParameters {
            Developer.form(redirectURIs: redirectURIs).adding("ticket", edit.ticket)
                .adding("revision", String(edit.revision))
        }
        let refused = try await developer.browser.submit(form(moved), to: edit.action)
        #expect(refused.status == .badRequest)
        #expect(try refused.clientFormPage.problems.compactMap(\.field) == ["redirect_uris"])
        #expect(try await test.store.client(client.id)?.redirectURIs == client.redirectURIs)
        let within = "https://mine.example/cb\nhttps://mine.example/other"
        _ = try await developer.browser.submit(form(within), to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.redirectURIs.count == 2)
    }

    // Both directions: a development redirect URI for a first-party client, and first-party for a client with one.
    @Test(arguments: ["web", "spa"])
    func `no client is first-party and under development`(type: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let production = "https://app.example.com/cb"
        let development = production + "\nhttp://localhost:5173/cb"
        let client = try await administrator.registered(Developer.form(type: type, redirectURIs: development))
        func mark() async throws -> Reply {
            let page = try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
            let form = FormParameters([
                "ticket": page.ticket, "revision": String(page.revision), "first_party": "on", "pkce": "s256",
                "refresh_tokens": "offline-access", "web_views": "warn", "id_token_signed_response_alg": "ES256",
                "subject_type": "public",
            ])
            return try await administrator.browser.submit(form, to: page.action)
        }
        func edit(_ redirectURIs: String) async throws -> Reply {
            let page = try await administrator.browser.open("/apps/\(client.id)/edit").clientFormPage
            let form = Developer.form(type: type, redirectURIs: redirectURIs).adding("client_id", client.id.rawValue)
                .adding("ticket", page.ticket).adding("revision", String(page.revision))
            return try await administrator.browser.submit(form, to: page.action)
        }
        let refused = try await mark()
        #expect(refused.status == .badRequest)
        #expect(try refused.policyPage.problems.map(\.field) == ["first_party"])

        _ = try await edit(production).clientPage
        _ = try await mark().clientPage
        #expect(try await test.store.client(client.id)?.policy.isFirstParty == true)
        let again = try await edit(development)
        #expect(again.status == .badRequest)
        let verdicts = try #require(try again.clientFormPage.addresses).redirectURIs.verdicts
        #expect(verdicts.map(\.state) == [.accepted, .refused])
        #expect(verdicts[1].words.joined().contains("first-party"))
        #expect(try await test.store.client(client.id)?.redirectURIs.map(\.rawValue) == [production])
    }

    // The reviewed registration is unchanged.
    @Test func `a developer who saves without changes keeps the trust`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let client = try await Self.firstParty(&developer)
        let policy = try await Self.change(client, by: &developer, Developer.form(redirectURIs: Self.redirectURI))
        #expect(policy.isFirstParty && policy.isVouchedFor)
    }

    /// A change of a field that no consent page shows, but on which sign-out, scripts and keys depend.
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

    // Trust depends on everything that is registered, also on fields that no page shows.
    @Test(arguments: unseen.indices)
    func `a developer who changes an invisible field loses the trust of the administrator`(index: Int) async throws {
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

    // A key authenticates the client.
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

    // The order of a list has no meaning.
    @Test func `a developer who reorders redirect URIs keeps the trust`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(
            Developer.form(redirectURIs: "\(Self.redirectURI)\ncom.example.app:/cb"))
        try await test.change(client) { $0.policy.isVouchedFor = true }
        let form = Developer.form(redirectURIs: "com.example.app:/cb\n\(Self.redirectURI)")
        #expect(try await Self.change(client, by: &developer, form).isVouchedFor)
    }

    // A logo identifies a client as much as its name does.
    @Test func `a developer who changes the logo makes users consent again`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await Self.firstParty(&developer)
        let page = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
        let fields = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "decision": "replace",
        ])
        let picture = Array(Drawing.sunrise.png())
        _ = try await developer.browser.submit(
            ScriptedUserAgent.Upload(fields, fileField: "logo", file: picture), to: page.action
        ).clientPage
        let policy = try #require(try await test.store.client(client.id)).policy
        #expect(!policy.isFirstParty && !policy.isVouchedFor)
        _ = try await developer.browser.open(Attempt(test, by: client).url).consentPage
    }

    // An administrator has reviewed what the administrator writes.
    @Test func `an administrator who changes a client keeps the decisions`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await Self.firstParty(&developer)
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let policy = try await Self.change(
            client, by: &administrator, Developer.form("Lightbox Three", redirectURIs: Self.redirectURI))
        #expect(policy.isFirstParty && policy.isVouchedFor)
    }

    // Each page shows to which part of the console the client belongs for its reader.
    @Test(arguments: ["", "/edit", "/connect", "/logo", "/delete"])
    func `another developer's client is shown in the administration`(page: String) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        func part(_ reply: Reply) throws -> ConsoleHead.Part? {
            (reply.page as? any ConsolePage)?.console.part
        }
        #expect(try await part(administrator.browser.open("/apps/\(client.id)\(page)")) == .administration)
        #expect(try await part(developer.browser.open("/apps/\(client.id)\(page)")) == .clients)
    }
}
