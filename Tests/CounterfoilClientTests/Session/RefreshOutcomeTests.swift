import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of the three outcomes of a refresh: a new token, a refusal by the server, or a failure that may pass.
@Suite(.timeLimit(.minutes(2)))
struct RefreshOutcomeTests {
    /// Runs a test with a signed-in user whose access token has just expired.
    private static func run(
        _ script: ServerScript, scope: String = "photos.read",
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, any TokenStore, TokenSession) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, scope: scope, in: store)
            try await body(server, store, TokenSession(ofAnyClientIn: store, transport: .standard, now: SignedIn.later))
        }
    }

    /// Collects events until the given number has arrived.
    private static func events(of session: TokenSession, _ count: Int) -> @Sendable () async -> [TokenSession.Event] {
        let stream = session.events
        return {
            var events: [TokenSession.Event] = []
            for await event in stream.prefix(count) { events.append(event) }
            return events
        }
    }

    // RFC 6749 §6
    @Test func `a new refresh token replaces the old one, and without a new one the old one is kept`()
        async throws
    {
        for misbehavior in [Misbehavior.rotatesStrictly, .omitsRefreshToken] {
            try await Self.run(ServerScript(misbehavior)) { server, store, session in
                let before = try #require(try await store.credentials(of: .standard)?.refreshToken)
                var access: Set<AccessToken> = []
                for _ in 0..<5 {
                    let stale = try await session.credentials()
                    access.insert(try await session.refreshed(replacing: stale.accessToken).accessToken)
                }
                #expect(access.count == 5)
                let after = try #require(try await store.credentials(of: .standard)?.refreshToken)
                #expect((after == before) == (misbehavior == .omitsRefreshToken))
                #expect(after.exposed == server.refreshTokens.last)
            }
        }
    }

    // The server has rotated the refresh token. The session must survive although the server's keys are
    // unavailable.
    @Test func `a refresh succeeds although the keys of its ID token are unavailable`() async throws {
        try await Self.run(ServerScript(.rotatesStrictly), scope: "openid photos.read") { server, store, session in
            let before = try #require(try await store.credentials(of: .standard))
            server.change { $0.interruptions.append(Interruption(at: .keys, times: 9, .trouble(503))) }
            let fresh = try await session.credentials()
            #expect(fresh.accessToken != before.accessToken)
            #expect(fresh.refreshToken != before.refreshToken)
            #expect(fresh.user == before.user)
            #expect(fresh.idToken == before.idToken)
            let kept = try await store.credentials(of: .standard)
            #expect(kept == fresh)
        }
    }

    // The request contains exactly the parameters of the standard, and no scope that was not requested.
    @Test func `a refresh sends exactly the request of the standard`() async throws {
        try await Self.run(ServerScript()) { server, _, session in
            _ = try await session.credentials()
            let request = try #require(SignedIn.refreshes(at: server).first)
            #expect(request.form.names.sorted() == ["client_id", "grant_type", "refresh_token"])
            #expect(request.authorization == nil)
            #expect(request.query.pairs.isEmpty)
        }
    }

    // RFC 6749 §5.2
    @Test func `a refusal by the server ends the session and deletes its credentials`() async throws {
        try await Self.run(ServerScript()) { server, store, session in
            let events = Self.events(of: session, 1)
            server.revokeEverything()
            await #expect {
                try await session.credentials()
            } throws: {
                guard case .ended(.refused(let refusal), afterLostResponse: false) = $0 as? SessionError else {
                    return false
                }
                return refusal.code == .invalidGrant
            }
            let kept = try await store.record(of: .standard)
            #expect(kept == nil)
            guard case .ended(.refused)? = await events().first else {
                Issue.record("nobody was told")
                return
            }
            // The reason stays known until the next sign-in.
            await #expect {
                try await session.credentials()
            } throws: {
                if case .ended(.refused, afterLostResponse: false) = $0 as? SessionError { true } else { false }
            }
        }
    }

    @Test(
        arguments: [
            .trouble(503), .trouble(500), .closed, .refusal("temporarily_unavailable"), .refusal("server_error"),
            .refusal("temporarily_unavailable", status: 429), .refusal("invalid_client", status: 401), .html(),
            .html(status: 404), .refusal("invalid_request"),
            .redirect(to: "https://evil.example.com/"),
        ] as [ScriptedAnswer])
    func `only invalid_grant signs the user out`(answer: ScriptedAnswer) async throws {
        try await Self.run(ServerScript()) { server, store, session in
            let events = Self.events(of: session, 1)
            server.change { $0.interruptions = [Interruption(at: .token, answer)] }
            let kept = try await store.credentials(of: .standard)
            await #expect {
                try await session.credentials()
            } throws: {
                if case .unavailable = $0 as? SessionError { true } else { false }
            }
            #expect(try await store.credentials(of: .standard) == kept)
            guard case .refreshFailed? = await events().first else {
                Issue.record("nobody was told")
                return
            }
            server.change { $0.interruptions = [] }
            #expect(try await session.credentials().accessToken.exposed == server.accessTokens.last)
        }
    }

    @Test func `a client that is offline stays signed in and uses the token until it expires`() async throws {
        let store: any TokenStore = MemoryTokenStore()
        let first = try await ScriptedAuthorizationServer.run { server in try await SignedIn.at(server, in: store) }
        // The server is unreachable. Nine seconds before it expires, the token is due for a refresh and still
        // valid.
        let end = try #require(first.expires)
        let due = TokenSession(ofAnyClientIn: store, transport: .standard, now: { end.addingTimeInterval(-9) })
        #expect(try await due.credentials().accessToken == first.accessToken)
        let over = TokenSession(ofAnyClientIn: store, transport: .standard, now: { end })
        await #expect {
            try await over.credentials()
        } throws: {
            if case .unavailable(.unavailable(.noResponse)) = $0 as? SessionError { true } else { false }
        }
        #expect(try await store.credentials(of: .standard) == first)
    }

    // RFC 9110 §10.2.3
    @Test(arguments: [429, 503])
    func `no request is sent before the end of Retry-After`(status: Int) async throws {
        try await Self.run(ServerScript()) { server, _, session in
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(status, retryAfter: "120"))] }
            await #expect(throws: SessionError.self) { try await session.credentials() }
            await #expect {
                try await session.credentials()
            } throws: {
                if case .paused(let seconds) = $0 as? SessionError { (100...121).contains(seconds) } else { false }
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test func `without a refresh token an expired session is reported without a request`() async throws {
        try await Self.run(ServerScript(.givesNoRefreshToken)) { server, store, _ in
            let kept = try #require(await store.credentials(of: .standard))
            #expect(kept.refreshToken == nil)
            // The token is used until it expires.
            let end = try #require(kept.expires)
            let due = TokenSession(ofAnyClientIn: store, transport: .standard, now: { end.addingTimeInterval(-5) })
            #expect(try await due.credentials() == kept)
            let over = TokenSession(ofAnyClientIn: store, transport: .standard, now: { end })
            await #expect(throws: SessionError.expired) { try await over.credentials() }
            #expect(SignedIn.refreshes(at: server).isEmpty)
        }
    }

    // OpenID Connect Core §12.2
    @Test func `a refresh response about another user ends the session`() async throws {
        var script = ServerScript()
        script.idToken.subjectAfterRefresh = "mallory"
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            await #expect {
                try await session.refreshed(replacing: first.accessToken)
            } throws: {
                if case .ended(.unsafe(.idToken), _) = $0 as? SessionError { true } else { false }
            }
            #expect(try await store.record(of: .standard) == nil)
        }
    }

    // OpenID Connect Core §12.2
    @Test func `a refreshed ID token with another nonce is discarded`() async throws {
        let claim = WireMember("nonce", "nonce-of-another-sign-in")
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            // After an ID token without a nonce, the client still knows the nonce of the sign-in.
            let second = try await session.refreshed(replacing: first.accessToken)
            server.change { $0.idToken.replaced = [claim] }
            let third = try await session.refreshed(replacing: second.accessToken)
            #expect(third.accessToken != second.accessToken)
            #expect(third.idToken == second.idToken)
            #expect(third.user == second.user)
        }
    }

    // OpenID Connect Core §12.2: `auth_time` is the time of the sign-in, so a later value is rejected.
    @Test func `a refreshed ID token with another auth_time is discarded`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            let later = try #require(first.user?.authTime).addingTimeInterval(60)
            server.change {
                $0.idToken.replaced = [WireMember("auth_time", .number(Int(later.timeIntervalSince1970)))]
            }
            let fresh = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken != first.accessToken)
            #expect(fresh.idToken == first.idToken)
            #expect(fresh.user == first.user)
        }
    }

    // OpenID Connect Core §12.2
    @Test func `a refreshed ID token may repeat the nonce and leave out auth_time`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            let nonce = try #require(server.requests(to: .authorization).first?.query["nonce"])
            server.change {
                $0.idToken.replaced = [WireMember("nonce", .text(nonce))]
                $0.idToken.omitted = ["auth_time"]
            }
            let fresh = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            #expect(fresh.idToken != first.idToken)
            #expect(fresh.user == first.user)
        }
    }

    // OpenID Connect Core §12.2: a refresh does not authenticate the user.
    @Test func `acr and amr stay those of the sign-in`() async throws {
        var script = ServerScript()
        script.idToken.replaced = [WireMember("acr", "urn:example:gold"), WireMember("amr", ["pwd", "otp"])]
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            #expect(first.user?.authenticationContext == "urn:example:gold")
            #expect(first.user?.authenticationMethods == ["pwd", "otp"])
            let session = TokenSession(ofAnyClientIn: store)
            server.change { $0.idToken.replaced = [] }
            let second = try await session.refreshed(replacing: first.accessToken)
            server.change { $0.idToken.replaced = [WireMember("acr", "urn:example:lead"), WireMember("amr", ["pwd"])] }
            let third = try await session.refreshed(replacing: second.accessToken)
            #expect(third.idToken != second.idToken && second.idToken != first.idToken)
            #expect(second.user == first.user)
            #expect(third.user == first.user)
        }
    }

    @Test func `the end of an old session does not sign out a user who has signed in meanwhile`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            server.revokeEverything()
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            let waiting = Task { try await session.credentials() }
            await transport.arrivals(1)
            let fresh = try await SignedIn.at(server, in: store)
            transport.open()
            #expect(try await waiting.value == fresh)
            #expect(try await store.credentials(of: .standard) == fresh)
        }
    }

    @Test func `no token of one server is sent to another that has replaced it`() async throws {
        try await ScriptedAuthorizationServer.run { former in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(former, in: store)
            try await ScriptedAuthorizationServer.run { server in
                try await SignedIn.at(server, in: store)
                let session = TokenSession(ofAnyClientIn: store, transport: .standard, now: SignedIn.later)
                _ = try await session.credentials()
                _ = try await session.signOut()
                let sent = server.requests.map { $0.text + ($0.head.path ?? "") + "\($0.headerFields)" }
                for secret in former.secrets { #expect(!sent.contains { $0.contains(secret) }) }
                #expect(SignedIn.refreshes(at: former).isEmpty)
                #expect(former.requests(to: .revocation).isEmpty)
            }
        }
    }

    @Test func `a user who signs out during a refresh stays signed out, and the new tokens are revoked`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport, now: SignedIn.later)
            let waiting = Task { try await session.credentials() }
            await transport.arrivals(1)
            try await store.remove(.standard)
            transport.open()
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await waiting.value }
            #expect(try await store.record(of: .standard) == nil)
            let given = try #require(server.refreshTokens.last)
            #expect(server.requests(to: .revocation).contains { $0.form["token"] == given })
        }
    }

    // RFC 7009 §2.1: also if the access token beside it must not be used.
    @Test(arguments: [true, false])
    func `a user who signs out during a refresh leaves no refresh token of a refused response`(
        signsOut: Bool
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            server.change { $0.idToken.replaced = [WireMember("aud", "another-client")] }
            let transport = TurnstileTransport(holding: server.url(of: .token))
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            let waiting = Task { try await session.refreshed(replacing: first.accessToken) }
            await transport.arrivals(1)
            if signsOut {
                try await store.remove(.standard)
            } else {
                let other = Credentials(
                    issuer: first.issuer, clientID: first.clientID, accessToken: first.accessToken,
                    expires: first.expires, refreshToken: RefreshToken("another"))
                try await store.save(other, as: .standard)
            }
            transport.open()
            _ = await waiting.result
            let given = try #require(server.refreshTokens.last)
            let revoked = server.requests(to: .revocation).compactMap { $0.form["token"] }
            // The record of another process may contain the former access token.
            #expect(revoked == [given] + (signsOut ? [first.accessToken.exposed] : []))
        }
    }
}
