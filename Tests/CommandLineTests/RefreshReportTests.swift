import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of what the commands say about token responses that they use in part, or not at all.
@Suite(.timeLimit(.minutes(5)))
struct RefreshReportTests {
    /// Signs in with an access token that has expired at once, changes the server, and runs a test.
    private static func run(
        scope: String = "openid", _ change: @escaping @Sendable (inout ServerScript) -> Void,
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, URL) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript(.rotatesStrictly)
        script.tokens.expiresIn = .raw("0")
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home, "--scope", scope)
            #expect(login.status == 0, "\(login.errors)")
            server.change {
                $0.tokens.expiresIn = .seconds
                change(&$0)
            }
            try await body(server, home)
        }
    }

    private static func refreshes(at server: ScriptedAuthorizationServer) -> Int {
        server.requests(to: .token).count { $0.form["grant_type"] == "refresh_token" }
    }

    // RFC 6749 §5.1 and §6
    @Test func `a refresh with an odd lifetime gives the token and says what was ignored`() async throws {
        try await Self.run {
            $0.tokens.expiresIn = .raw("\"soon\"")
        } _: { server, home in
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 0)
            #expect(token.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(
                token.errors
                    == "The server's token response has an invalid value, which this program ignores: expires_in.\n")
            let again = try await CommandLineTool.run(["token"], home: home)
            #expect(again.output == token.output && again.errors.isEmpty)
            #expect(Self.refreshes(at: server) == 1)
        }
    }

    @Test func `login says which members of the token response were ignored`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.tokens.extras = [WireMember("scope", 7), WireMember("expires_in", true)]
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            #expect(
                login.errors.contains(
                    "The server's token response has invalid values, which this program ignores: expires_in, scope.\n"),
                "\(login.errors)")
        }
    }

    // OpenID Connect Core §12.2
    @Test func `an ID token of another issuer ends a command with exit code 5 and not the session`() async throws {
        try await Self.run {
            $0.idToken.replaced = [WireMember("iss", "https://login.example.com")]
        } _: { server, home in
            let refused = try await CommandLineTool.run(["token"], home: home)
            #expect(refused.status == 5 && refused.output.isEmpty)
            #expect(
                refused.errors
                    == "Error: the access token could not be refreshed: a response was rejected as unsafe: the token was"
                    + " issued by another issuer (iss). You are still signed in\n")
            let withheld = server.accessTokens.last
            server.change { $0.idToken = IDTokenScript() }
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 0, "\(token.errors)")
            #expect(token.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(server.accessTokens.last != withheld)
            #expect(Self.refreshes(at: server) == 2)
        }
    }

    // OpenID Connect Core §12.2
    @Test func `an ID token of another user ends the session with the reason`() async throws {
        try await Self.run {
            $0.idToken.subjectAfterRefresh = "mallory"
        } _: { _, home in
            let ended = try await CommandLineTool.run(["token"], home: home)
            #expect(ended.status == 3 && ended.output.isEmpty)
            #expect(ended.errors.contains("the token is about another user (sub) than the one who signed in"))
            #expect(!ended.errors.contains("lost"), "\(ended.errors)")
        }
    }

    @Test(
        arguments: [
            ({ @Sendable in $0.idToken.signature = .unknownKey }, "the key set has no key"),
            ({ @Sendable in $0.idToken.signature = .none }, "the ID token is signed with none"),
            ({ @Sendable in $0.clockOffset = 7200 }, "this device's clock is 2 h behind the server's"),
            ({ @Sendable in $0.idToken.replaced = [WireMember("auth_time", 7)] }, "(auth_time) is another one"),
        ] as [(@Sendable (inout ServerScript) -> Void, String)])
    func `a command says why the ID token of a refresh was discarded`(
        change: @escaping @Sendable (inout ServerScript) -> Void, words: String
    ) async throws {
        try await Self.run(change) { server, home in
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 0)
            #expect(token.output == server.accessTokens.last.map { "\($0)\n" })
            let beginning = "The refresh returned an ID token that is not used, and the former one stays: "
            #expect(token.errors.hasPrefix(beginning) && token.errors.contains(words), "\(token.errors)")
            #expect(token.errors.split(separator: "\n").count == 1)
        }
    }

    @Test func `--verbose reports a refresh`() async throws {
        try await Self.run {
            $0.idToken.comesWithRefresh = true
        } _: { server, home in
            let token = try await CommandLineTool.run(["token", "--verbose"], home: home)
            #expect(token.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(token.errors.contains("counterfoil: refreshed the access token, which expires at 20"))
            for secret in server.secrets { #expect(!token.errors.contains(secret)) }
            let again = try await CommandLineTool.run(["token", "--verbose"], home: home)
            #expect(!again.errors.contains("refreshed"))
        }
    }

    // RFC 9110 §6.6.1
    @Test(arguments: [(7200, "2 h behind"), (-172_800, "2 days ahead of")] as [(Int, String)])
    func `login names a clock that is wrong by hours`(offset: Int, words: String) async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.clockOffset = offset
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: directory.url, "--scope", "openid")
            #expect(login.status == 5)
            #expect(
                login.errors.contains("Error: this device's clock is \(words) the server's, so a token fails"),
                "\(login.errors)")
            #expect(login.errors.contains("Set the clock of this device"))
            #expect(!login.errors.contains("unsafe"))
        }
    }

    // The clock of the device was a day ahead during the sign-in, and was corrected.
    @Test func `a token that arrived in the future is not called valid, and is refreshed`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let store = EncryptedFileTokenStore(
                file: home.appendingPathComponent(".local/share/counterfoil/tokens"), environment: ["HOME": home.path])
            let signedIn = try #require(try await store.credentials(of: .standard))
            var members = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(signedIn)) as? [String: Any])
            for name in ["received", "expires"] {
                members[name] = try #require(members[name] as? Double) + 86_400
            }
            try await store.save(
                JSONDecoder().decode(Credentials.self, from: JSONSerialization.data(withJSONObject: members)),
                as: .standard)
            let status = try await CommandLineTool.run(["status"], home: home)
            #expect(status.status == 0)
            #expect(
                status.output.contains(
                    "Access token: of unknown age, because this device's clock was set back after the token arrived, "
                        + "refreshed at its next use\n"), "\(status.output)")
            let json = try await CommandLineTool.run(["status", "--json"], home: home)
            #expect(!json.output.contains("expires_at"))
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(server.accessTokens.count == 2)
            let after = try await CommandLineTool.run(["status"], home: home)
            #expect(after.output.contains("Access token: valid until 20"))
        }
    }
}
