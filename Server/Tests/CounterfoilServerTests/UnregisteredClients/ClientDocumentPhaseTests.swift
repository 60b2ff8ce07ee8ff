import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import Testing

/// A client that identifies itself by its document, on every leg of the protocol.
struct ClientDocumentPhaseTests {
    // The code, its tokens, UserInfo, the refresh and the revocation.
    @Test func `a client with a document signs a user in and refreshes its tokens`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        #expect(tokens.idToken != nil)
        let user = await world.test.send(
            .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        #expect(user.status == .ok)
        let refreshed = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        let form = FormParameters([
            "client_id": DocumentWorld.url, "token": try #require(refreshed.refreshToken).exposed,
        ])
        #expect(await world.test.post(form, to: .revocation).status == .ok)
        #expect(try await world.test.redeem(world.refresh(refreshed)).tokenError.error == "invalid_grant")
        #expect(world.files.requests.count == 1)
        let request = try #require(world.files.requests.first)
        #expect(request.url.rawValue == DocumentWorld.url)
        #expect(request.byteLimit == 5120)
        #expect(request.accepting == "application/json")
        #expect(!request.isOfNamedHost)
    }

    @Test(arguments: [
        "http://127.0.0.1:51004/callback", "http://localhost:49152/callback", "https://app.example.net/callback",
    ])
    func `a loopback redirect URI matches any port`(redirectURI: String) async throws {
        let world = try await DocumentWorld()
        let reply = try await world.attempt(at: redirectURI).authorize()
        #expect(try reply.destination.hasPrefix(redirectURI + "?code="))
    }

    // RFC 8252 §7.3: `localhost` and the IP literals are different hosts.
    @Test(arguments: [
        "http://127.0.0.1:51004/other", "http://[::1]:51004/callback", "http://localhost:3000/callback/",
        "https://app.example.net:8443/callback", "https://evil.example/callback", "http://app.example.net/callback",
    ])
    func `another redirect URI is refused on a page`(redirectURI: String) async throws {
        let world = try await DocumentWorld()
        let reply = try await world.attempt(at: redirectURI).firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        _ = try reply.problemPage
    }

    @Test func `a client with a document pushes its requests before it is stored`() async throws {
        let world = try await DocumentWorld()
        let pushed = try await PushedAttempt(world.attempt())
        #expect(try await world.stored == nil)
        let code = try await pushed.authorize().code
        #expect(await world.test.redeem(pushed.attempt.exchange(code)).status == .ok)
        #expect(try await world.stored != nil)
    }

    // RFC 8628 §3.5: a device polls before the first user has allowed anything.
    @Test func `a device of a client with a document polls before the client is stored`() async throws {
        let world = try await DocumentWorld([
            DocumentWorld.url: DocumentWorld.document([
                "grant_types": #"["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]"#
            ])
        ])
        let device = TestDevice(world.test, client: try world.attempt().client)
        let codes = try await device.codes()
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        #expect(try await world.stored == nil)
        var browser = world.test.browser()
        _ = try await browser.answer(codes).deviceDonePage
        world.files.set(DocumentWorld.url, .failed(.unreachable))
        world.test.clock.advance(by: 300)
        let tokens = try await device.poll(codes).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
    }

    // The `client_id` is public, so no other program can use it for a grant that the client does not use.
    @Test func `a device needs a document that declares the grant`() async throws {
        let world = try await DocumentWorld()
        let device = TestDevice(world.test, client: try world.attempt().client)
        let error = try await device.request().tokenError
        #expect(error.error == "unauthorized_client")
        #expect(error.errorDescription?.contains("grant_types") == true)
    }

    @Test func `a document that cannot be fetched is an error page for a device`() async throws {
        let world = try await DocumentWorld([
            DocumentWorld.url: DocumentWorld.document([
                "grant_types": #"["urn:ietf:params:oauth:grant-type:device_code"]"#
            ])
        ])
        let codes = try await TestDevice(world.test, client: try world.attempt().client).codes()
        world.files.set(DocumentWorld.url, .failed(.timedOut))
        world.test.clock.advance(by: 301)
        var browser = world.test.browser()
        var reply = try await browser.type(userCode: codes.userCode)
        if reply.page is SignInPage {
            reply = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        }
        #expect(reply.status == .serviceUnavailable)
        #expect(try reply.developerReason?.contains("did not answer in time") == true)
    }

    @Test func `the account page shows a client with a document and disconnects it`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        world.files.set(DocumentWorld.url, .failed(.unknownHost))
        world.test.clock.advance(by: 600)
        var browser = world.test.browser()
        let page = try await browser.signInToConsole(username: "alice").accountPage
        let client = try #require(page.clients.first)
        let connected = try await browser.open(client.path).connectedClientPage
        let form = FormParameters(["ticket": connected.ticket, "decision": "disconnect"])
        _ = try await browser.submit(form, to: connected.action)
        #expect(try await world.test.store.consents(of: world.test.alice.id).isEmpty)
        #expect(try await world.test.redeem(world.refresh(tokens)).tokenError.error == "invalid_grant")
    }

    // A document that is unavailable does not end what was granted.
    @Test func `a document that is gone ends no grant, and begins none`() async throws {
        let world = try await DocumentWorld()
        var tokens = try await world.tokens()
        for failure: OutboundFailure in [.unknownHost, .timedOut, .notPublic, .untrusted] {
            world.files.set(DocumentWorld.url, .failed(failure))
            world.test.clock.advance(by: 3600)
            tokens = try await world.test.redeem(world.refresh(tokens)).tokenResponse
            let first = try await world.attempt().firstReply()
            #expect(first.status == (failure == .untrusted ? .badRequest : .serviceUnavailable))
        }
        #expect(world.files.requests.count == 5)
    }

    @Test func `a client with a document that the owner no longer accepts gets nothing`() async throws {
        let world = try await DocumentWorld()
        let tokens = try await world.tokens()
        try await world.setPolicy { $0.refusedHosts = [HostPattern("*.example.net")].compactMap(\.self) }
        #expect(try await world.test.redeem(world.refresh(tokens)).tokenError.error == "invalid_client")
        #expect(try await world.attempt().firstReply().developerReason?.contains("does not accept") == true)
        try await world.setPolicy { $0.refusedHosts = [] }
        _ = try await world.test.redeem(world.refresh(tokens)).tokenResponse
        try await world.setPolicy { $0.kinds = [] }
        #expect(try await world.test.redeem(world.refresh(tokens)).tokenError.error == "invalid_client")
        #expect(try await world.attempt().firstReply().status == .badRequest)
        #expect(world.files.requests.count == 1)
    }

    @Test func `by default no client with a document is accepted, and nothing is fetched`() async throws {
        let world = try await DocumentWorld { $0.kinds = [] }
        let page = try await world.attempt().firstReply().problemPage
        #expect(page.explanation.contains("There is no app with the client_id of the request"))
        #expect(try await world.attempt().push().status == .badRequest)
        #expect(world.files.requests.isEmpty)
    }

    @Test func `only the hosts of the owner's list are asked`() async throws {
        let other = "https://other.example.com/client.json"
        let world = try await DocumentWorld([
            DocumentWorld.url: DocumentWorld.document(), other: DocumentWorld.document(at: other),
        ]) { $0.allowedHosts = [HostPattern("app.example.net")].compactMap(\.self) }
        #expect(try await world.attempt(other).firstReply().status == .badRequest)
        _ = try await world.attempt().firstReply().signInPage
        #expect(world.files.requests.map(\.url.rawValue) == [DocumentWorld.url])
        #expect(world.files.requests.first?.isOfNamedHost == true)
    }

    // The server compares clients by their registration before it looks at the form of their identifier.
    @Test func `a public client with a document presents no secret`() async throws {
        let world = try await DocumentWorld()
        _ = try await world.tokens()
        let form = FormParameters([
            "client_id": DocumentWorld.url, "client_secret": ClientSecret().exposed, "token": "x",
        ])
        let error = try await world.test.post(form, to: .revocation).tokenError
        #expect(error.error == "invalid_client")
        #expect(error.errorDescription?.contains("public client without a secret") == true)
    }
}
