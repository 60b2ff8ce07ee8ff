import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Introspection at `/oauth2/introspect` (RFC 7662).
struct IntrospectionTests {
    private static let inactive = #"{"active":false}"#

    /// A sign-in of alice at Lightbox for an API.
    private struct World {
        let test: TestServer
        let api: TestAPI
        let tokens: TokenResponse

        init(_ test: TestServer, for scope: String = "photos.read photos.write") async throws {
            self.test = test
            api = try await test.addAPI()
            tokens = try await Attempt(test, for: scope).adding("resource", api.resource.resource.rawValue).tokens()
        }

        var token: String { tokens.accessToken.exposed }

        var grant: Grant { get async throws { try #require(try await test.store.grant(try grantID)) } }

        var grantID: GrantIdentifier {
            get throws {
                let claims = try IssuedTokens.parts(of: token).claims
                return try #require((claims["grant_id"] as? String).flatMap(GrantIdentifier.init))
            }
        }
    }

    // All members of RFC 7662 §2.2, for the API of the token only.
    @Test func `an API gets the details of a token for it`() async throws {
        let world = try await World(try await TestServer())
        let reply = await world.api.introspect(world.token)
        #expect(reply.status == .ok)
        #expect(reply.fields[.cacheControl] == "no-store")
        let members = try reply.members
        let now = Int(world.test.clock.now.timeIntervalSince1970)
        #expect(members["active"] as? Bool == true)
        #expect(members["scope"] as? String == "photos.read photos.write")
        #expect(members["client_id"] as? String == world.test.lightbox.id.rawValue)
        #expect(members["username"] as? String == "alice")
        #expect(members["token_type"] as? String == "Bearer")
        #expect(members["exp"] as? Int == now + 3600)
        #expect(members["iat"] as? Int == now)
        #expect(members["sub"] as? String == world.test.alice.id.rawValue)
        #expect(members["aud"] as? String == "https://photos.example.com")
        #expect(members["iss"] as? String == "https://id.example.com")
        #expect(members["auth_time"] as? Int == now)
        #expect(members["acr"] as? String == "urn:counterfoil:acr:password")
        #expect(members["amr"] as? [String] == ["pwd"])
        let claims = try IssuedTokens.parts(of: world.token).claims
        #expect(members["jti"] as? String == claims["jti"] as? String)
        #expect(members["grant_id"] == nil)
    }

    // client_secret_basic and client_secret_post.
    @Test func `an API may send its secret in the form`() async throws {
        let world = try await World(try await TestServer())
        let form = FormParameters([
            "token": world.token, "client_id": world.api.resource.clientID.rawValue,
            "client_secret": world.api.secret.exposed, "token_type_hint": "refresh_token",
        ])
        let reply = await world.test.post(form, to: .introspection)
        #expect(try reply.members["active"] as? Bool == true)
    }

    // A caller that does not authenticate learns nothing, whatever the request contains.
    @Test func `introspection requires authentication`() async throws {
        let world = try await World(try await TestServer())
        let (test, api) = (world.test, world.api)
        let unproved = FormParameters(["token": world.token, "client_id": test.lightbox.id.rawValue])
        let named = FormParameters(["token": world.token, "client_id": api.resource.clientID.rawValue])
        let replies = [
            await test.post(FormParameters(["token": world.token]), to: .introspection),
            await test.post(FormParameters(), to: .introspection),
            await test.post(unproved, to: .introspection),
            await test.post(named, to: .introspection),
            await test.post(named.adding("client_secret", ClientSecret().exposed), to: .introspection),
            await test.post(named, to: .introspection, fields: .basic(api.resource.clientID, ClientSecret())),
            await test.post(
                FormParameters(["token": world.token]), to: .introspection,
                fields: .basic(try #require(ClientIdentifier("api_unknown")), api.secret)),
            await test.post(
                FormParameters(["token": world.token]), to: .introspection,
                fields: [.authorization: "Bearer \(world.token)"]),
        ]
        for reply in replies {
            #expect(reply.status == .unauthorized)
            #expect(reply.fields[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
            #expect(try reply.tokenError.error == "invalid_client")
        }
    }

    // An unknown API and a wrong secret get the same answer.
    @Test func `an attacker does not learn which APIs exist`() async throws {
        let world = try await World(try await TestServer())
        let guess = ClientSecret()
        let known = await world.api.introspect(world.token, fields: .basic(world.api.resource.clientID, guess))
        let unknown = await world.api.introspect(
            world.token, fields: .basic(try #require(ClientIdentifier("api_unknown")), guess))
        #expect(try known.text == unknown.text)
    }

    // Tokens for other APIs are inactive.
    @Test func `an API sees only tokens that are for it`() async throws {
        let world = try await World(try await TestServer())
        let other = try await world.test.addAPI("https://prints.example.com")
        #expect(try await other.introspect(world.token).text == Self.inactive)
        let ofServer = try await Attempt(world.test, for: "openid").tokens().accessToken.exposed
        #expect(try await world.api.introspect(ofServer).text == Self.inactive)
    }

    // Of a token for several APIs, each sees its own scopes.
    @Test func `an API sees its own scopes and not those of other APIs`() async throws {
        let test = try await TestServer()
        let reading = try await test.addAPI("https://read.example.com", scope: "photos.read")
        let writing = try await test.addAPI("https://write.example.com", scope: "photos.write")
        let token = try await Attempt(test, for: "openid photos.read photos.write")
            .adding("resource", "https://read.example.com").adding("resource", "https://write.example.com")
            .tokens().accessToken.exposed
        for (api, scope) in [(reading, "photos.read"), (writing, "photos.write")] {
            let members = try await api.introspect(token).members
            #expect(members["scope"] as? String == scope)
            #expect(members["aud"] as? String == api.resource.resource.rawValue)
        }
    }

    // Every invalid token gets a response with the same bytes.
    @Test func `anything but a valid access token is inactive`() async throws {
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer())
        let api = try await stayed.test.addAPI("https://id.example.com")
        #expect(try await api.sees(stayed.tokens.accessToken.exposed))
        let genuine = stayed.tokens.accessToken.exposed
        for token in [
            try #require(stayed.tokens.refreshToken).exposed, try #require(stayed.tokens.idToken).exposed, "garbage",
            "e30.e30.e30", "", " ", genuine + "A", String(genuine.dropLast(4)) + "AAAA", "é",
            String(repeating: "x", count: 20_000),
        ] where !token.isEmpty {
            #expect(try await api.introspect(token).text == Self.inactive)
        }
        let empty = await api.introspect("")
        #expect(empty.status == .badRequest)
        #expect(try empty.tokenError.error == "invalid_request")
    }

    // Expiry is by the wall clock, which the readers of tokens share.
    @Test func `an expired token is inactive`() async throws {
        let world = try await World(try await TestServer())
        world.test.clock.jump(by: 3599)
        #expect(try await world.api.sees(world.token))
        world.test.clock.jump(by: 1)
        #expect(try await world.api.introspect(world.token).text == Self.inactive)
        // A clock that was set back does not make a token one of the future.
        world.test.clock.jump(by: -7200)
        #expect(try await world.api.sees(world.token))
    }

    /// The events that end a token before it expires.
    enum End: CaseIterable {
        case revoked, codeReplay, accountOff, clientGone, apiGone
    }

    // Immediately, not when the token expires.
    @Test(arguments: End.allCases)
    func `a token becomes inactive as soon as its grant, user, client or API ends`(end: End) async throws {
        let store = TestStore()
        let world = try await World(try await TestServer(store: store))
        #expect(try await world.api.sees(world.token))
        switch end {
        case .revoked:
            try await store.revokeGrant(try world.grantID, because: .user, at: world.test.clock.now)
        case .codeReplay:
            try await store.revokeGrant(try world.grantID, because: .codeReplay, at: world.test.clock.now)
        case .accountOff: try await store.disableUser(world.test.alice.id, at: world.test.clock.now, recording: [])
        case .clientGone: try await store.removeClient(world.test.lightbox.id)
        case .apiGone:
            try await store.removeResource(world.api.resource.resource)
            return #expect(await world.api.introspect(world.token).status == .unauthorized)
        }
        #expect(try await world.api.introspect(world.token).text == Self.inactive)
    }

    // After a user revokes some scopes, an older token keeps the others.
    @Test func `a revoked scope is not in the response any more`() async throws {
        let world = try await World(try await TestServer())
        _ = try await world.test.store.narrowConsent(
            of: world.test.alice.id, to: world.test.lightbox.id, keeping: try Scope(parsing: "photos.read"),
            at: world.test.clock.now)
        let members = try await world.api.introspect(world.token).members
        let held = try await world.grant.scope.intersection(try Scope(parsing: "photos.read photos.write"))
        #expect(members["scope"] as? String == (held.isEmpty ? nil : held.description))
        #expect(!held.contains(try #require(Scope.Token("photos.write"))))
    }

    // One read of the store for any token.
    @Test func `a request costs one read of the grant, and looks up the API in the cache`() async throws {
        let store = TestStore()
        let world = try await World(try await TestServer(store: store))
        let before = (store.calls(of: .grantFacts), store.calls(of: .client), store.calls(of: .resource))
        for number in 1...3 {
            #expect(try await world.api.sees(world.token))
            #expect(store.calls(of: .grantFacts) == before.0 + number)
            #expect(store.calls(of: .client) == before.1)
            #expect(store.calls(of: .resource) == before.2 + 1)
        }
    }

    // A confidential client may introspect its own tokens and no others.
    @Test func `a client introspects the tokens that were issued to it`() async throws {
        let world = try await World(try await TestServer())
        let service = try await world.test.addService()
        let own = try await service.token().accessToken.exposed
        let form = FormParameters(["token": own])
        let members = try await world.test.post(form, to: .introspection, fields: service.fields).members
        #expect(members["active"] as? Bool == true)
        #expect(members["sub"] as? String == service.client.id.rawValue)
        #expect(members["username"] == nil)
        #expect(members["auth_time"] == nil)
        let foreign = await world.test.post(
            FormParameters(["token": world.token]), to: .introspection, fields: service.fields)
        #expect(try foreign.text == Self.inactive)
    }

    // A token from the client credentials grant ends with its client.
    @Test func `the token of a service is inactive without the service`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        let service = try await test.addService()
        let token = try await service.token(["resource": "https://photos.example.com"]).accessToken.exposed
        #expect(try await api.introspect(token).members["client_id"] as? String == service.client.id.rawValue)
        try await test.store.removeClient(service.client.id)
        #expect(try await api.introspect(token).text == Self.inactive)
    }

    // POST only.
    @Test func `introspection by GET is refused`() async throws {
        let world = try await World(try await TestServer())
        let reply = await world.test.send(
            .get, to: .introspection, query: "token=\(world.token)", fields: world.api.fields)
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "POST")
    }

    // RFC 9701 §4 and §5: signed on request, in a form that cannot be used as a token.
    @Test(arguments: [
        "application/token-introspection+jwt", "application/json;q=0.5, application/token-introspection+jwt",
        "Application/Token-Introspection+JWT; q=1",
    ])
    func `a signed response is sent on request`(accept: String) async throws {
        let world = try await World(try await TestServer())
        var fields = world.api.fields
        fields[.accept] = accept
        for (token, isActive) in [(world.token, true), ("garbage", false)] {
            let reply = await world.api.introspect(token, fields: fields)
            guard case .signed(let text, let type) = reply.content else {
                return #expect(Bool(false), "the answer is signed")
            }
            #expect(type == .introspectionResponse)
            let parts = try IssuedTokens.parts(of: text)
            #expect(parts.header["typ"] as? String == "token-introspection+jwt")
            #expect(parts.header["alg"] as? String == "ES256")
            #expect(parts.claims["iss"] as? String == "https://id.example.com")
            #expect(parts.claims["aud"] as? String == world.api.resource.clientID.rawValue)
            #expect(parts.claims["iat"] as? Int == Int(world.test.clock.now.timeIntervalSince1970))
            #expect(parts.claims["sub"] == nil)
            #expect(parts.claims["exp"] == nil)
            let answer = try #require(parts.claims["token_introspection"] as? [String: Any])
            #expect(answer["active"] as? Bool == isActive)
            #expect(isActive || answer.count == 1)
            // It is signed by a key of this server, and is still not accepted as an access token.
            #expect(try await world.api.introspect(text).text == Self.inactive)
        }
    }

    @Test(arguments: ["application/json", "*/*", "application/token-introspection+jwt;q=0", "application/*"])
    func `the response is JSON unless the request accepts a JWT explicitly`(accept: String) async throws {
        let world = try await World(try await TestServer())
        var fields = world.api.fields
        fields[.accept] = accept
        #expect(try await world.api.introspect(world.token, fields: fields).members["active"] as? Bool == true)
    }

    // An API must not be able to link a pairwise subject identifier through other members.
    @Test func `beside a pairwise subject there is no user name`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        var policy = test.lightbox.policy
        policy.subjectType = .pairwise
        try await test.setPolicy(policy, of: test.lightbox.id)
        let token = try await Attempt(test).adding("resource", "https://photos.example.com").tokens().accessToken
        let members = try await api.introspect(token.exposed).members
        #expect(members["active"] as? Bool == true)
        #expect(members["sub"] as? String != test.alice.id.rawValue)
        #expect(members["username"] == nil)
    }
}
