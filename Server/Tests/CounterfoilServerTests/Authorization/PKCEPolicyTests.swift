import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Exemptions from PKCE that an administrator grants to clients older than PKCE, and their limits.
struct PKCEPolicyTests {
    private static let challengeMissing =
        "code_challenge is missing: this client must use PKCE (S256); "
        + "this is the setting PKCE in its registration (app edit --pkce)"
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    private static func day(_ test: TestServer, later days: Double) -> CalendarDay {
        CalendarDay(of: test.clock.now.addingTimeInterval(days * 86_400))
    }

    private static func client(_ test: TestServer, _ pkce: PKCEPolicy) async throws -> RegisteredClient {
        try await test.register("Darkroom", under: ClientPolicy(pkce: pkce, requiresState: false))
    }

    /// A request whose challenge is the verifier itself.
    private static func plain(_ test: TestServer, _ client: RegisteredClient, named: Bool = true) throws -> Attempt {
        let verifier = try #require(CodeVerifier(verifier))
        return Attempt(test, by: client, verifier: verifier)
            .with("code_challenge", verifier.exposed).with("code_challenge_method", named ? "plain" : nil)
    }

    private static func bare(_ test: TestServer, _ client: RegisteredClient) -> Attempt {
        Attempt(test, by: client).with("code_challenge", nil).with("code_challenge_method", nil)
    }

    private static func exceptions(_ test: TestServer) -> [String] {
        test.log.lines.filter { $0.hasPrefix("notice issued code without S256") && $0.contains("app_darkroom") }
    }

    // Without an exemption, every other challenge method is refused with the same error.
    @Test func `without an exemption only S256 is accepted`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .s256)
        let named = try await Self.plain(test, client).error()
        #expect(named.code == .invalidRequest)
        #expect(named.description == "the only code_challenge_method of this server is S256")
        let unnamed = try await Self.plain(test, client, named: false).error()
        #expect(unnamed.code == .invalidRequest)
        #expect(unnamed.description == "code_challenge_method is missing; it must be S256")
        #expect(try await Self.bare(test, client).error().description == Self.challengeMissing)
        #expect(try await Attempt(test, by: client).tokens().isBearer)
        #expect(Self.exceptions(test).isEmpty)
        #expect(try await test.store.pkceExceptionUse(of: client.id) == nil)
    }

    // RFC 7636 §4.3: also when the method is absent, which means plain.
    @Test(arguments: [true, false])
    func `a client without SHA-256 may send its verifier as the challenge`(named: Bool) async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .s256OrPlain)
        let attempt = try Self.plain(test, client, named: named)
        let code = try await attempt.authorize().code
        let form = attempt.exchange(code)
        let wrong = form.setting("code_verifier", to: CodeVerifier().exposed)
        #expect(try await test.redeem(wrong).tokenError.error == "invalid_grant")
        #expect(try await test.redeem(form.setting("code_verifier", to: nil)).tokenError.error == "invalid_grant")
        #expect(try await test.redeem(form).tokenResponse.isBearer)
        #expect(try await Attempt(test, by: client).tokens().isBearer)
        // The description names every method that this client may use.
        let missing = try await Self.bare(test, client).error().description
        #expect(missing == Self.challengeMissing.replacing("(S256)", with: "(S256 or plain)"))
    }

    // A plain challenge is the verifier itself, so only its SHA-256 digest is stored.
    @Test func `a plain challenge is never stored in clear text`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .s256OrPlain)
        let code = try await Self.plain(test, client).authorize().code
        let kept = try #require(try await test.store.code(ArtefactDigest(of: code))).code.codeChallenge
        let verifier = try #require(CodeVerifier(Self.verifier))
        #expect(kept == CodeChallenge(of: verifier))
        #expect(kept?.rawValue != Self.verifier)
        for line in test.log.lines { #expect(!line.contains(Self.verifier)) }
    }

    // RFC 7636 §4.1: a plain challenge has the syntax of a verifier.
    @Test(arguments: [
        String(repeating: "a", count: 42), String(repeating: "a", count: 129), String(repeating: "a", count: 42) + "=",
        String(repeating: "a", count: 42) + "+", String(repeating: "é", count: 43),
    ])
    func `a plain challenge that no verifier could match is refused`(challenge: String) async throws {
        let test = try await TestServer()
        let attempt = try Self.plain(test, try await Self.client(test, .s256OrPlain))
        #expect(try await attempt.with("code_challenge", challenge).error().code == .invalidRequest)
    }

    // An exemption allows no other method.
    @Test(arguments: ["PLAIN", "s256", "S512", "plain "])
    func `an exemption allows no other method`(method: String) async throws {
        let test = try await TestServer()
        let attempt = try Self.plain(test, try await Self.client(test, .s256OrPlain))
        #expect(try await attempt.with("code_challenge_method", method).error().code == .invalidRequest)
    }

    // The last day is included.
    @Test(arguments: [0.0, 1, 365])
    func `an exempt client gets a token without a challenge`(days: Double) async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .exemptUntil(Self.day(test, later: days)))
        let attempt = Self.bare(test, client)
        let form = attempt.exchange(try await attempt.authorize().code).setting("code_verifier", to: nil)
        #expect(try await test.redeem(form).tokenResponse.isBearer)
        // An exempt client may still send a challenge, and then must meet it.
        #expect(try await Attempt(test, by: client).tokens().isBearer)
        #expect(try await Self.plain(test, client).error().code == .invalidRequest)
    }

    // An exemption expires.
    @Test func `an exemption ends after its last day`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .exemptUntil(Self.day(test, later: 1)))
        let attempt = Self.bare(test, client)
        #expect(try await attempt.authorize().code.exposed.isEmpty == false)
        test.clock.advance(by: 2 * 86_400)
        let error = try await attempt.error()
        #expect(error.code == .invalidRequest)
        #expect(error.description == Self.challengeMissing)
    }

    // The exemption must still be valid when the code is redeemed.
    @Test(arguments: [PKCEPolicy.s256, .s256OrPlain])
    func `a code without a challenge ends with the exemption`(pkce: PKCEPolicy) async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .exemptUntil(Self.day(test, later: 30)))
        let attempt = Self.bare(test, client)
        let form = attempt.exchange(try await attempt.authorize().code).setting("code_verifier", to: nil)
        try await test.setPolicy(ClientPolicy(pkce: pkce, requiresState: false), of: client.id)
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
    }

    // RFC 7636 §4.4.1: PKCE is optional for a client that authenticates, if an administrator says so.
    @Test func `a confidential client whose PKCE is optional gets a token without a challenge`() async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let client = try await test.register(
            "Archive", type: .web, at: ["https://archive.example/cb"],
            under: ClientPolicy(pkce: .optional, requiresState: false), secret: secret)
        let attempt = Attempt(test, by: client, at: "https://archive.example/cb")
            .with("code_challenge", nil).with("code_challenge_method", nil)
        let form = attempt.exchange(try await attempt.authorize().code).setting("code_verifier", to: nil)
        #expect(try await test.redeem(form).tokenError.error == "invalid_client")
        #expect(try await test.redeem(form, fields: .basic(client.id, secret)).tokenResponse.isBearer)
        // Every use is counted and logged. A challenge that was sent is enforced.
        #expect(try await test.store.pkceExceptionUse(of: client.id)?.count == 1)
        #expect(test.log.lines.contains { $0.hasPrefix("notice ") && $0.contains("app_archive") })
        let bound = Attempt(test, by: client, at: "https://archive.example/cb")
        let without = bound.exchange(try await bound.authorize().code).setting("code_verifier", to: nil)
        #expect(try await test.redeem(without, fields: .basic(client.id, secret)).tokenError.error == "invalid_grant")
    }

    // RFC 8252 §8.1: whatever the store says, a client that does not authenticate must use PKCE.
    @Test func `PKCE is not optional for a public client`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .optional)
        #expect(try await Self.bare(test, client).error().description == Self.challengeMissing)
        let problems = try #require(throws: ClientRegistrationRefusal.self) {
            var draft = PolicyDraft(ClientPolicy.standard(for: .native))
            draft.pkce = "optional"
            _ = try ClientRules(issuer: nil, allowsDevelopment: true, formats: .standard).check(
                draft, of: .native, redirectURIs: [], postLogoutRedirectURIs: [], scope: Scope(), now: test.clock.now)
        }
        #expect(problems.problems.map(\.field) == [.pkce])
    }

    // RFC 9700 §4.8.2: a verifier without a challenge means that an attacker removed the challenge.
    @Test func `a verifier for a code without a challenge is refused`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .exemptUntil(Self.day(test, later: 30)))
        let attempt = Self.bare(test, client)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await test.redeem(form.setting("code_verifier", to: nil)).tokenResponse.isBearer)
    }

    // The exemption is for requests without a challenge; a challenge that was sent is enforced.
    @Test func `an exempt client that sent a challenge needs its verifier`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .exemptUntil(Self.day(test, later: 30)))
        let attempt = Attempt(test, by: client)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form.setting("code_verifier", to: nil)).tokenError.error == "invalid_grant")
    }

    // Every use is logged and counted, without secrets.
    @Test func `every use of an exemption is logged`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .s256OrPlain)
        _ = try await Attempt(test, by: client).authorize()
        #expect(Self.exceptions(test).isEmpty)
        _ = try await Self.plain(test, client).authorize()
        test.clock.advance(by: 60)
        try await test.setPolicy(
            ClientPolicy(pkce: .exemptUntil(Self.day(test, later: 0)), requiresState: false), of: client.id)
        _ = try await Self.bare(test, client).authorize()
        let lines = Self.exceptions(test)
        #expect(lines.count == 2)
        #expect(lines.first?.contains("plain") == true)
        #expect(lines.last?.contains("exempt-until:") == true)
        let use = try #require(try await test.store.pkceExceptionUse(of: client.id))
        #expect(use == PKCEExceptionUse(count: 2, lastAt: test.clock.now))
    }
}
