import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Redemption of authorization codes.
struct AuthorizationCodeGrantTests {
    // The complete flow of a native app.
    @Test func `a code and its verifier give a token with the granted scope`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "photos.read photos.write")
        let reply = try await attempt.authorize()
        let code = try reply.code
        #expect(
            try reply.destination.hasPrefix(
                "http://127.0.0.1:51004/callback?code=\(code.exposed)&state=af0ifjsldkj&iss="))
        #expect(Base64URL.decode(code.exposed)?.count == 32)
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let issued = try await IssuedTokens(test)
        let access = try issued.verified(tokens.accessToken)
        #expect(access.subject == test.alice.id.rawValue)
        #expect(access.clientID == test.lightbox.id)
        #expect(try access.scope == Scope(parsing: "photos.read photos.write"))
        #expect(try await issued.grant(of: tokens.accessToken).revokedAt == nil)
    }

    // The shortest and the longest verifier, and every allowed character.
    @Test(arguments: [
        String(repeating: "a", count: 43), String(repeating: "~", count: 128),
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    ])
    func `any verifier of 43 to 128 unreserved characters is accepted`(text: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, verifier: try #require(CodeVerifier(text)))
        #expect(try await attempt.tokens().isBearer)
    }

    @Test(arguments: [
        (nil, "invalid_grant"), ("", "invalid_grant"), (String(repeating: "a", count: 43), "invalid_grant"),
        (String(repeating: "a", count: 42), "invalid_request"), (String(repeating: "a", count: 129), "invalid_request"),
        (String(repeating: "=", count: 43), "invalid_request"), (String(repeating: "é", count: 43), "invalid_request"),
    ])
    func `without the right verifier there is no token`(verifier: String?, error: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let reply = await test.redeem(form.setting("code_verifier", to: verifier))
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == error)
        // The client made no mistake, so it can still redeem its code.
        #expect(await test.redeem(form).status == .ok)
    }

    // The verifier is hashed with S256 and never compared directly.
    @Test func `the challenge itself is not a verifier`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let challenge = CodeChallenge(of: attempt.verifier).rawValue
        #expect(try await test.redeem(form.setting("code_verifier", to: challenge)).tokenError.error == "invalid_grant")
        let withMethod = form.setting("code_verifier", to: challenge).adding("code_challenge_method", "plain")
        #expect(try await test.redeem(withMethod).tokenError.error == "invalid_grant")
    }

    // A code stays valid after four wrong verifiers, and is deleted after the fifth.
    @Test(arguments: [(4, true), (5, false), (20, false)])
    func `a code ends with the fifth wrong verifier`(tries: Int, survives: Bool) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        for _ in 0..<tries {
            let guess = form.setting("code_verifier", to: CodeVerifier().exposed)
            #expect(try await test.redeem(guess).tokenError.error == "invalid_grant")
        }
        #expect(await test.redeem(form).status == (survives ? .ok : .badRequest))
    }

    // RFC 9700 §4.8.2: a code without a challenge is a downgrade, with or without a verifier.
    @Test func `a code without a challenge is refused`() async throws {
        let test = try await TestServer()
        let verifier = CodeVerifier()
        let attempt = Attempt(test, verifier: verifier)
        let code = try await codeWithoutChallenge(in: test)
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
        let plain = attempt.exchange(code).setting("code_verifier", to: nil)
        #expect(try await test.redeem(plain).tokenError.error == "invalid_grant")
    }

    // Repeated byte for byte, port included, if the
    // request had one.
    @Test(arguments: [
        nil, "", "http://127.0.0.1:51005/callback", "http://127.0.0.1/callback", "http://127.0.0.1:51004/callback/",
        "http://127.0.0.1:51004/Callback", "http://localhost:51004/callback", "HTTP://127.0.0.1:51004/callback",
        "http://127.0.0.1:51004/callback?", "http://127.0.0.1:51004/%63allback", "https://evil.example/cb", "not a uri",
    ])
    func `a redirect URI that differs from that of the request is refused`(sent: String?) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form.setting("redirect_uri", to: sent)).tokenError.error == "invalid_grant")
        #expect(await test.redeem(form).status == .ok)
    }

    @Test func `a redirect URI that the request did not contain is refused`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: ["https://app.example/cb"])
        let attempt = Attempt(test, by: client, at: nil)
        let form = attempt.exchange(try await attempt.authorize().code)
        let given = form.setting("redirect_uri", to: "https://app.example/cb")
        #expect(try await test.redeem(given).tokenError.error == "invalid_grant")
        #expect(await test.redeem(form).status == .ok)
    }

    // The code stays valid for its own client, and so do its tokens.
    @Test func `another client gets nothing for a code, and the code stays valid`() async throws {
        let test = try await TestServer()
        _ = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let foreign = form.setting("client_id", to: "app_darkroom")
        for _ in 0..<10 { #expect(try await test.redeem(foreign).tokenError.error == "invalid_grant") }
        let tokens = try await test.redeem(form).tokenResponse
        #expect(try await test.redeem(foreign).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == nil)
    }

    // RFC 6749 §4.1.2
    @Test func `a code redeemed twice revokes the tokens issued for it`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form).tokenResponse
        test.clock.advance(by: 5)
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == test.clock.now)
    }

    // A replay is recognized as long as the code is stored, also after it expired.
    @Test func `a late replay revokes the tokens too`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form).tokenResponse
        test.clock.advance(by: 600)
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt != nil)
    }

    // A request that could not have redeemed the code is no replay by a thief.
    @Test(arguments: [
        ("client_id", "app_darkroom"), ("redirect_uri", "https://evil.example/cb"), ("redirect_uri", nil),
        ("code_verifier", String(repeating: "a", count: 43)), ("code_verifier", nil),
    ])
    func `an invalid replay revokes nothing`(name: String, value: String?) async throws {
        let test = try await TestServer()
        _ = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form).tokenResponse
        #expect(try await test.redeem(form.setting(name, to: value)).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == nil)
    }

    // Of many concurrent redemptions exactly one succeeds, and the others are replays.
    @Test func `of a hundred concurrent redemptions one succeeds`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let replies = await withTaskGroup(of: Reply.self) { group in
            for _ in 0..<100 { group.addTask { await test.redeem(form) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let winners = replies.filter { $0.status == .ok }
        #expect(winners.count == 1)
        #expect(replies.filter { $0.status == .badRequest }.count == 99)
        let tokens = try #require(winners.first).tokenResponse
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt != nil)
    }

    @Test(arguments: [(59.0, true), (60, false), (61, false), (3600, false)])
    func `a code is valid for sixty seconds`(seconds: TimeInterval, lives: Bool) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        test.clock.advance(by: seconds)
        let reply = await test.redeem(form)
        #expect(reply.status == (lives ? .ok : .badRequest))
        if !lives {
            #expect(try reply.tokenError.error == "invalid_grant")
            // A new request is needed, and succeeds.
            #expect(try await attempt.tokens().isBearer)
        }
    }

    @Test func `an unknown code is refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        let form = attempt.exchange(code)
        let flipped = String(code.exposed.dropLast()) + (code.exposed.last == "A" ? "E" : "A")
        for guess in [
            String(code.exposed.dropLast()), flipped, code.exposed + "A", "A" + code.exposed, code.exposed.lowercased(),
            AuthorizationCode().exposed, "' OR 1=1 --", "x", String(repeating: "a", count: 30_000), "\0", "é",
            " " + code.exposed,
        ] {
            let reply = await test.redeem(form.setting("code", to: guess))
            #expect(reply.status == .badRequest)
            #expect(try ["invalid_grant", "invalid_request"].contains(reply.tokenError.error))
        }
        #expect(await test.redeem(form).status == .ok)
    }

    // No artefact can be used in place of another.
    @Test func `a session, an access token and an ID token are not codes`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "openid")
        var browser = test.browser()
        let form = attempt.exchange(try await attempt.authorize(with: &browser).code)
        let tokens = try await test.redeem(form).tokenResponse
        let others = [tokens.accessToken.exposed, try #require(tokens.idToken).exposed] + browser.cookies.values
        for other in others {
            #expect(try await test.redeem(form.setting("code", to: other)).tokenError.error == "invalid_grant")
        }
    }

    @Test func `a code of a disabled user is refused`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        try await store.disableUser(test.alice.id, at: test.clock.now, recording: [])
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
    }

    @Test func `a code of a revoked grant is refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        let facts = try #require(try await test.store.code(ArtefactDigest(of: code)))
        #expect(try await test.store.revokeGrant(facts.grant.id, because: .client, at: test.clock.now) == .revoked)
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
    }

    // A scope in the token request never extends the grant.
    @Test func `a scope beyond the grant is refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "photos.read")
        let form = attempt.exchange(try await attempt.authorize().code)
        let wider = form.adding("scope", "photos.read photos.write openid")
        #expect(try await test.redeem(wider).tokenError.error == "invalid_scope")
        let repeated = form.adding("scope", "photos.read").adding("scope", "photos.read")
        #expect(try await test.redeem(repeated).tokenError.error == "invalid_request")
        let tokens = try await test.redeem(form.adding("scope", "photos.read")).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
        #expect(tokens.idToken == nil)
        #expect(try await IssuedTokens(test).verified(tokens.accessToken).scope.description == "photos.read")
    }

    // An attacker who has redeemed a code cannot prevent the detection of a replay with wrong verifiers.
    @Test func `wrong verifiers after the redemption do not prevent revocation by a replay`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form).tokenResponse
        for _ in 0..<10 {
            _ = await test.redeem(form.setting("code_verifier", to: CodeVerifier().exposed))
        }
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == nil)
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt != nil)
    }

    // Every reason has the same description, so that an attacker learns nothing. A request without `code_verifier` is
    // told so, whatever is wrong with the code.
    @Test func `a refusal does not reveal its reason`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        var refusals: Set<TokenErrorResponse> = []
        for changed in [
            form.setting("code", to: AuthorizationCode().exposed), form.setting("redirect_uri", to: "x"),
            form.setting("code_verifier", to: CodeVerifier().exposed),
        ] { refusals.insert(try await test.redeem(changed).tokenError) }
        let bare = form.setting("code_verifier", to: nil)
        var withoutVerifier: Set<TokenErrorResponse> = []
        for changed in [bare, bare.setting("code", to: AuthorizationCode().exposed)] {
            withoutVerifier.insert(try await test.redeem(changed).tokenError)
        }
        _ = await test.redeem(form)
        refusals.insert(try await test.redeem(form).tokenError)
        withoutVerifier.insert(try await test.redeem(bare).tokenError)
        #expect(refusals.count == 1 && withoutVerifier.count == 1)
        #expect(withoutVerifier.first?.errorDescription?.contains("code_verifier is missing") == true)
        #expect(refusals.first?.errorDescription?.contains("missing") == false)
    }

    /// Stores a code without a challenge, as it may exist for a client that was exempt.
    private func codeWithoutChallenge(in test: TestServer) async throws -> AuthorizationCode {
        let code = AuthorizationCode()
        let session = Session(
            digest: ArtefactDigest(of: SessionToken()), userID: test.alice.id, authenticatedAt: test.clock.now,
            lastSeenAt: test.clock.now, expiresAt: test.clock.now.addingTimeInterval(60))
        #expect(
            try await test.store.beginSession(
                session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
                == .begun(session.id))
        let grant = Grant(
            userID: test.alice.id, clientID: test.lightbox.id, scope: try Scope(parsing: "photos.read"),
            sessionID: session.id, createdAt: test.clock.now, lastUsedAt: test.clock.now
        )
        let record = CodeRecord(
            digest: ArtefactDigest(of: code), interaction: ArtefactDigest(of: InteractionIdentifier()),
            grantID: grant.id,
            redirectURI: .requested(try RedirectURI("http://127.0.0.1:51004/callback")),
            codeChallenge: nil,
            nonce: nil, issuedAt: test.clock.now,
            expiresAt: test.clock.now.addingTimeInterval(60)
        )
        let approval = Approval(
            grant: grant, code: record, asked: grant.scope, appearance: ClientAppearance(of: test.lightbox),
            clientRevision: test.lightbox.revision, pkce: .none, passwordHash: test.alice.passwordHash, basis: .answer
        )
        #expect(try await test.store.recordConsent(approval) == .recorded)
        return code
    }
}
