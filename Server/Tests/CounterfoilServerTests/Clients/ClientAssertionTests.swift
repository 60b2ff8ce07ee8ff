@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Authentication of a client by its own key (RFC 7523, OpenID Connect Core §9).
struct ClientAssertionTests {
    /// A service that has registered a public key.
    private struct Signing {
        static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

        let test: TestServer
        let client: RegisteredClient
        let key: SigningKey

        init(_ test: TestServer, _ algorithm: SigningAlgorithm = .es256) async throws {
            self.test = test
            key = try SigningKey.generate(algorithm)
            var client = try await test.register(
                "Nightly", type: .service, redirectURIs: [], scope: "photos.read")
            client.keys = JSONWebKeySet(keys: [key.publicKey])
            #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
            self.client = client
        }

        /// A client that has registered itself with a key.
        init(_ desk: RegistrationDesk) async throws {
            test = desk.test
            key = try SigningKey.generate(.es256)
            let keys = JSONWebKeySet(keys: [key.publicKey]).encoded()
            client = try await desk.registered([
                "redirect_uris": [RegistrationDesk.callback], "token_endpoint_auth_method": "private_key_jwt",
                "jwks": try JSONSerialization.jsonObject(with: Data(keys)),
            ]).registration()
        }

        /// Authenticates at the revocation endpoint, which needs nothing else.
        func authenticate(from source: String = "192.0.2.1") async throws -> Reply {
            let sent = form(try assertion()).setting("grant_type", to: nil).adding("token", "unknown")
            return await test.post(sent, to: .revocation, source: source)
        }

        /// The claims of an assertion, unless a test replaces them.
        func claims(_ changes: [String: Claim?] = [:]) -> [String: Claim] {
            var claims: [String: Claim] = [
                "iss": .text(client.id.rawValue), "sub": .text(client.id.rawValue),
                "aud": .text("https://id.example.com/oauth2/token"), "exp": .seconds(now + 60), "iat": .seconds(now),
                "jti": .text(Base64URL.encode(RandomBytes().bytes(16))),
            ]
            for (name, value) in changes { claims[name] = value }
            return claims
        }

        var now: Int { Int(test.clock.wall.timeIntervalSince1970) }

        func assertion(_ changes: [String: Claim?] = [:], type: TokenType = .idToken) throws -> String {
            try key.sign(claims(changes), type: type)
        }

        func form(_ assertion: String, naming id: String? = nil) -> FormParameters {
            var form = FormParameters(["grant_type": "client_credentials", "client_assertion_type": Self.type])
            form.append("client_assertion", assertion)
            form.append("client_id", ifPresent: id)
            return form
        }

        func ask(_ changes: [String: Claim?] = [:], type: TokenType = .idToken) async throws -> Reply {
            await test.redeem(form(try assertion(changes, type: type)))
        }
    }

    // The attempt that used the assertion is sent again; another request with the assertion is refused.
    @Test(arguments: [true, false])
    func `an assertion is accepted once although the answer of the store is lost`(isCommitted: Bool) async throws {
        let store = TestStore()
        let signing = try await Signing(try await TestServer(store: store))
        let form = signing.form(try signing.assertion())
        store.lose(.noteAssertion, committing: isCommitted, times: 2)
        #expect(await signing.test.redeem(form).status == .ok)
        #expect(try await signing.test.redeem(form).tokenError.error == "invalid_client")
        store.lose(.noteAssertion, committing: isCommitted)
        let other = signing.form(try signing.assertion())
        #expect(await signing.test.redeem(other).status == .serviceUnavailable)
        store.recover()
        // A client signs an assertion for each request, so the next one is accepted.
        #expect(try await signing.ask().status == .ok)
    }

    // The client takes the times from the wall clock of the world.
    @Test func `an assertion is judged by the wall clock of the server that gets it`() async throws {
        let signing = try await Signing(try await TestServer())
        let clock = signing.test.clock.ofAnotherServer(wallAhead: 600)
        let other = try await TestServer(store: signing.test.store, clock: clock)
        let form = signing.form(try signing.assertion())
        try Self.expectRefused(await other.redeem(form))
        #expect(await signing.test.redeem(form).status == .ok)
    }

    /// A value of a claim.
    enum Claim: Encodable, Sendable {
        case text(String)
        case seconds(Int)
        case list([String])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .seconds(let seconds): try container.encode(seconds)
            case .list(let list): try container.encode(list)
            }
        }
    }

    private static func expectRefused(_ reply: Reply, _ reason: String? = nil) throws {
        // RFC 6749 §5.2: an assertion is no HTTP authentication. A challenge of Basic would hide the description.
        #expect(reply.status == .badRequest)
        #expect(reply.fields[.wwwAuthenticate] == nil)
        let error = try reply.tokenError
        #expect(error.error == "invalid_client")
        if let reason { #expect(error.errorDescription?.contains(reason) == true) }
    }

    // The audience is the endpoint URL or the issuer, as one text or in a list, with or without `kid`.
    @Test(arguments: SigningAlgorithm.allCases)
    func `a client authenticates with its key`(algorithm: SigningAlgorithm) async throws {
        let signing = try await Signing(try await TestServer(), algorithm)
        let audiences: [Claim] = [
            .text("https://id.example.com/oauth2/token"), .text("https://id.example.com"),
            .list(["https://id.example.com"]),
            .list(["https://id.example.com", "https://id.example.com/oauth2/token"]),
        ]
        for audience in audiences { #expect(try await signing.ask(["aud": audience]).status == .ok) }
        let named = signing.form(try signing.assertion(), naming: signing.client.id.rawValue)
        #expect(await signing.test.redeem(named).status == .ok)
        #expect(try await signing.ask(["iat": nil]).status == .ok)
        #expect(try await signing.ask(type: .clientAuthentication).status == .ok)
    }

    // RFC 7523 §3, CVE-2025-27370: for another server, or for this one and another.
    @Test(arguments: [
        Claim.text("https://other.example.com"), .text("https://id.example.com/"), .list([]),
        .list(["https://id.example.com", "https://other.example.com"]), .text("https://id.example.com/oauth2/revoke"),
        .text(""), .seconds(1),
    ])
    func `an assertion for another audience is refused`(audience: Claim) async throws {
        let signing = try await Signing(try await TestServer())
        try Self.expectRefused(try await signing.ask(["aud": audience]))
        #expect(try await signing.ask().status == .ok)
    }

    // The issuer and subject, the validity period, and the `jti`.
    @Test func `an assertion with a missing or wrong claim is refused`() async throws {
        let signing = try await Signing(try await TestServer())
        let now = signing.now
        let changes: [[String: Claim?]] = [
            ["iss": .text("app_other")], ["sub": .text("app_other")],
            ["iss": .text("app_lightbox"), "sub": .text("app_lightbox")],
            ["iss": nil], ["sub": nil], ["aud": nil], ["exp": nil], ["jti": nil], ["jti": .text("")],
            ["jti": .text(String(repeating: "j", count: 513))], ["exp": .seconds(now - 31)], ["exp": .text("soon")],
            ["exp": .seconds(now + 3631)], ["exp": .seconds(now + 86_400)], ["nbf": .seconds(now + 31)],
            ["iat": .seconds(now + 31)],
        ]
        for change in changes { try Self.expectRefused(try await signing.ask(change)) }
        try Self.expectRefused(
            try await signing.ask(["exp": .seconds(now + 86_400)]), "exp is more than 3600 seconds in the future")
        // RFC 7523 §3 point 4: an hour, the lifetime that Authlib uses.
        #expect(try await signing.ask(["exp": .seconds(now + 3600)]).status == .ok)
    }

    // Once, even when sent concurrently.
    @Test func `an assertion is used once`() async throws {
        let signing = try await Signing(try await TestServer())
        let form = signing.form(try signing.assertion())
        let statuses = await withTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<20 { group.addTask { await signing.test.redeem(form).status } }
            return await group.reduce(into: [:]) { counts, status in counts[status, default: 0] += 1 }
        }
        #expect(statuses[.ok] == 1)
        try Self.expectRefused(await signing.test.redeem(form), "used before")
        // Also while the wall clock is set back, for as long as the assertion is valid.
        signing.test.clock.advance(by: 200)
        signing.test.clock.jump(by: -200)
        try Self.expectRefused(await signing.test.redeem(form), "used before")
    }

    // RFC 7523 §3 point 7: the longest lifetime, almost expired, while the wall clock is set back an hour.
    @Test func `an assertion with a lifetime of an hour is used once`() async throws {
        let signing = try await Signing(try await TestServer())
        let form = signing.form(try signing.assertion(["exp": .seconds(signing.now + 3600)]))
        #expect(await signing.test.redeem(form).status == .ok)
        signing.test.clock.advance(by: 3595)
        try Self.expectRefused(await signing.test.redeem(form), "used before")
        signing.test.clock.jump(by: -3600)
        try Self.expectRefused(await signing.test.redeem(form), "used before")
        signing.test.clock.advance(by: 3595)
        try Self.expectRefused(await signing.test.redeem(form), "used before")
    }

    private static func expectTooMany(_ reply: Reply) throws {
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "60")
        let error = try reply.tokenError
        #expect(error.error == "temporarily_unavailable")
        #expect(error.errorDescription?.contains("client assertions of this client") == true)
    }

    @Test func `the used assertions of one client leave room for those of others`() async throws {
        let test = try await TestServer { $0.usedAssertionLimit = 32 }
        let signing = try await Signing(test)
        let other = try await test.register("Daily", type: .service, redirectURIs: [], scope: "photos.read")
        try await test.change(other) { $0.keys = JSONWebKeySet(keys: [signing.key.publicKey]) }
        // A refused one takes no room.
        let form = signing.form(try signing.assertion())
        #expect(await test.redeem(form).status == .ok)
        try Self.expectRefused(await test.redeem(form), "used before")
        for _ in 0..<3 { #expect(try await signing.ask().status == .ok) }
        try Self.expectTooMany(try await signing.ask())
        let id = Claim.text(other.id.rawValue)
        #expect(try await signing.ask(["iss": id, "sub": id]).status == .ok)
        // A minute is the lifetime of the assertions, and an hour that by which the wall clock may be set back.
        test.clock.advance(by: 3800)
        #expect(try await signing.ask().status == .ok)
    }

    @Test func `clients that register themselves leave half of the room for used assertions`() async throws {
        let desk = try await RegistrationDesk(configure: { $0.usedAssertionLimit = 64 })
        let (one, two) = (try await Signing(desk), try await Signing(desk))
        #expect(try await one.authenticate().status == .ok)
        #expect(try await two.authenticate().status == .ok)
        for client in [one, two] { try Self.expectTooMany(try await client.authenticate()) }
        for number in 0..<15 {
            for client in [one, two] {
                #expect(try await client.authenticate(from: "198.51.100.\(number)").status == .ok)
            }
        }
        try Self.expectTooMany(try await one.authenticate(from: "203.0.113.1"))
        let service = try await Signing(desk.test)
        #expect(try await service.authenticate(from: "203.0.113.1").status == .ok)
    }

    // A `jti` is unique for its client only.
    @Test func `two clients may use the same jti`() async throws {
        let test = try await TestServer()
        let signing = try await Signing(test)
        var other = try await test.register("Daily", type: .service, redirectURIs: [], scope: "photos.read")
        other.keys = JSONWebKeySet(keys: [signing.key.publicKey])
        #expect(try await test.store.updateClient(other, logo: .keep) == .updated)
        #expect(try await signing.ask(["jti": .text("1")]).status == .ok)
        let id = Claim.text(other.id.rawValue)
        #expect(try await signing.ask(["jti": .text("1"), "iss": id, "sub": id]).status == .ok)
    }

    // No signature, an HMAC by a secret, an HMAC by the public key, and the key of another client.
    @Test func `an assertion that was not signed by the client's key is refused`() async throws {
        let signing = try await Signing(try await TestServer())
        let payload = Base64URL.encode(try JSONEncoder().encode(signing.claims()))
        for header in [
            #"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES384"}"#, #"{"typ":"JWT"}"#,
            #"{"alg":"ES256","jwk":{"kty":"EC"}}"#, #"{"alg":"ES256","typ":"at+jwt"}"#,
        ] {
            let forged = Base64URL.encode(header.utf8) + "." + payload + "."
            for text in [forged, forged + Base64URL.encode([UInt8](repeating: 1, count: 64))] {
                try Self.expectRefused(await signing.test.redeem(signing.form(text)))
            }
        }
        let stranger = try SigningKey.generate(.es256)
        let foreign = try stranger.sign(signing.claims(), type: .idToken)
        try Self.expectRefused(await signing.test.redeem(signing.form(foreign)))
        for text in ["x", "a.b.c", "..", String(repeating: "a", count: 20_000)] {
            try Self.expectRefused(await signing.test.redeem(signing.form(text)))
        }
        #expect(try await signing.ask().status == .ok)
    }

    // The right assertion type, and no other authentication beside it.
    @Test func `an assertion needs its type and excludes other authentication`() async throws {
        let signing = try await Signing(try await TestServer())
        let form = signing.form(try signing.assertion())
        try Self.expectRefused(await signing.test.redeem(form.setting("client_assertion_type", to: nil)))
        try Self.expectRefused(
            await signing.test.redeem(
                form.setting(
                    "client_assertion_type", to: "urn:ietf:params:oauth:client-assertion-type:saml2-bearer")))
        let twice = await signing.test.redeem(form.adding("client_secret", "x"))
        #expect(try twice.tokenError.error == "invalid_request")
        #expect(await signing.test.redeem(form).status == .ok)
    }

    // A client has one authentication method, whatever else the store contains.
    @Test func `a client with keys cannot authenticate with a secret`() async throws {
        let signing = try await Signing(try await TestServer())
        let secret = ClientSecret()
        _ = try await signing.test.store.addClientSecret(
            ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: signing.client.id, createdAt: signing.test.clock.now))
        let form = FormParameters(["grant_type": "client_credentials"])
        // RFC 6749 §5.2: only this request used HTTP authentication.
        let basic = await signing.test.redeem(form, fields: .basic(signing.client.id, secret))
        #expect(basic.status == .unauthorized)
        #expect(basic.fields[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
        #expect(try basic.tokenError.errorDescription?.contains("client_assertion") == true)
        let posted = form.adding("client_id", signing.client.id.rawValue)
        try Self.expectRefused(await signing.test.redeem(posted.adding("client_secret", secret.exposed)))
        try Self.expectRefused(await signing.test.redeem(posted))
        #expect(try await signing.ask().status == .ok)
    }

    @Test func `a client with secrets cannot authenticate with a key`() async throws {
        let signing = try await Signing(try await TestServer())
        var client = try #require(try await signing.test.store.client(signing.client.id))
        client.keys = nil
        #expect(try await signing.test.store.updateClient(client, logo: .keep) == .updated)
        try Self.expectRefused(try await signing.ask(), "client_secret")
    }

    // The same at the other endpoints with client authentication.
    @Test func `an assertion authenticates at revocation and introspection`() async throws {
        let signing = try await Signing(try await TestServer())
        let token = try await signing.ask().tokenResponse.accessToken.exposed
        func form() throws -> FormParameters {
            signing.form(try signing.assertion()).setting("grant_type", to: nil).adding("token", token)
        }
        let asked = await signing.test.post(try form(), to: .introspection)
        #expect(try asked.members["active"] as? Bool == true)
        let revoked = await signing.test.post(try form(), to: .revocation)
        #expect(try revoked.tokenError.error == "unsupported_token_type")
    }
}
