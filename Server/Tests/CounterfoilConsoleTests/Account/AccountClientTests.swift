import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The connected apps of a user: listing, revoking permissions, disconnecting.
struct AccountClientTests {
    private static let path = "/account/apps/app_lightbox"

    /// Lets alice grant Lightbox some scopes; returns a code and how to redeem it.
    private static func allow(
        _ scope: String, in test: TestServer, with browser: inout ScriptedUserAgent
    ) async throws -> (attempt: Attempt, code: AuthorizationCode) {
        let attempt = Attempt(test, for: scope)
        return (attempt, try await attempt.authorize(with: &browser).code)
    }

    // The page lists each app with its permissions, dates and sessions, unmasked.
    @Test func `the account lists the permissions that a user has granted`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let empty = try await browser.signInToConsole(username: "alice").accountPage
        #expect(empty.clients.isEmpty && empty.notice == nil)
        #expect(empty.user.name == "Alice")
        #expect(empty.user.username == "alice")
        #expect(empty.user.email == "alice@example.com")

        let (attempt, code) = try await Self.allow("openid photos.read", in: test, with: &browser)
        let waiting = try #require(try await browser.open("/account").accountPage.clients.first)
        #expect(waiting.lastUsed == nil)
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        test.clock.advance(by: 3 * 3600)
        let page = try await browser.open("/account").accountPage
        #expect(page.clients.count == 1)
        let client = try #require(page.clients.first)
        #expect(client.name == "Lightbox")
        #expect(client.initials == "Li")
        #expect(client.publisher == "Lightbox Ltd")
        #expect(client.isVouchedFor && !client.isFirstParty)
        #expect(client.permissions.contains("See your photos and albums"))
        #expect(client.since == "15 January 2027")
        #expect(client.lastUsed == "3 hours ago")
        #expect(client.path == Self.path)
    }

    // Standard scopes are described in the user's language, custom scopes in the owner's words.
    @Test func `permissions are described in the language of the user`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Self.allow("openid profile photos.read", in: test, with: &browser)
        let permissions = try #require(try await browser.open("/account").accountPage.clients.first).permissions
        let words = Localizer(.english)
        let standard = ScopeDefinition.standard.filter { [.openID, .profile].contains($0.token) }.map { words($0) }
        #expect(Set(permissions) == Set(standard + ["See your photos and albums"]))
    }

    // Neither the client nor the consent is read.
    @Test func `an app with a value of a newer version is disconnected`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let (attempt, code) = try await Self.allow("openid photos.read", in: test, with: &browser)
        let page = try await browser.open(Self.path).connectedClientPage
        let unknown = StoreFault.unsupported(UnsupportedValue(record: "client", column: "type", text: "agent"))
        store.fail(.client, .consent, with: unknown)
        let saved = FormParameters(["decision": "save", "permission.photos.read": "granted", "ticket": page.ticket])
        #expect(try await browser.send(.post, to: Self.path, form: saved).status == .serviceUnavailable)
        let form = FormParameters(["decision": "disconnect", "ticket": page.ticket])
        #expect(try await browser.send(.post, to: Self.path, form: form).status == .seeOther)
        store.recover()
        #expect(try await browser.open("/account").accountPage.clients.isEmpty)
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
    }

    // A revoked permission is removed from every grant; codes with it are revoked, and codes without
    // it stay valid.
    @Test func `revoking one permission keeps the others`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let narrow = try await Self.allow("photos.read", in: test, with: &browser)
        let wide = try await Self.allow("openid photos.read photos.write", in: test, with: &browser)
        let page = try await browser.open(Self.path).connectedClientPage
        #expect(page.permissions.map(\.scope).sorted() == ["openid", "photos.read", "photos.write"])
        #expect(page.permissions.filter(\.isNeeded).map(\.scope) == ["openid"])
        #expect(page.canBeNarrowed)

        let saved = try await browser.send(.post, to: page.action, form: page.form("save", keeping: ["photos.read"]))
        #expect(saved.status == .seeOther)
        #expect(saved.location == "/account?done=saved&client=app_lightbox")
        #expect(
            try await browser.open("/account?done=saved&client=app_lightbox").accountPage.notice
                == "Saved. Access that the app already holds can keep working for up to one hour.")
        let consent = try #require(try await test.store.consent(of: test.alice.id, to: test.lightbox.id))
        #expect(consent.scope == (try Scope(parsing: "openid photos.read")))
        #expect(!consent.remembered.contains(try #require(Scope.Token("photos.write"))))
        let tokens = try await test.redeem(narrow.attempt.exchange(narrow.code)).tokenResponse
        #expect(tokens.scope == (try Scope(parsing: "photos.read")))
        let refused = try await test.redeem(wide.attempt.exchange(wide.code)).tokenError
        #expect(refused.error == "invalid_grant")
    }

    // Disconnecting revokes pending codes and deletes the consent; other clients keep theirs.
    @Test func `disconnecting revokes everything`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var bob = test.browser()
        let attempt = Attempt(test, for: "photos.read")
        let bobsCode = try await bob.authorize(attempt.url, username: "bob", password: TestServer.password).code
        var browser = test.browser()
        let (waiting, code) = try await Self.allow("openid photos.read", in: test, with: &browser)

        let page = try await browser.open(Self.path).connectedClientPage
        #expect(page.tokensEnd.contains("1 hour") || page.tokensEnd.contains("one hour"))
        let done = try await browser.send(.post, to: page.action, form: page.form("disconnect"))
        #expect(done.location == "/account?done=disconnected&client=app_lightbox")
        let account = try await browser.open("/account?done=disconnected&client=app_lightbox").accountPage
        #expect(account.clients.isEmpty)
        #expect(account.notice == "The app is disconnected. It can no longer use your account.")
        #expect(try await test.store.consent(of: test.alice.id, to: test.lightbox.id) == nil)
        #expect(try await test.redeem(waiting.exchange(code)).tokenError.error == "invalid_grant")
        #expect(try await browser.open(Self.path).status == .notFound)
        // A second submission of the same page finds no grant.
        #expect(try await browser.submit(page.form("disconnect"), to: page.action).status == .notFound)

        #expect(try await bob.open("/account").accountPage.clients.count == 1)
        #expect(await test.redeem(attempt.exchange(bobsCode)).status == .ok)
    }

    // Access tokens outlive the disconnection until they expire, as the page says before and after it.
    @Test func `the page states how long access tokens stay valid`() async throws {
        let test = try await TestServer()
        var policy = test.lightbox.policy
        policy.accessTokenLifetime = 600
        var client = test.lightbox
        client.policy = policy
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        var browser = test.browser()
        let (attempt, code) = try await Self.allow("openid photos.read", in: test, with: &browser)
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        let page = try await browser.open(Self.path).connectedClientPage
        #expect(page.tokensEnd.contains("10 minutes"))
        test.clock.advance(by: 540)
        // The lifetime of a token is that of its issue.
        client.policy.accessTokenLifetime = 60
        client.revision += 1
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        let after = try await browser.submit(page.form("disconnect"), to: page.action).accountPage
        #expect(
            after.notice
                == "The app is disconnected. Until 8:10 UTC at the latest, it may still be able to do this: "
                + "See your photos and albums.")
        test.clock.advance(by: 60)
        let later = try await browser.open("/account?done=disconnected&client=app_lightbox").accountPage
        #expect(later.notice == "The app is disconnected. It can no longer use your account.")
        // A URL without the client, or with an unknown one, has no time.
        for query in ["", "&client=app_nothing", "&client=%20"] {
            let other = try await browser.open("/account?done=disconnected" + query).accountPage
            #expect(other.notice == "The app is disconnected.")
        }
    }

    // Without a selection, the page asks; permissions that were not granted are ignored; `openid` is
    // revoked only with all others.
    @Test func `only granted permissions can be kept, and openid is not revoked alone`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await Self.allow("photos.read photos.write", in: test, with: &browser)
        let page = try await browser.open(Self.path).connectedClientPage
        let again = try await browser.submit(page.form("save", keeping: []), to: page.action)
        #expect(again.status == .badRequest)
        #expect(try again.connectedClientPage.problems.count == 1)
        #expect(try again.connectedClientPage.permissions.allSatisfy { !$0.isGranted })
        #expect(try await browser.submit(page.form("revoke"), to: page.action).status == .badRequest)
        let before = try #require(try await test.store.consent(of: test.alice.id, to: test.lightbox.id))
        #expect(before.scope == (try Scope(parsing: "photos.read photos.write")))

        _ = try await browser.submit(
            page.form("save", keeping: ["photos.read", "openid", "photos.delete"]), to: page.action)
        let after = try #require(try await test.store.consent(of: test.alice.id, to: test.lightbox.id))
        #expect(after.scope == (try Scope(parsing: "photos.read")))

        _ = try await Self.allow("openid", in: test, with: &browser)
        let withIdentity = try await browser.open(Self.path).connectedClientPage
        let kept = try await browser.send(
            .post, to: withIdentity.action, form: withIdentity.form("save", keeping: []))
        #expect(kept.location == "/account?done=saved&client=app_lightbox")
        let identity = try #require(try await test.store.consent(of: test.alice.id, to: test.lightbox.id))
        #expect(identity.scope == (try Scope(parsing: "openid")))
        #expect(try await !browser.open(Self.path).connectedClientPage.canBeNarrowed)
    }

    // An app of another user, an app without grants, and an unknown app get the same response.
    @Test(arguments: ["app_lightbox", "app_nothing"])
    func `an app that the user has not allowed is not found`(id: String) async throws {
        let test = try await TestServer()
        var alice = test.browser()
        _ = try await Self.allow("photos.read", in: test, with: &alice)
        _ = try await test.addUser("bob")
        var bob = test.browser()
        try await bob.signInToConsole(username: "bob")
        let nothing = try await bob.open("/account/apps/app_nothing-at-all").problemPage
        let reply = try await bob.open("/account/apps/\(id)")
        #expect(reply.status == .notFound)
        #expect(try reply.problemPage.title == nothing.title)
        #expect(try reply.problemPage.explanation == nothing.explanation)
        let form = FormParameters(["decision": "disconnect", "ticket": "x"])
        #expect(try await bob.submit(form, to: "/account/apps/\(id)").status == .forbidden)
        #expect(try await alice.open("/account").accountPage.clients.count == 1)
    }
}

extension ConnectedClientPage {
    /// The fields of the page's form.
    func form(_ decision: String, keeping kept: [String] = []) -> FormParameters {
        var form = FormParameters(["ticket": ticket, "decision": decision])
        for scope in kept { form.append("permission.\(scope)", "granted") }
        return form
    }
}
