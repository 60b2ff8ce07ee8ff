import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// OpenID's `nonce` instead of PKCE, which only clients that authenticate may use (RFC 9700 §2.1.1).
struct NonceInsteadOfPKCETests {
    /// Redeems a code without a verifier.
    private static func redeem(
        _ code: AuthorizationCode, of attempt: Attempt, by party: RelyingParty
    ) async -> Reply {
        let form = attempt.exchange(code).setting("code_verifier", to: nil)
        return await party.test.redeem(form, fields: [.authorization: party.basic])
    }

    private static func policy(_ pkce: PKCEPolicy) -> ClientPolicy {
        var policy = ClientPolicy.standard(for: .web)
        policy.pkce = pkce
        return policy
    }

    // The default of web clients.
    @Test func `a web client gets tokens with a nonce and without a challenge`() async throws {
        let party = try await RelyingParty()
        #expect(party.client.policy.pkce == .s256OrNonce)
        let attempt = party.attempt()
        let reply = await Self.redeem(try await attempt.authorize().code, of: attempt, by: party)
        #expect(try party.claims(try reply.tokenResponse)["nonce"] as? String == RelyingParty.nonce)
        // The policy provides for it, so it is no exception.
        #expect(try await party.test.store.pkceExceptionUse(of: party.client.id) == nil)
        #expect(!party.test.log.lines.contains { $0.contains("exemption") })
    }

    // PKCE and nonce together are still accepted, and the challenge is enforced.
    @Test func `a web client that sends both must send the verifier`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt(usesPKCE: true)
        let code = try await attempt.authorize().code
        #expect(try await Self.redeem(code, of: attempt, by: party).tokenError.error == "invalid_grant")
        #expect(try await party.redeem(code, of: attempt).tokenResponse.isBearer)
    }

    @Test(
        arguments: [
            (nil, "openid", "code_challenge and nonce are missing"),
            ("", "openid", "code_challenge and nonce are missing"),
            ("n-0S6_WzA2Mj", "profile", "code_challenge is missing, and nonce has no effect without the scope openid"),
            ("n-0S6_WzA2Mj", nil, "code_challenge is missing, and nonce has no effect without the scope openid"),
        ] as [(String?, String?, String)])
    func `a web client with neither gets no code`(nonce: String?, scope: String?, begin: String) async throws {
        let party = try await RelyingParty()
        let error = try await party.attempt(with: ["nonce": nonce]).with("scope", scope).error()
        #expect(error.code == .invalidRequest)
        #expect(
            error.description
                == "\(begin): this client must use PKCE (S256) or the scope openid with a nonce; "
                + "this is the setting PKCE in its registration (app edit --pkce)")
    }

    @Test func `a web client that cannot request openid is not told to send a nonce`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Archive", type: .web, redirectURIs: ["https://archive.example/cb"], scope: "photos.read")
        let error = try await Attempt(test, by: client, at: "https://archive.example/cb")
            .with("code_challenge", nil).with("code_challenge_method", nil).error()
        #expect(error.description?.hasPrefix("code_challenge is missing: this client must use PKCE (S256); ") == true)
    }

    // Whatever the store says, a client that does not authenticate must use PKCE.
    @Test(arguments: [ClientType.native, .singlePage])
    func `a public client cannot replace PKCE by a nonce`(type: ClientType) async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Darkroom", type: type, redirectURIs: [address])
        let attempt = Attempt(test, by: client, at: address, for: "openid").with("nonce", RelyingParty.nonce)
            .with("code_challenge", nil).with("code_challenge_method", nil)
        for pkce in [PKCEPolicy.s256, .s256OrNonce] {
            try await test.setPolicy(ClientPolicy(pkce: pkce, requiresState: false), of: client.id)
            let error = try await attempt.error()
            #expect(error.code == .invalidRequest)
            #expect(error.description?.hasPrefix("code_challenge is missing: this client must use PKCE (S256)") == true)
        }
    }

    @Test func `a web client under the policy s256 needs PKCE`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let code = try await attempt.authorize().code
        try await party.test.setPolicy(Self.policy(.s256), of: party.client.id)
        #expect(try await party.attempt().error().code == .invalidRequest)
        // The policy counts that holds at the redemption.
        #expect(try await Self.redeem(code, of: attempt, by: party).tokenError.error == "invalid_grant")
    }

    // RFC 9700 §4.8.2: the client uses PKCE, so an attacker has removed the challenge from its request.
    @Test func `a nonce does not let an attacker remove the challenge`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(form.pairs.contains { $0.name == "code_verifier" })
        let reply = await party.test.redeem(form, fields: [.authorization: party.basic])
        #expect(try reply.tokenError.error == "invalid_grant")
    }

    @Test func `a code with a nonce needs the authentication of its client`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let form = attempt.exchange(try await attempt.authorize().code).setting("code_verifier", to: nil)
        #expect(try await party.test.redeem(form).tokenError.error == "invalid_client")
        let wrong = "Basic " + Data("\(party.client.id.rawValue):wrong".utf8).base64EncodedString()
        let reply = await party.test.redeem(form, fields: [.authorization: wrong])
        #expect(try reply.tokenError.error == "invalid_client")
        #expect(
            try await party.test.redeem(form, fields: [.authorization: party.basic]).tokenResponse.isBearer)
    }

    // An exemption that was changed to s256-or-nonce covers only codes with a nonce.
    @Test func `a code without a challenge or nonce ends with the exemption`() async throws {
        let party = try await RelyingParty()
        let exempt = PKCEPolicy.exemptUntil(CalendarDay(of: party.test.clock.now))
        try await party.test.setPolicy(Self.policy(exempt), of: party.client.id)
        let attempt = party.attempt(with: ["nonce": nil])
        let code = try await attempt.authorize().code
        try await party.test.setPolicy(Self.policy(.s256OrNonce), of: party.client.id)
        #expect(try await Self.redeem(code, of: attempt, by: party).tokenError.error == "invalid_grant")
    }

    // MARK: - Code injection (RFC 9700 §4.5)

    // An attacker puts a stolen code of alice into a session of their own at the client.
    @Test func `with PKCE the server refuses a code that was injected into another session`() async throws {
        let party = try await RelyingParty()
        let victim = party.attempt(usesPKCE: true, with: ["nonce": "nonce-of-alice"])
        let stolen = try await victim.authorize().code
        let attacker = party.attempt(usesPKCE: true, with: ["nonce": "nonce-of-mallory"])
        #expect(try await party.redeem(stolen, of: attacker).tokenError.error == "invalid_grant")
    }

    // Without PKCE the server cannot notice the injection; the client does, by the nonce.
    @Test func `without PKCE the client refuses a code that was injected, because its nonce is another`() async throws {
        let party = try await RelyingParty()
        let victim = party.attempt(with: ["nonce": "nonce-of-alice"])
        let stolen = try await victim.authorize().code
        let attacker = party.attempt(with: ["nonce": "nonce-of-mallory"])
        let tokens = try await Self.redeem(stolen, of: attacker, by: party).tokenResponse
        let verifier = IDTokenVerifier(
            issuer: party.test.issuer, clientID: party.client.id, algorithms: [.rs256])
        let token = try #require(tokens.idToken)
        let keys = try await IssuedTokens(party.test).keys
        func verify(_ nonce: String) throws -> VerifiedIDToken {
            try verifier.verify(
                token, keys: keys, request: .init(nonce: try #require(Nonce(nonce))),
                accessToken: tokens.accessToken, at: party.test.clock.now)
        }
        #expect(throws: TokenRefusal.wrongNonce) { try verify("nonce-of-mallory") }
        #expect(try verify("nonce-of-alice").subject.isEmpty == false)
    }

    // The secret keeps other clients from redeeming a stolen code, in both modes.
    @Test(arguments: [true, false])
    func `another client cannot redeem a stolen code`(withChallenge: Bool) async throws {
        let party = try await RelyingParty()
        let secret = ClientSecret()
        let other = try await party.test.register(
            "Mallory", type: .web, at: ["https://mallory.example/cb"], under: .standard(for: .web), secret: secret)
        let attempt = party.attempt(usesPKCE: withChallenge)
        let form = attempt.exchange(try await attempt.authorize().code)
            .setting("client_id", to: other.id.rawValue)
            .setting("code_verifier", to: withChallenge ? attempt.verifier.exposed : nil)
        let basic = "Basic " + Data("\(other.id.rawValue):\(secret.exposed)".utf8).base64EncodedString()
        let reply = await party.test.redeem(form, fields: [.authorization: basic])
        #expect(try reply.tokenError.error == "invalid_grant")
    }
}
