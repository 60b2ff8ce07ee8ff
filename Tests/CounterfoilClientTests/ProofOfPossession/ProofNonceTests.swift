import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of what a session learns about servers for its DPoP proofs and client assertions.
@Suite(.timeLimit(.minutes(2)))
struct ProofNonceTests {
    private static var binding: NativeSignIn.Options {
        var options = NativeSignIn.Options()
        options.bindsTokens = true
        return options
    }

    // RFC 9449 §8.2 and §9
    @Test(arguments: [DPoPScript.NonceRule.lasting, .changing])
    func `ten calls to an API that requires a nonce are eleven requests`(rule: DPoPScript.NonceRule) async throws {
        var script = ServerScript(.requiresDPoP)
        (script.dpop.tokenNonce, script.dpop.apiNonce) = (.none, rule)
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store, options: Self.binding)
            let session = TokenSession(ofAnyClientIn: store)
            for _ in 0..<10 {
                #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            }
            #expect(server.requests(to: .api).count == 11)
        }
    }

    // Each of them may have been sent before the first nonce arrived.
    @Test func `concurrent calls each use the nonce that another of them has learned`() async throws {
        var script = ServerScript(.requiresDPoP)
        (script.dpop.tokenNonce, script.dpop.apiNonce) = (.none, .lasting)
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore(), options: Self.binding)
            let turnstile = TurnstileTransport(holding: server.url(of: .api))
            let calls = (0..<5).map { _ in
                Task {
                    try await ResourceClient(credentials, transport: turnstile).get(server.url(of: .api)).statusCode
                }
            }
            await turnstile.arrivals(5)
            turnstile.open()
            for call in calls { #expect(try await call.value == 200) }
            #expect(server.requests(to: .api).count == 10)
        }
    }

    // RFC 9449 §8: the nonces of a sign-in and of its refreshes.
    @Test func `a refresh uses the nonce of the sign-in, and UserInfo that of the API`() async throws {
        var script = ServerScript(.requiresDPoP)
        (script.dpop.tokenNonce, script.dpop.apiNonce) = (.lasting, .lasting)
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await SignedIn.at(
                server, scope: "openid photos.read", in: store, options: Self.binding)
            let signedIn = server.requests(to: .token).count
            let fresh = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: credentials.accessToken)
            #expect(server.requests(to: .token).count == signedIn + 1)
            _ = try await UserInfoRequest().claims(of: fresh)
            _ = try await UserInfoRequest().claims(of: fresh)
            #expect(server.requests(to: .userInfo).count <= 3)
        }
    }

    // A laptop that wakes up with a wrong clock, and whose clock is then corrected.
    @Test func `the clock offset of a server is forgotten when the clocks agree again`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore(), options: Self.binding)
            let client = ResourceClient(credentials)
            for offset in [1800, 0, -7200, 0] {
                server.change { $0.clockOffset = offset }
                server.forgetRequests()
                for _ in 0..<2 { _ = try await client.get(server.url(of: .api)) }
                let last = try #require(server.requests(to: .api).last)
                let proof = try #require(HTTPField.Name("DPoP").flatMap { last.headerFields[$0] })
                let issuedAt = try Self.claim("iat", of: proof)
                #expect(abs(issuedAt - (Date().timeIntervalSince1970 + Double(offset))) < 60)
            }
        }
    }

    // RFC 9449 §4.2; RFC 3986 §6.2.2.1 and §6.2.3
    @Test(arguments: [
        ("https://api.example.com", "https://api.example.com/"),
        ("https://api.example.com?a=b", "https://api.example.com/"),
        ("HTTPS://API.Example.COM:443/Photos?x", "https://api.example.com/Photos"),
        ("https://api.example.com:8443/a%2Fb/", "https://api.example.com:8443/a%2Fb/"),
        ("http://127.0.0.1:80/", "http://127.0.0.1/"), ("http://[::1]:443/x", "http://[::1]:443/x"),
    ])
    func `the URL of a proof has a path and no default port`(url: String, proofURI: String) throws {
        #expect(try EndpointURL(url).proofURI == proofURI)
    }

    // RFC 7523 §3: the server compares the times of an assertion with its own clock.
    @Test func `a client assertion has the times of the server's clock`() async throws {
        var script = ServerScript()
        script.clockOffset = 300
        script.interruptions = [
            Interruption(at: .pushedAuthorization, times: 1, .refusal("invalid_client", status: 401))
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            var options = NativeSignIn.Options()
            options.authentication = .privateKey(try ClientKey())
            try await SignedIn.at(server, in: MemoryTokenStore(), options: options)
            let pushed = server.requests(to: .pushedAuthorization)
            #expect(pushed.count == 2)
            let assertions = (pushed.suffix(1) + server.requests(to: .token)).compactMap { $0.form["client_assertion"] }
            #expect(assertions.count == 2)
            for assertion in assertions {
                #expect(abs(try Self.claim("iat", of: assertion) - Date().timeIntervalSince1970 - 300) < 60)
            }
        }
    }

    @Test func `a refused assertion is not sent again if the clocks agree`() async throws {
        var script = ServerScript()
        script.interruptions = [
            Interruption(at: .pushedAuthorization, .refusal("invalid_client", status: 401))
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            var options = NativeSignIn.Options()
            options.authentication = .privateKey(try ClientKey())
            // The server only offers pushed requests, so the client sends the request without one.
            try await SignedIn.at(server, in: MemoryTokenStore(), options: options)
            #expect(server.requests(to: .pushedAuthorization).count == 1)
        }
    }

    private static func claim(_ name: String, of token: String) throws -> TimeInterval {
        let payload = try #require(token.split(separator: ".").dropFirst().first.map(String.init))
        let bytes = try #require(Base64URL.decode(payload))
        let claims = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        return try #require(claims[name] as? TimeInterval)
    }
}
