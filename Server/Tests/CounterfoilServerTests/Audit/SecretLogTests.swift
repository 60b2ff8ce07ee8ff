import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

// No secret is written to the log or to the audit log.
struct SecretLogTests {
    @Test func `a complete flow, including refusals, writes no secret to any log`() async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let policy = ClientPolicy(isVouchedFor: true, requiresState: false, refreshTokens: .always)
        let client = try await test.register(
            "Web", type: .web, at: ["https://app.example.com/callback"], under: policy, secret: secret)
        let attempt = Attempt(test, by: client, at: "https://app.example.com/callback", for: "openid photos.read")
        var browser = test.browser()
        let wrong = "a wrong password that somebody typed"
        _ = try await browser.signIn(on: try await browser.open(attempt.url), username: "alice", password: wrong)
        let answer = try await attempt.authorize(with: &browser)
        let code = try answer.code
        let wrongVerifier = CodeVerifier().exposed
        let wrongSecret = ClientSecret().exposed
        let form = attempt.exchange(code).setting("client_secret", to: secret.exposed)
        _ = await test.redeem(form.setting("code_verifier", to: wrongVerifier))
        _ = await test.redeem(form.setting("client_secret", to: wrongSecret))
        let tokens = try await test.redeem(form).tokenResponse
        _ = await test.redeem(form)
        let refresh = try #require(tokens.refreshToken)
        func refreshed(_ token: String) -> FormParameters {
            FormParameters([
                "grant_type": "refresh_token", "refresh_token": token, "client_id": client.id.rawValue,
                "client_secret": secret.exposed,
            ])
        }
        _ = await test.redeem(refreshed(refresh.exposed))
        _ = await test.redeem(refreshed(refresh.exposed + "x"))
        _ = await test.redeem(refreshed(tokens.accessToken.exposed))
        _ = try await browser.open("/account")

        let cookies = browser.cookies.values.filter { $0.count > 10 }
        let secrets =
            [
                TestServer.password, wrong, code.exposed, attempt.verifier.exposed, wrongVerifier, secret.exposed,
                wrongSecret, tokens.accessToken.exposed, refresh.exposed, tokens.idToken?.exposed,
            ].compactMap(\.self) + cookies
        let events = try await test.store.audit(AuditQuery(limit: 1000))
        #expect(!events.isEmpty && !test.log.lines.isEmpty && cookies.count > 0)
        let said = (test.log.lines + events.map { "\($0)" }).joined(separator: "\n")
        for secret in secrets { #expect(!said.contains(secret)) }
        #expect(!said.contains("code=") && !said.contains("state="))
    }

    // The access log contains the name of the endpoint and never the URL, which can contain codes and states.
    @Test func `the access log contains endpoints and no URLs`() async throws {
        let test = try await TestServer()
        let head = HTTPRequest(
            method: .get, scheme: nil, authority: nil, path: "/oauth2/authorize?state=very-secret&client_id=a")
        test.server.noteAnswer(
            to: IncomingRequest(head: head, source: "192.0.2.1", id: "request-7"), at: .authorization, status: .ok,
            after: .milliseconds(12))
        let line = try #require(test.log.lines.last { $0.contains("request-7") })
        #expect(line.contains("authorization") && line.contains("200") && line.contains("192.0.2.1"))
        #expect(!line.contains("very-secret"))
        let requests = try #require(test.server.metrics.snapshot.requests[.authorization])
        #expect(requests.byStatusClass == [2: 1])
        #expect(abs(requests.durations.sum - 0.012) < 0.000_001)
    }
}
