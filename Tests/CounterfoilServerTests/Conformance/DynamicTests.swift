import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The assertions of the modules of `oidcc-dynamic-certification-test-plan`, under their names.
///
/// Clients are registered at the console, where a module of the plan registers them by a request.
@Suite("OpenID conformance: dynamic")
struct DynamicConformanceTests {
    // B-19
    @Test func `oidcc-idtoken-rs256`() async throws {
        let party = try await RelyingParty(idTokenAlgorithm: .rs256)
        let nonce = try #require(Nonce("n-0S6_WzA2Mj"))
        let tokens = try await party.tokens(with: ["nonce": nonce.exposed])
        let issued = try await IssuedTokens(party.test)
        let identity = try issued.verified(tokens, for: party.client, nonce: nonce, algorithms: [.rs256])
        #expect(identity.subject == party.test.alice.id.rawValue)
        #expect(throws: TokenRefusal.algorithmNotAllowed) {
            try issued.verified(tokens, for: party.client, nonce: nonce, algorithms: [.es256])
        }
    }

    // The server announces no signed UserInfo responses, and sends none whatever is requested.
    @Test func `oidcc-userinfo-rs256`() async throws {
        let party = try await RelyingParty()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        #expect(members["userinfo_signing_alg_values_supported"] == nil)
        let token = try await party.tokens().accessToken
        let reply = await party.test.send(
            .get, to: .userInfo,
            fields: [.authorization: "Bearer \(token.exposed)", .accept: "application/jwt"])
        #expect(try RelyingParty.members(of: reply)["sub"] as? String == party.test.alice.id.rawValue)
    }

    // R277
    @Test func `oidcc-ensure-redirect-uri-in-authorization-request`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Two", type: .web, redirectURIs: [RelyingParty.callback, "https://rp.example.net/other"], scope: "openid")
        let reply = try await Attempt(test, by: client, at: nil, for: "openid").firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        _ = try reply.problemPage
    }

    // MARK: - Redirect URIs

    private static func withQuery(_ sent: String) async throws -> Attempt {
        let test = try await TestServer()
        let client = try await test.register(
            "Query", type: .web, redirectURIs: [RelyingParty.callback + "?foo=bar"], scope: "openid")
        return Attempt(test, by: client, at: sent, for: "openid")
    }

    // The query of the URI is kept.
    @Test func `oidcc-redirect-uri-query-OK`() async throws {
        let attempt = try await Self.withQuery(RelyingParty.callback + "?foo=bar")
        let destination = try await attempt.authorize().destination
        #expect(destination.hasPrefix(RelyingParty.callback + "?foo=bar&code="))
    }

    @Test(arguments: ["?foo=baz", "?foo=", "?Foo=bar", ""])
    func `oidcc-redirect-uri-query-mismatch`(query: String) async throws {
        let reply = try await Self.withQuery(RelyingParty.callback + query).firstReply()
        #expect(reply.location == nil)
        #expect(try reply.problemPage.status == 400)
    }

    @Test(arguments: ["?foo=bar&bar=foo", "?foo=bar&foo=bar", "?bar=foo&foo=bar", "?foo=bar&"])
    func `oidcc-redirect-uri-query-added`(query: String) async throws {
        let reply = try await Self.withQuery(RelyingParty.callback + query).firstReply()
        #expect(reply.location == nil)
        #expect(try reply.problemPage.status == 400)
    }

    // R151
    @Test(arguments: ["#foobar", "#", "?foo=bar#foobar"])
    func `oidcc-redirect-uri-regfrag`(end: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let reply = try await developer.register(
            Developer.form(type: "web", redirectURIs: RelyingParty.callback + end))
        #expect(reply.status == .badRequest)
        #expect(try reply.applicationFormPage.problems.compactMap(\.field) == ["redirect_uris"])
        #expect(try await developer.browser.open("/apps").applicationsPage.applications.isEmpty)
    }

    // MARK: - What is registered and shown

    /// The consent page of a client that was registered at the console, with more fields in the form.
    private static func consent(_ fields: KeyValuePairs<String, String>, logo: [UInt8]? = nil) async throws
        -> ConsentPage
    {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        var form = Developer.form(redirectURIs: "http://127.0.0.1/callback", scopes: ["openid"])
        for (name, value) in fields { form.append(name, value) }
        let client = try await developer.registered(form)
        if let logo {
            let page = try await developer.browser.open("/apps/\(client.id)/logo").logoPage
            let upload = ScriptedUserAgent.Upload(
                FormParameters(["ticket": page.ticket, "revision": String(page.revision), "decision": "replace"]),
                fileField: "logo", file: logo)
            _ = try await developer.browser.submit(upload, to: page.action).applicationPage
        }
        return try await Attempt(test, by: client, for: "openid").consentPage()
    }

    // SEC-31
    @Test func `oidcc-registration-logo-uri`() async throws {
        let page = try await Self.consent([:], logo: try Pictures.png(width: 64, height: 64))
        #expect(try #require(page.applicationLogo).hasPrefix("/logos/"))
    }

    @Test func `oidcc-registration-policy-uri`() async throws {
        let page = try await Self.consent(["policy_uri": "https://rp.example.net/policy"])
        #expect(page.privacy == .init(address: "https://rp.example.net/policy", host: "rp.example.net"))
    }

    @Test func `oidcc-registration-tos-uri`() async throws {
        let page = try await Self.consent(["tos_uri": "https://rp.example.net/terms"])
        #expect(page.terms == .init(address: "https://rp.example.net/terms", host: "rp.example.net"))
    }

    // MARK: - Keys of an application

    /// A relying party that authenticates with a key instead of a secret (`private_key_jwt`).
    private struct Signing {
        let party: RelyingParty
        var key: SigningKey

        init() async throws {
            party = try await RelyingParty()
            key = try SigningKey.generate(.rs256)
            try await publish()
        }

        func publish() async throws {
            var client = try #require(try await party.test.store.client(party.client.id))
            client.keys = JSONWebKeySet(keys: [key.publicKey])
            #expect(try await party.test.store.updateClient(client, logo: .keep) == .updated)
        }

        /// The token request with an assertion that is signed now.
        func signed(_ form: FormParameters, audience: String? = nil) throws -> FormParameters {
            let now = Int(party.test.clock.wall.timeIntervalSince1970)
            let claims = AssertionClaims(
                iss: party.client.id.rawValue, sub: party.client.id.rawValue,
                aud: audience ?? party.test.issuer.endpoint("/oauth2/token"), exp: now + 60, iat: now,
                jti: Base64URL.encode(RandomBytes().bytes(16)))
            return form.adding("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                .adding("client_assertion", try key.sign(claims, type: .idToken))
        }

        func redeem(audience: String? = nil, for scope: String = "openid", prompt: String? = nil) async throws -> Reply
        {
            let attempt = party.attempt(for: scope, with: ["prompt": prompt])
            let form = party.exchange(try await attempt.authorize().code, of: attempt)
            return await party.test.redeem(try signed(form, audience: audience))
        }
    }

    private struct AssertionClaims: Encodable {
        let iss, sub, aud: String
        let exp, iat: Int
        let jti: String
    }

    // The keys themselves are registered, not the URL of a document that could change.
    @Test func `oidcc-registration-jwks-uri`() async throws {
        let key = try SigningKey.generate(.es256)
        let document = String(decoding: JSONWebKeySet(keys: [key.publicKey]).encoded(), as: UTF8.self)
        var developer = try await Developer("dora", of: try await TestServer())
        let form = Developer.form(type: "web", redirectURIs: RelyingParty.callback).adding("jwks", document)
        let client = try await developer.registered(form)
        #expect(client.keys?.keys.map(\.id) == [key.publicKey.id])
        #expect(client.authenticationMethods == ["private_key_jwt"])
        #expect(try await Signing().redeem().tokenResponse.idToken != nil)
    }

    // RFC 7523 §3: the issuer identifier is an audience that a client may name.
    @Test func `oidcc-ensure-client-assertion-with-iss-aud-succeeds`() async throws {
        let signing = try await Signing()
        let reply = try await signing.redeem(audience: signing.party.test.issuer.rawValue)
        #expect(try reply.tokenResponse.idToken != nil)
    }

    @Test func `oidcc-refresh-token-rp-key-rotation`() async throws {
        var signing = try await Signing()
        let tokens = try await signing.redeem(for: "openid offline_access", prompt: "consent").tokenResponse
        let form = FormParameters([
            "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let before = try signing.signed(form)
        #expect(try await signing.party.test.redeem(before).tokenResponse.idToken != nil)
        let old = try signing.signed(form)
        signing.key = try SigningKey.generate(.es256)
        try await signing.publish()
        #expect(try await signing.party.test.redeem(old).tokenError.error == "invalid_client")
        #expect(try await signing.party.test.redeem(try signing.signed(form)).tokenResponse.idToken != nil)
    }

    // MARK: - Names of people

    private static func pairwise(_ name: String, _ redirectURIs: [String], at test: TestServer) async throws
        -> RegisteredClient
    {
        var policy = ClientPolicy.standard(for: .native)
        policy.subjectType = .pairwise
        policy.requiresState = false
        return try await test.register(name, at: redirectURIs, under: policy)
    }

    private static func subject(_ client: RegisteredClient, at address: String, _ test: TestServer) async throws
        -> String
    {
        let tokens = try await Attempt(test, by: client, at: address, for: "openid").tokens()
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        return try #require(claims["sub"] as? String)
    }

    // The host of its redirect URIs is the sector of a client.
    @Test func `oidcc-registration-sector-uri`() async throws {
        let test = try await TestServer()
        let one = try await Self.pairwise("One", ["https://rp.example.net/one"], at: test)
        let two = try await Self.pairwise("Two", ["https://rp.example.net/two", "https://rp.example.net/2"], at: test)
        let first = try await Self.subject(one, at: "https://rp.example.net/one", test)
        #expect(try await Self.subject(two, at: "https://rp.example.net/two", test) == first)
        #expect(first != test.alice.id.rawValue)
    }

    // A client with a redirect URI at another host does not join the sector of another client.
    @Test func `oidcc-registration-sector-bad`() async throws {
        let test = try await TestServer()
        let honest = try await Self.pairwise("Honest", ["https://rp.example.net/one"], at: test)
        let other = try await Self.pairwise(
            "Other", ["https://rp.example.net/two", "https://other.example.net/cb"], at: test)
        let known = try await Self.subject(honest, at: "https://rp.example.net/one", test)
        let names = [
            try await Self.subject(other, at: "https://rp.example.net/two", test),
            try await Self.subject(other, at: "https://other.example.net/cb", test),
        ]
        #expect(!names.contains(known))
        #expect(names[0] == names[1])
    }

    // MARK: - Keys of the server

    // R291
    @Test func `oidcc-server-rotate-keys`() async throws {
        let party = try await RelyingParty()
        func keys() async throws -> Set<String> {
            Set(try JSONWebKeySet(parsing: try await party.test.send(.get, to: .keySet).json).keys.map(\.id.rawValue))
        }
        let before = try await keys()
        let earlier = try await party.tokens(with: ["nonce": "n-1"])
        let serverKey = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
        let new = try #require(
            try await KeyRotation(party.test.store, serverKey: serverKey)
                .rotate(.rs256, .atOnce, now: party.test.clock.now))
        party.test.clock.advance(by: KeyRing.refreshInterval)
        let after = try await keys()
        #expect(after == before.union([new.id.rawValue]))
        let token = try #require(try await party.tokens().idToken).exposed
        #expect(try IssuedTokens.parts(of: token).header["kid"] as? String == new.id.rawValue)
        // Signatures of the old key stay valid.
        let nonce = try #require(Nonce("n-1"))
        _ = try await IssuedTokens(party.test)
            .verified(earlier, for: party.client, nonce: nonce, algorithms: [.rs256])
    }

    // MARK: - Requests by reference

    // SEC-31
    @Test(arguments: [
        "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
        "oidcc-request-uri-signed-rs256-supported-correctly-or-rejected-as-unsupported",
    ])
    func `oidcc-request-uri-unsigned, -signed-rs256`(module: String) async throws {
        let party = try await RelyingParty()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        #expect(members["request_uri_parameter_supported"] as? Bool == false)
        let address = "https://rp.example.net/requests/\(module)#x"
        #expect(try await party.attempt(with: ["request_uri": address]).error().code == .requestURINotSupported)
    }
}
