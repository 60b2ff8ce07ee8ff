import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The stored client of a document: when it is stored, what changes it, and when it is deleted.
struct ClientDocumentChangeTests {
    @Test func `a client is stored when a user allows it something, and not before`() async throws {
        let world = try await DocumentWorld()
        var browser = world.test.browser()
        let attempt = try world.attempt()
        let consent = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
        _ = try consent.consentPage
        #expect(try await world.stored == nil)
        #expect(try await browser.decide(.deny, on: consent).redirectedError.code == .accessDenied)
        #expect(try await world.stored == nil)
        #expect(try await world.audited == [])
        _ = try await attempt.authorize().code
        let stored = try #require(try await world.stored)
        #expect(stored.source == .document(Array(DocumentWorld.document().utf8)))
        #expect(stored.type == .native)
        #expect(stored.owner == nil)
        #expect(!stored.policy.isFirstParty && !stored.policy.isVouchedFor)
        #expect(stored.policy.pkce == .s256)
        #expect(try await world.audited == ["stored the client of a client document"])
        let event = try #require(try await world.test.store.audit(AuditQuery(kind: .client)).first?.event)
        #expect(event.userID == world.test.alice.id)
        #expect(event.clientID == stored.id)
        // A second user finds the client stored.
        _ = try await world.test.addUser("bob")
        var other = world.test.browser()
        _ = try await other.authorize(attempt.url, username: "bob", password: TestServer.password).code
        #expect(try await world.stored == stored)
        #expect(try await world.audited.count == 1)
    }

    @Test func `two users who allow a client at the same time both get a code`() async throws {
        let world = try await DocumentWorld()
        for number in 0..<8 { _ = try await world.test.addUser("user\(number)") }
        let attempt = try world.attempt()
        let counts = try await outcomes(of: 8) { number in
            var browser = world.test.browser(source: "192.0.2.\(number + 1)")
            let reply = try await browser.authorize(
                attempt.url, username: "user\(number)", password: TestServer.password)
            return try reply.code.exposed.isEmpty
        }
        #expect(counts == [false: 8])
        let hosts = try await world.test.store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9)
        #expect(hosts.map(\.count.clients) == [1])
        #expect(try await world.stored?.revision == 0)
    }

    // The user is asked again, and the change is recorded.
    @Test func `a changed document asks the user again, and is recorded`() async throws {
        let world = try await DocumentWorld()
        var browser = world.test.browser()
        let attempt = try world.attempt()
        _ = try await attempt.authorize(with: &browser).code
        world.publish(["client_name": #""Another App""#, "redirect_uris": #"["http://127.0.0.1/callback"]"#])
        // The copy counts until it is stale.
        #expect(try await world.stored?.presentation.name == "Example App")
        world.test.clock.advance(by: 300)
        _ = try await browser.open(attempt.url).consentPage
        let stored = try #require(try await world.stored)
        #expect(stored.presentation.name == "Another App")
        #expect(stored.redirectURIs.map(\.rawValue) == ["http://127.0.0.1/callback"])
        #expect(stored.revision == 1)
        #expect(stored.createdAt == world.test.clock.now - 300)
        #expect(
            try await world.audited == [
                "stored the client of a client document", "client document changed: redirect_uris, client_name",
            ])
        // The redirect URI of the former document is refused.
        #expect(try await world.attempt(at: "https://app.example.net/callback").firstReply().status == .badRequest)
    }

    // Each server has copies of its own. The one with an older copy must not undo what another one has stored.
    @Test(arguments: [false, true])
    func `a server with an outdated copy takes what another server has stored`(isHostDown: Bool) async throws {
        let world = try await DocumentWorld()
        _ = try await world.attempt().authorize().code
        let other = try await TestServer(
            store: world.test.store, clock: world.test.clock, clientFiles: world.files)
        world.test.clock.advance(by: 250)
        #expect(try await DocumentWorld.attempt(other).firstReply().status == .ok)
        world.publish(["client_name": #""Another App""#, "redirect_uris": #"["http://127.0.0.1/callback"]"#])
        world.test.clock.advance(by: 50)
        #expect(try await world.attempt().firstReply().status == .ok)
        #expect(try await world.stored?.revision == 1)

        if isHostDown { world.files.set(DocumentWorld.url, .failed(.unknownHost)) }
        world.test.clock.advance(by: 10)
        let former = try DocumentWorld.attempt(other, at: "https://app.example.net/callback")
        #expect(try await former.firstReply().status == .badRequest)
        #expect(try await DocumentWorld.attempt(other).firstReply().status == .ok)
        #expect(try await world.stored?.presentation.name == "Another App")
        #expect(try await world.stored?.revision == 1)
    }

    @Test func `an answer never applies to another document than the shown one`() async throws {
        let world = try await DocumentWorld()
        var browser = world.test.browser()
        let consent = try await browser.signIn(
            on: try await browser.open(try world.attempt().url), username: "alice", password: TestServer.password)
        world.publish(["client_name": #""Another App""#])
        world.test.clock.advance(by: 300)
        let reply = try await browser.decide(.allow, on: consent)
        #expect(reply.status == .conflict)
        #expect(try await world.stored == nil)
    }

    // Of many requests after a change one stores it, and all of them see the stored client.
    @Test func `requests at the same time store a changed document once`() async throws {
        let world = try await DocumentWorld()
        _ = try await world.attempt().authorize().code
        world.publish(["client_name": #""Another App""#])
        world.test.clock.advance(by: 300)
        let attempt = try world.attempt()
        let counts = try await outcomes(of: 30) { _ in try await attempt.firstReply().status }
        #expect(counts == [.ok: 30])
        #expect(try await world.stored?.revision == 1)
    }

    @Test func `an unchanged document changes nothing in the store`() async throws {
        let world = try await DocumentWorld()
        _ = try await world.attempt().authorize().code
        let stored = try await world.stored
        for _ in 0..<3 {
            world.test.clock.advance(by: 300)
            _ = try await world.attempt().firstReply().signInPage
        }
        #expect(try await world.stored == stored)
    }

    // A client that adds a loopback redirect URI is a native client from then on.
    @Test func `a document can change the type of its client`() async throws {
        let world = try await DocumentWorld()
        world.publish(["redirect_uris": #"["https://app.example.net/callback"]"#])
        _ = try await world.attempt(at: "https://app.example.net/callback").authorize().code
        #expect(try await world.stored?.type == .singlePage)
        world.publish([:])
        world.test.clock.advance(by: 300)
        _ = try await world.attempt().authorize().code
        #expect(try await world.stored?.type == .native)
        let key = try SigningKey.generate(.es256)
        let keys = String(decoding: JSONWebKeySet(keys: [key.publicKey]).encoded(), as: UTF8.self)
        world.publish(["token_endpoint_auth_method": #""private_key_jwt""#, "jwks": keys])
        world.test.clock.advance(by: 300)
        _ = try await world.attempt(at: "https://app.example.net/callback").firstReply().signInPage
        #expect(try await world.stored?.type == .web)
        // A refresh token of the confidential client must stay useless without its key.
        world.publish([:])
        world.test.clock.advance(by: 300)
        let reply = try await world.attempt().firstReply()
        #expect(reply.status == .badRequest)
        #expect(try reply.developerReason?.contains("it no longer names private_key_jwt") == true)
        #expect(try await world.stored?.type == .web)
    }

    @Test func `the owner's lifetimes and scopes apply to a stored client at once`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        try await world.setPolicy { policy in
            policy.accessTokenLifetime = 120
            policy.maximumScope = Scope([.openID])
        }
        let refreshed = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        #expect(refreshed.expiresIn == 120)
        #expect(try await world.attempt(for: "photos.read").error().code == .invalidScope)
        try await world.setPolicy { $0.refreshTokens = .never }
        #expect(try await world.test.redeem(world.refresh(refreshed)).tokenError.error == "invalid_grant")
    }

    // The stored policy of a client is that of its last change.
    @Test func `maintenance keeps refresh tokens for the time of the owner's policy`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        try await world.setPolicy { policy in
            policy.refreshIdleLifetime = 200 * 86_400
            policy.refreshLifetime = 300 * 86_400
        }
        world.test.clock.advance(by: 150 * 86_400)
        _ = try await world.test.server.maintenance.deleteAllExpired()
        _ = try await world.test.redeem(world.refresh(tokens)).tokenResponse
    }

    // A policy without an idle lifetime leaves that of the server, which can be longer than 90 days.
    @Test func `maintenance keeps unregistered clients for the idle lifetime of the server`() async throws {
        let world = try await DocumentWorld(configure: { settings in
            settings.refreshTokenIdleLifetime = 200 * 86_400
            settings.refreshTokenLifetime = 400 * 86_400
        })
        let tokens = try await world.tokens()
        world.test.clock.advance(by: 150 * 86_400)
        _ = try await world.test.server.maintenance.deleteAllExpired()
        let next = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        world.test.clock.advance(by: 201 * 86_400)
        _ = try await world.test.server.maintenance.deleteAllExpired()
        #expect(try await world.stored == nil)
        #expect(try await world.test.redeem(world.refresh(next)).tokenError.error == "invalid_client")
    }

    @Test func `a client to which no user allows anything is deleted after a week`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        let maintenance = world.test.server.maintenance
        world.test.clock.advance(by: 8 * 86_400)
        _ = try await maintenance.deleteAllExpired()
        #expect(try await world.stored != nil)
        _ = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        let narrowed = try await world.test.store.narrowConsent(
            of: world.test.alice.id, to: try DocumentWorld.id(), keeping: Scope(), at: world.test.clock.now)
        #expect(narrowed == .narrowed)
        world.test.clock.advance(by: 3 * 86_400)
        _ = try await maintenance.deleteAllExpired()
        #expect(try await world.stored == nil)
        // The client is not blocked: the next approval stores it again.
        _ = try await world.attempt().authorize().code
        #expect(try await world.stored != nil)
    }

    @Test func `a client that is deleted before the commit is stored with the approval`() async throws {
        let store = TestStore()
        let world = try await DocumentWorld(store: store)
        let attempt = try world.attempt()
        _ = try await attempt.authorize().code
        let id = try DocumentWorld.id()
        store.before(.recordConsent) { _ = try? await store.removeClient(id) }
        let code = try await attempt.authorize().code
        #expect(await world.test.redeem(attempt.exchange(code)).status == .ok)
    }

    // Its secret was deleted, too.
    @Test func `a client that registered itself is not stored with an approval`() async throws {
        let store = TestStore()
        let world = try await DocumentWorld(store: store)
        try await world.setPolicy { $0.kinds = [.registration] }
        let source = ClientSource.registration(
            DynamicRegistration(metadata: Array("{}".utf8), accessToken: ArtefactDigest(of: ClientSecret())))
        let client = RegisteredClient(
            id: try DocumentWorld.id("app_self"), type: .native, presentation: ClientPresentation(name: "Self"),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback")], scope: try Scope(parsing: "photos.read"),
            source: source, policy: .standard(for: .native), createdAt: world.test.clock.now)
        #expect(try await store.addClient(client) == .added)
        store.before(.recordConsent) { _ = try? await store.removeClient(client.id) }
        let reply = try await Attempt(world.test, by: client).authorize()
        #expect(reply.status == .badRequest)
        #expect(try await store.client(client.id) == nil)
    }

    // The store is unavailable between the reading of the client and the storing of its document.
    @Test(arguments: [StoreOperation.unregisteredClientPolicy, .scopes, .client, .updateClient])
    func `a store fault is no refusal of the document`(operation: StoreOperation) async throws {
        let store = TestStore()
        let world = try await DocumentWorld(store: store)
        _ = try await world.attempt().authorize().code
        world.publish(["client_name": #""Another App""#])
        world.test.clock.advance(by: 300)
        store.fail(operation)
        #expect(try await world.attempt().firstReply().status == .serviceUnavailable)
        store.recover()
        #expect(try await world.attempt().firstReply().status == .ok)
        #expect(try await world.stored?.presentation.name == "Another App")
    }

    @Test func `a fault while the policy is read refuses no refresh token`() async throws {
        let store = TestStore()
        let world = try await DocumentWorld(store: store)
        let tokens = try await world.tokens()
        store.fail(.unregisteredClientPolicy)
        #expect(await world.test.redeem(world.refresh(tokens)).status == .serviceUnavailable)
        store.recover()
        _ = try await world.test.redeem(world.refresh(tokens)).tokenResponse
    }

    // The policy and the scopes come from the cache above the store, at the revision at which the client was read.
    @Test func `a request with a cached document reads no more than one of a registered client`() async throws {
        let store = TestStore()
        let world = try await DocumentWorld(store: store)
        _ = try await world.attempt().authorize().code
        for attempt in try [Attempt(world.test), world.attempt()] { _ = try await attempt.firstReply() }
        func calls(of attempt: Attempt) async throws -> [StoreOperation: Int] {
            let before = store.calls
            _ = try await attempt.firstReply().signInPage
            return store.calls.merging(before, uniquingKeysWith: -).filter { $0.value > 0 }
        }
        let expected = try await calls(of: Attempt(world.test))
        let made = try await calls(of: world.attempt())
        #expect(made == expected, "\(made)")
    }
}
