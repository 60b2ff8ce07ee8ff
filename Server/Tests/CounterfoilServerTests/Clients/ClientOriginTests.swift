import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The origins of a client count for this client and for no other.
struct ClientOriginTests {
    private static let albumOrigin = "https://album.example"
    private static let gameOrigin = "https://game.example"

    /// A server with two single-page apps.
    private struct Clients {
        let store: TestStore
        let test: TestServer
        let album: RegisteredClient

        init() async throws {
            store = TestStore()
            test = try await TestServer(store: store)
            album = try await test.register(
                "Album", type: .singlePage, redirectURIs: [ClientOriginTests.albumOrigin + "/cb"],
                origins: [ClientOriginTests.albumOrigin])
            _ = try await test.register(
                "Game", type: .singlePage, redirectURIs: [ClientOriginTests.gameOrigin + "/cb"],
                origins: [ClientOriginTests.gameOrigin])
        }

        var attempt: Attempt {
            Attempt(test, by: album, at: ClientOriginTests.albumOrigin + "/cb", for: "openid profile")
        }

        /// Posts a form to an endpoint as a script of an origin does.
        func post(_ form: FormParameters, to endpoint: Endpoint = .token, from origin: String?) async -> Reply {
            var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            fields[.origin] = origin
            return await test.send(.post, to: endpoint, fields: fields, body: Array(form.encoded.utf8))
        }

        func userInfo(_ token: String, from origin: String?) async -> Reply {
            var fields: HTTPFields = [.authorization: "Bearer \(token)"]
            fields[.origin] = origin
            return await test.send(.get, to: .userInfo, fields: fields)
        }

        var notices: [String] { test.log.lines.filter { $0.hasPrefix("notice") && $0.contains("CORS") } }
    }

    private static func isReadable(_ reply: Reply, from origin: String) -> Bool {
        reply.fields[.accessControlAllowOrigin] == origin
    }

    @Test func `a token response cannot be read from the origin of another client`() async throws {
        let clients = try await Clients()
        for (origin, isOwn) in [(Self.albumOrigin, true), (Self.gameOrigin, false)] {
            let attempt = clients.attempt
            let reply = await clients.post(attempt.exchange(try await attempt.authorize().code), from: origin)
            #expect(reply.status == .ok)
            #expect(Self.isReadable(reply, from: origin) == isOwn)
            #expect((reply.fields[.accessControlExposeHeaders] != nil) == isOwn)
            #expect(reply.fields[.vary] == "Origin")
        }
        let line = try #require(clients.notices.first)
        #expect(clients.notices.count == 1)
        #expect(line.contains("sent no CORS headers: the origin is not registered for the client"))
        for field in ["app_album", Self.gameOrigin, Self.albumOrigin, "spa", "token"] { #expect(line.contains(field)) }
    }

    // A thrown error has the client too.
    @Test func `a refusal cannot be read from the origin of another client`() async throws {
        let clients = try await Clients()
        let attempt = clients.attempt
        let used = attempt.exchange(try await attempt.authorize().code)
        _ = await clients.post(used, from: nil)
        let wrongCode = used.setting("code", to: "no-code")
        for (origin, isOwn) in [(Self.albumOrigin, true), (Self.gameOrigin, false)] {
            for form in [wrongCode, used, used.setting("client_secret", to: ClientSecret().exposed)] {
                let reply = await clients.post(form, from: origin)
                #expect(reply.status == .badRequest)
                #expect(Self.isReadable(reply, from: origin) == isOwn)
            }
        }
    }

    @Test func `a fault while a request is processed cannot be read from the origin of another client`() async throws {
        let clients = try await Clients()
        let attempt = clients.attempt
        let form = attempt.exchange(try await attempt.authorize().code)
        clients.store.fail(.code)
        for (origin, isOwn) in [(Self.albumOrigin, true), (Self.gameOrigin, false)] {
            let reply = await clients.post(form, from: origin)
            #expect(reply.status == .serviceUnavailable)
            #expect(Self.isReadable(reply, from: origin) == isOwn)
        }
    }

    // The origin of a single-page app does not help a client of another type, and the log says why.
    @Test func `a client without origins has none, whatever others registered`() async throws {
        let clients = try await Clients()
        let secret = ClientSecret()
        let web = try await clients.test.register(
            "Shop", type: .web, at: ["https://shop.example/cb"], under: .standard(for: .web), secret: secret)
        let native = try await Attempt(clients.test).authorize().code
        let forms = [
            Attempt(clients.test).exchange(native),
            FormParameters([
                "grant_type": "authorization_code", "code": "x", "code_verifier": CodeVerifier().exposed,
                "client_id": web.id.rawValue, "client_secret": ClientSecret().exposed,
                "redirect_uri": "https://shop.example/cb",
            ]),
        ]
        for form in forms {
            let reply = await clients.post(form, from: Self.albumOrigin)
            #expect(reply.fields[.accessControlAllowOrigin] == nil)
        }
        #expect(clients.notices.map { $0.contains("none") } == [true, true])
        #expect(clients.notices[0].contains("native") && clients.notices[1].contains("web"))
    }

    // A script can read which parameter of its request is wrong.
    @Test func `an error for no known client can be read from every registered origin`() async throws {
        let clients = try await Clients()
        let forms = [
            FormParameters(["grant_type": "nothing"]), FormParameters(["client_id": "app_album"]),
            FormParameters(["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app_unknown"]),
        ]
        for form in forms {
            for origin in [Self.albumOrigin, Self.gameOrigin] {
                let reply = await clients.post(form, from: origin)
                #expect(reply.status.code >= 400)
                #expect(Self.isReadable(reply, from: origin))
            }
            #expect(await clients.post(form, from: "https://evil.example").fields[.accessControlAllowOrigin] == nil)
        }
    }

    @Test func `a revocation cannot be read from the origin of another client`() async throws {
        let clients = try await Clients()
        let token = try await clients.attempt.tokens().accessToken.exposed
        for (id, origin, isReadable) in [
            ("app_album", Self.gameOrigin, false), ("app_album", Self.albumOrigin, true),
            ("app_game", Self.albumOrigin, false), ("app_game", Self.gameOrigin, true),
        ] {
            let form = FormParameters(["token": token, "client_id": id])
            let reply = await clients.post(form, to: .revocation, from: origin)
            #expect(reply.status == (id == "app_album" ? .ok : .badRequest))
            #expect(Self.isReadable(reply, from: origin) == isReadable)
        }
    }

    // The client of UserInfo is that of the access token, also when the token is no longer valid.
    @Test func `claims cannot be read from the origin of another client`() async throws {
        let clients = try await Clients()
        let token = try await clients.attempt.tokens().accessToken.exposed
        for isExpired in [false, true] {
            if isExpired { clients.test.clock.advance(by: 7200) }
            for (origin, isOwn) in [(Self.albumOrigin, true), (Self.gameOrigin, false)] {
                let reply = await clients.userInfo(token, from: origin)
                #expect(reply.status == (isExpired ? .unauthorized : .ok))
                #expect(Self.isReadable(reply, from: origin) == isOwn)
            }
        }
        #expect(Self.isReadable(await clients.userInfo("no-token", from: Self.gameOrigin), from: Self.gameOrigin))
        let line = try #require(clients.notices.first)
        #expect(line.contains("userInfo") && line.contains("app_album"))
    }

    @Test func `claims of a deleted client can be read from no origin`() async throws {
        let clients = try await Clients()
        let token = try await clients.attempt.tokens().accessToken.exposed
        try await clients.store.removeClient(clients.album.id)
        let reply = await clients.userInfo(token, from: Self.gameOrigin)
        #expect(reply.status == .unauthorized)
        #expect(reply.fields[.accessControlAllowOrigin] == nil)
    }

    // Apps without a browser send no origin.
    @Test func `a request without an origin reads nothing more from the store`() async throws {
        let clients = try await Clients()
        let attempt = clients.attempt
        let code = try await attempt.authorize().code
        let before = clients.store.calls(of: .client)
        let tokens = try await clients.post(attempt.exchange(code), from: nil).tokenResponse
        let lookups = clients.store.calls(of: .registryRevision)
        #expect(await clients.userInfo(tokens.accessToken.exposed, from: nil).status == .ok)
        // The signing keys are looked up, and the client is not.
        #expect(clients.store.calls(of: .registryRevision) == lookups + 1)
        #expect(clients.store.calls(of: .client) == before)
        #expect(clients.store.calls(of: .isRegistered) == 0)
        #expect(clients.notices.isEmpty)
    }

    @Test func `while the store is unavailable claims can be read from no origin`() async throws {
        let clients = try await Clients()
        let token = try await clients.attempt.tokens().accessToken.exposed
        clients.store.fail(.client)
        let reply = await clients.userInfo(token, from: Self.albumOrigin)
        #expect(reply.status == .ok)
        #expect(reply.fields[.accessControlAllowOrigin] == nil)
    }

    // MARK: - Development on the device

    // RFC 8252 §7.3: a loopback redirect URI without a port matches any port, and its origin too.
    @Test func `an origin of any port covers every port of its host and no other host`() async throws {
        let test = try await TestServer()
        for (name, host) in [("Local", "localhost"), ("Four", "127.0.0.1"), ("Six", "[::1]")] {
            _ = try await test.register(
                name, type: .singlePage, redirectURIs: ["http://\(host)/cb"], origins: ["http://\(host):*"])
        }
        func reply(_ client: String, from origin: String) async -> Reply {
            await test.redeem(
                FormParameters(["grant_type": "refresh_token", "refresh_token": "x", "client_id": client]),
                fields: [.origin: origin])
        }
        for origin in ["http://localhost:5173", "http://localhost:1", "http://localhost:65535", "http://localhost"] {
            #expect(Self.isReadable(await reply("app_local", from: origin), from: origin))
            let asked = await test.send(
                .options, to: .token, fields: [.origin: origin, .accessControlRequestMethod: "POST"])
            #expect(asked.status == .noContent && Self.isReadable(asked, from: origin))
        }
        #expect(Self.isReadable(await reply("app_four", from: "http://127.0.0.1:8080"), from: "http://127.0.0.1:8080"))
        #expect(Self.isReadable(await reply("app_six", from: "http://[::1]:8080"), from: "http://[::1]:8080"))
        for origin in [
            "http://127.0.0.1:5173", "https://localhost:5173", "http://localhost.evil.example:5173",
            "http://localhost:*", "http://localhost:0", "http://localhost:70000", "http://a@localhost:5173",
            "http://localhost:5173/", "http://localhost:80",
        ] {
            #expect(await reply("app_local", from: origin).fields[.accessControlAllowOrigin] == nil, "\(origin)")
        }
    }

    @Test(arguments: [
        ("https://app.example.com/cb?x=1", "https://app.example.com"),
        ("https://App.Example.com:8443/cb", "https://app.example.com:8443"),
        ("https://app.example.com:443/cb", "https://app.example.com"),
        ("http://localhost:5173", "http://localhost:5173"), ("http://localhost:5173/cb", "http://localhost:5173"),
        ("http://localhost/cb", "http://localhost:*"), ("http://127.0.0.1", "http://127.0.0.1:*"),
        ("http://127.0.0.1:80/cb", "http://127.0.0.1"), ("http://[::1]:3000/cb", "http://[::1]:3000"),
        ("http://[::1]/cb", "http://[::1]:*"), ("com.example.app:/cb", nil),
    ])
    func `an origin follows from a redirect URI`(redirectURI: String, origin: String?) throws {
        let derived = RegisteredOrigin(of: try RedirectURI(redirectURI))
        #expect(derived?.rawValue == origin)
        // The written form is what stores keep.
        #expect(origin.flatMap(RegisteredOrigin.init(_:)) == derived)
    }

    @Test func `equal origins are listed once`() throws {
        let uris = try ["https://a.example/1", "https://a.example/2", "http://localhost/1", "http://localhost:1/"]
            .map { try RedirectURI($0) }
        #expect(
            [RegisteredOrigin](of: uris).map(\.rawValue) == [
                "https://a.example", "http://localhost:*", "http://localhost:1",
            ])
    }

    // MARK: - The log

    @Test func `a refused preflight request is logged with its origin, cut and escaped`() async throws {
        let clients = try await Clients()
        let origin = "https://evil.example/\u{202E}\"" + String(repeating: "a", count: 5000)
        let reply = await clients.test.send(
            .options, to: .token, fields: [.origin: origin, .accessControlRequestMethod: "POST"])
        #expect(reply.status == .methodNotAllowed)
        let line = try #require(clients.notices.first)
        #expect(line.contains("refused CORS preflight request: no client has registered the origin"))
        #expect(line.contains("https://evil.example/") && line.contains(#"\u{202E}"#))
        #expect(!line.contains("\u{202E}"))
        #expect(line.utf8.count < 500)
        #expect(line.contains("…"))
    }

    // Everyone can send such requests.
    @Test func `the log of origins is limited, and counts what it leaves out`() async throws {
        let clients = try await Clients()
        let form = FormParameters(["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app_album"])
        for number in 0..<100 {
            let origin = "https://evil-\(number).example"
            _ = await clients.test.send(
                .options, to: .userInfo, fields: [.origin: origin, .accessControlRequestMethod: "GET"])
            _ = await clients.post(form, from: origin)
        }
        #expect(clients.notices.count == 120)
        clients.test.clock.advance(by: 60)
        _ = await clients.test.send(
            .options, to: .userInfo, fields: [.origin: "https://later.example", .accessControlRequestMethod: "GET"])
        _ = await clients.post(form, from: "https://later.example")
        #expect(clients.notices.count == 122)
        for line in clients.notices.suffix(2) { #expect(line.contains("left_out") && line.contains("40")) }
        _ = await clients.post(form, from: "https://later.example")
        #expect(clients.notices.last?.contains("left_out") == false)
    }

    @Test func `the log shows at most five registered origins`() async throws {
        let clients = try await Clients()
        try await clients.test.change(clients.album) { client in
            client.origins = (1...20).compactMap { RegisteredOrigin("https://album-\($0).example") }
        }
        let form = FormParameters(["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app_album"])
        _ = await clients.post(form, from: Self.albumOrigin)
        let line = try #require(clients.notices.first)
        #expect(line.contains("https://album-5.example +15") && !line.contains("album-6"))
    }

    // The pages of this server need no CORS headers, and an allowed request needs no line.
    @Test func `requests of the server's own origin and allowed ones are not logged`() async throws {
        let clients = try await Clients()
        let form = FormParameters(["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app_album"])
        for origin in ["https://id.example.com", Self.albumOrigin] { _ = await clients.post(form, from: origin) }
        #expect(clients.notices.isEmpty)
    }
}
