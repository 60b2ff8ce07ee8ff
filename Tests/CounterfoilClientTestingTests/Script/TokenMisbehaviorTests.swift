import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

/// Tests of misbehaviors of the token endpoint.
@Suite(.timeLimit(.minutes(2)))
struct TokenMisbehaviorTests {
    // RFC 6749 §6
    @Test func `the refresh token is omitted, repeated, rotated or never issued`() async throws {
        for (misbehavior, returns) in [
            (.givesNoRefreshToken, false), (.omitsRefreshToken, true), (.rotates, true),
        ] as [(Misbehavior, Bool)] {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
                let client = PlainClient(server: server)
                let first = try await client.signIn().text("refresh_token")
                #expect((first != nil) == returns)
                guard returns else { return }
                let second = try await client.refresh(first)
                #expect(second.status == 200)
                #expect((second.text("refresh_token") != nil) == (misbehavior == .rotates))
                let again = try await client.refresh(first)
                #expect(again.status == (misbehavior == .rotates ? 400 : 200))
                if misbehavior == .rotates {
                    #expect(try await client.refresh(second.text("refresh_token")).status == 200)
                }
            }
        }
    }

    // RFC 9700 §4.14.2
    @Test func `reuse of a rotated refresh token revokes the family or repeats the response`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let client = PlainClient(server: server)
            let first = try await client.signIn().text("refresh_token")
            let second = try await client.refresh(first)
            #expect(try await client.refresh(first).text("error") == "invalid_grant")
            #expect(try await client.refresh(second.text("refresh_token")).text("error") == "invalid_grant")
            #expect(try await client.callAPI(second.text("access_token")).status == 401)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            let client = PlainClient(server: server)
            let first = try await client.signIn().text("refresh_token")
            let second = try await client.refresh(first).text("refresh_token")
            #expect(try await client.refresh(first).text("refresh_token") == second)
        }
    }

    @Test func `a dropped response leaves the change in effect`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictlyAndDropsTheReply)) { server in
            let client = PlainClient(server: server)
            let first = try await client.signIn().text("refresh_token")
            await #expect(throws: TransportFailure.self) { try await client.refresh(first) }
            #expect(try await client.refresh(first).text("error") == "invalid_grant")
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesAndDropsTheReply)) { server in
            let client = PlainClient(server: server)
            let first = try await client.signIn().text("refresh_token")
            await #expect(throws: TransportFailure.self) { try await client.refresh(first) }
            #expect(try await client.refresh(first).status == 200)
        }
    }

    @Test(
        arguments: [
            (.expiresInText, "\"expires_in\":\"3600\""), (.expiresInMilliseconds, "\"expires_in\":3600000"),
            (.expiresInMilliseconds, "\"expires_in_sec\":3600"), (.expiresInNegative, "\"expires_in\":-3600"),
            (.expiresInHuge, "\"expires_in\":1e30"), (.lowerCaseBearer, "\"token_type\":\"bearer\""),
            (.macTokens, "\"token_type\":\"mac\""), (.commaSeparatedScope, "\"scope\":\"openid,photos.read\""),
            (.nestsTokens, "{\"authed_user\":{\"access_token\""), (.wrapsInOK, "{\"ok\":true,\"access_token\""),
            (.formEncodedTokens, "&token_type=Bearer&expires_in=3600"), (.htmlTokens, "<!doctype html>"),
            (.deepTokens, String(repeating: "[", count: 10_000)),
        ] as [(Misbehavior, String)])
    func `the response has the shape of the script`(misbehavior: Misbehavior, part: String) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let answer = try await PlainClient(server: server).signIn()
            #expect(answer.status == 200)
            #expect(answer.text.contains(part))
        }
    }

    @Test func `a lifetime can be left out, and members can repeat`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.expiresInAbsent)) { server in
            let answer = try await PlainClient(server: server).signIn()
            #expect(!answer.text.contains("expires_in"))
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.doubledTokens)) { server in
            let text = try await PlainClient(server: server).signIn().text
            #expect(text.components(separatedBy: "\"access_token\"").count == 3)
        }
    }

    @Test func `a response can be too large, never start or never end`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.hugeTokens)) { server in
            await #expect(throws: TransportFailure.tooLarge(origin: server.origin, limit: 1 << 24)) {
                try await PlainClient(server: server).redeem("code")
            }
        }
        for answer in [ScriptedAnswer.endless, .silent] {
            var script = ServerScript()
            script.interruptions = [Interruption(at: .api, answer)]
            try await ScriptedAuthorizationServer.run(script) { server in
                await #expect(throws: TransportFailure.timedOut(origin: server.origin)) {
                    try await PlainClient(server: server).send(
                        .get, server.url(of: .api), timeout: .milliseconds(200))
                }
            }
        }
    }

    @Test func `a response can stop halfway`() async throws {
        var script = ServerScript()
        var answer = ScriptedAnswer.json("{\"photos\":[1,2,3,4,5,6]}")
        answer.delivery = .cutShort
        script.interruptions = [Interruption(at: .api, answer)]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: TransportFailure.self) { try await PlainClient(server: server).callAPI(nil) }
        }
    }

    @Test func `error responses can have the status 200 and an envelope`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.refusesWithStatus200)) { server in
            let refused = try await PlainClient(server: server).redeem("guessed")
            #expect(refused.status == 200)
            #expect(refused.text("error") == "invalid_grant")
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.wrapsInOK)) { server in
            let refused = try await PlainClient(server: server).redeem("guessed")
            #expect(refused.text == "{\"ok\":false,\"error\":\"invalid_grant\"}")
        }
    }

    @Test(arguments: [(Misbehavior.redirectsTokenRequests, 301), (.redirectsTokenRequestsForNow, 302)])
    func `the token endpoint can redirect`(misbehavior: Misbehavior, status: Int) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let answer = try await PlainClient(server: server).redeem("code")
            #expect(answer.status == status)
            #expect(answer.field("Location") == "https://login.example.com/token")
        }
    }

    @Test(arguments: [
        (Misbehavior.tooManyRequestsOnce, 429, "1"), (.unavailableOnce, 503, "1"),
        (.unavailableUntilADate, 503, "Sun, 06 Nov 1994 08:49:37 GMT"),
    ])
    func `server errors can be temporary`(misbehavior: Misbehavior, status: Int, wait: String) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let client = PlainClient(server: server)
            let code = try await client.callback().all("code")[0]
            let answer = try await client.redeem(code)
            #expect(answer.status == status)
            #expect(answer.field("Retry-After") == wait)
            #expect(try await client.redeem(code).status == 200)
        }
    }

    @Test(arguments: [(Misbehavior.clockAhead, 900.0), (.clockBehind, -900)])
    func `a wrong clock affects the Date field and the ID token`(misbehavior: Misbehavior, offset: Double) async throws
    {
        let now = Date()
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let answer = try await PlainClient(server: server).signIn()
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            let date = try #require(formatter.date(from: answer.field("Date") ?? ""))
            #expect(abs(date.timeIntervalSince(now) - offset) < 60)
            let claims = try #require(Base64URL.decode(answer.text("id_token")?.split(separator: ".")[1] ?? ""))
            guard case .number(let time)? = try JSONDecoder().decode(WireValue.self, from: Data(claims))["iat"] else {
                Issue.record("no iat")
                return
            }
            #expect(abs(Double(time) - now.timeIntervalSince1970 - offset) < 60)
            #expect(try await PlainClient(server: server).callAPI(answer.text("access_token")).status == 200)
        }
    }
}
