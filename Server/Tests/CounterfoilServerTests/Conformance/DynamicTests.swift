@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The assertions of the modules of `oidcc-dynamic-certification-test-plan`, under their names.
///
/// Each client registers itself by a request, as in the plan.
///
/// The plan cannot pass as a whole: `oidcc-discovery-endpoint-verification` of this plan requires the response types of
/// the implicit flow, and `oidcc-userinfo-rs256` and `oidcc-request-uri-signed-rs256` require signed UserInfo responses
/// and requests by reference. The server has none of them; the response of the registration shows it.
@Suite("OpenID conformance: dynamic")
struct DynamicConformanceTests {
    /// The metadata of the plan's client.
    private static func metadata(_ members: [String: Any] = [:]) -> [String: Any] {
        [
            "client_name": "Conformance", "grant_types": ["authorization_code"], "response_types": ["code"],
            "redirect_uris": [RelyingParty.callback], "token_endpoint_auth_method": "client_secret_basic",
            "contacts": ["suite@rp.example.net"],
        ].merging(members) { _, own in own }
    }

    private static func party(_ members: [String: Any] = [:]) async throws -> RelyingParty {
        try await RelyingParty(try await RegistrationDesk().registered(metadata(members)))
    }

    @Test func `oidcc-server`() async throws {
        let party = try await Self.party()
        let tokens = try await party.tokens()
        let nonce = try #require(Nonce(RelyingParty.nonce))
        _ = try await IssuedTokens(party.test).verified(tokens, for: party.client, nonce: nonce, algorithms: [.rs256])
    }

    // RFC 7592 §2.3: the suite deletes its client after each test.
    @Test func `UnregisterDynamicallyRegisteredClient`() async throws {
        let registrant = try await RegistrationDesk().registered(Self.metadata())
        #expect(try await registrant.delete().status == .noContent)
    }

    @Test func `oidcc-idtoken-rs256`() async throws {
        let party = try await Self.party(["id_token_signed_response_alg": "RS256"])
        let nonce = try #require(Nonce("n-0S6_WzA2Mj"))
        let tokens = try await party.tokens(with: ["nonce": nonce.exposed])
        let issued = try await IssuedTokens(party.test)
        let identity = try issued.verified(tokens, for: party.client, nonce: nonce, algorithms: [.rs256])
        #expect(identity.subject == party.test.alice.id.rawValue)
        #expect(throws: TokenRefusal.algorithmNotAllowed) {
            try issued.verified(tokens, for: party.client, nonce: nonce, algorithms: [.es256])
        }
    }

    // A client cannot register for an ID token without a signature.
    @Test func `oidcc-idtoken-unsigned`() async throws {
        let desk = try await RegistrationDesk()
        try await desk.refusal(of: Self.metadata(["id_token_signed_response_alg": "none"]))
    }

    // The server announces no signed UserInfo responses, and a client is registered without them (RFC 7591 §3.2.1).
    @Test func `oidcc-userinfo-rs256`() async throws {
        let party = try await Self.party()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        #expect(members["userinfo_signing_alg_values_supported"] == nil)
        let desk = try await RegistrationDesk()
        let client = try await desk.registered(Self.metadata(["userinfo_signed_response_alg": "RS256"]))
        #expect(client.members["userinfo_signed_response_alg"] == nil)
        let token = try await party.tokens().accessToken
        let reply = await party.test.send(
            .get, to: .userInfo,
            fields: [.authorization: "Bearer \(token.exposed)", .accept: "application/jwt"])
        #expect(try RelyingParty.members(of: reply)["sub"] as? String == party.test.alice.id.rawValue)
    }

    @Test func `oidcc-ensure-redirect-uri-in-authorization-request`() async throws {
        let party = try await Self.party(["redirect_uris": [RelyingParty.callback, "https://rp.example.net/other"]])
        let reply = try await Attempt(party.test, by: party.client, at: nil, for: "openid").firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        _ = try reply.problemPage
    }

    // MARK: - Redirect URIs

    private static func withQuery(_ sent: String) async throws -> Attempt {
        let party = try await party(["redirect_uris": [RelyingParty.callback + "?foo=bar"]])
        return Attempt(party.test, by: party.client, at: sent, for: "openid")
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

    @Test(arguments: ["#foobar", "#", "?foo=bar#foobar"])
    func `oidcc-redirect-uri-regfrag`(end: String) async throws {
        let desk = try await RegistrationDesk()
        try await desk.refusal(
            of: Self.metadata(["redirect_uris": [RelyingParty.callback + end]]), "invalid_redirect_uri")
    }

    // MARK: - What is registered and shown

    // The picture is fetched, encoded again and served by the server.
    @Test func `oidcc-registration-logo-uri`() async throws {
        let url = "https://rp.example.net/logo.png"
        let files = RegistrantFiles()
        await files.publish(try SampleImages.png(width: 64, height: 64), type: "image/png", at: url)
        let party = try await RelyingParty(
            try await RegistrationDesk(files: files).registered(Self.metadata(["logo_uri": url])))
        let page = try await party.attempt().consentPage()
        #expect(try #require(page.clientLogo).hasPrefix("/logos/"))
        #expect(await files.requests == [url])
    }

    @Test(arguments: [["policy_uri": "https://rp.example.net/policy", "tos_uri": "https://rp.example.net/terms"]])
    func `oidcc-registration-policy-uri, oidcc-registration-tos-uri`(members: [String: String]) async throws {
        let page = try await Self.party(members).attempt().consentPage()
        #expect(page.privacy == .init(address: "https://rp.example.net/policy", host: "rp.example.net"))
        #expect(page.terms == .init(address: "https://rp.example.net/terms", host: "rp.example.net"))
    }

    // MARK: - Keys of an application

    /// A relying party that authenticates with a key at its `jwks_uri` instead of a secret (`private_key_jwt`).
    private struct Signing {
        private static let url = "https://rp.example.net/jwks.json"

        let party: RelyingParty
        let files = RegistrantFiles()
        var key: SigningKey

        init() async throws {
            key = try SigningKey.generate(.rs256)
            let registrant = try await RegistrationDesk(files: files).registered(
                DynamicConformanceTests.metadata([
                    "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": Self.url,
                    "grant_types": ["authorization_code", "refresh_token"],
                ]))
            #expect(registrant.secret == nil)
            party = try await RelyingParty(registrant)
            await publish()
        }

        func publish() async {
            await files.publish(
                String(decoding: JSONWebKeySet(keys: [key.publicKey]).encoded(), as: UTF8.self), at: Self.url)
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

    @Test func `oidcc-registration-jwks-uri`() async throws {
        let signing = try await Signing()
        #expect(signing.party.client.authenticationMethods == ["private_key_jwt"])
        #expect(try await signing.redeem().tokenResponse.idToken != nil)
    }

    // RFC 7523 §3: the issuer identifier is an audience that a client may name.
    @Test func `oidcc-ensure-client-assertion-with-iss-aud-succeeds`() async throws {
        let signing = try await Signing()
        let reply = try await signing.redeem(audience: signing.party.test.issuer.rawValue)
        #expect(try reply.tokenResponse.idToken != nil)
    }

    // The server fetches the keys again when those it has do not verify an assertion.
    @Test func `oidcc-refresh-token-rp-key-rotation`() async throws {
        var signing = try await Signing()
        let tokens = try await signing.redeem(for: "openid offline_access", prompt: "consent").tokenResponse
        let form = FormParameters([
            "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        #expect(try await signing.party.test.redeem(try signing.signed(form)).tokenResponse.idToken != nil)
        let old = try signing.signed(form)
        signing.key = try SigningKey.generate(.es256)
        await signing.publish()
        signing.party.test.clock.advance(by: 60)
        #expect(try await signing.party.test.redeem(try signing.signed(form)).tokenResponse.idToken != nil)
        #expect(try await signing.party.test.redeem(old).tokenError.error == "invalid_client")
    }

    // MARK: - Names of people

    private static let sector = "https://rp.example.net/sector.json"

    // OpenID Connect Core §8.1
    @Test func `oidcc-registration-sector-uri`() async throws {
        let files = RegistrantFiles()
        await files.publish(#"["\#(RelyingParty.callback)", "https://other.example.net/cb"]"#, at: Self.sector)
        let desk = try await RegistrationDesk(files: files)
        let members: [String: Any] = ["subject_type": "pairwise", "sector_identifier_uri": Self.sector]
        let party = try await RelyingParty(try await desk.registered(Self.metadata(members)))
        let subject = try party.claims(try await party.tokens())["sub"] as? String
        #expect(subject?.isEmpty == false && subject != party.test.alice.id.rawValue)
    }

    @Test func `oidcc-registration-sector-bad`() async throws {
        let files = RegistrantFiles()
        await files.publish(#"["https://other.example.net/cb"]"#, at: Self.sector)
        let desk = try await RegistrationDesk(files: files)
        try await desk.refusal(of: Self.metadata(["sector_identifier_uri": Self.sector]))
    }

    // A client with a redirect URI at another host does not join the sector of another client.
    @Test func `a second host makes a client that a person registered alone in its sector`() async throws {
        let test = try await TestServer()
        var policy = ClientPolicy.standard(for: .native)
        policy.subjectType = .pairwise
        policy.requiresState = false
        func subject(_ name: String, _ redirectURIs: [String], at uri: String) async throws -> String {
            let client = try await test.register(name, at: redirectURIs, under: policy)
            let tokens = try await Attempt(test, by: client, at: uri, for: "openid").tokens()
            let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
            return try #require(claims["sub"] as? String)
        }
        let (one, two, other) = (
            "https://rp.example.net/one", "https://rp.example.net/two", "https://other.example.net/cb"
        )
        let known = try await subject("One", [one], at: one)
        #expect(try await subject("Two", [two, "https://rp.example.net/2"], at: two) == known)
        let alone = try await subject("Other", [two, other], at: two)
        #expect(alone != known)
        #expect(try await subject("Other", [two, other], at: other) == alone)
    }

    // MARK: - Keys of the server

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
