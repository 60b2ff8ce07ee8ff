import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the forms in which `counterfoil token` prints the token, and of its lifetime.
@Suite(.timeLimit(.minutes(5)))
struct TokenTests {
    @Test func `token prints the token alone, as a header field, as JSON and as variables`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let token = server.accessTokens[0]
            func printed(_ arguments: String...) async throws -> String {
                let outcome = try await CommandLineTool.run(["token"] + arguments, home: home)
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.errors.isEmpty)
                return outcome.output
            }
            #expect(try await printed("--format", "raw") == "\(token)\n")
            #expect(try await printed("--format", "header") == "Authorization: Bearer \(token)\n")
            #expect(try await printed("--json") == (try await printed("--format", "json")))
            let variables = try await printed("--format", "env")
            let evaluated = try await Shell.run(
                "eval \"$COMMANDS\"; env | grep ^COUNTERFOIL_ | sort", environment: ["COMMANDS": variables])
            let lines = evaluated.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 3)
            #expect(lines.first == "COUNTERFOIL_TOKEN=\(token)")
            #expect(lines.dropFirst().first?.hasPrefix("COUNTERFOIL_TOKEN_EXPIRES=20") == true)
            #expect(lines.last == "COUNTERFOIL_TOKEN_TYPE=Bearer")
            let conflict = try await CommandLineTool.run(["token", "--json", "--format", "raw"], home: home)
            #expect(conflict.status == 64)
        }
    }

    // OpenID Connect Core §2 and §12.2
    @Test func `the ID token is printed, and refreshed if it has expired`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let arguments = ["token", "--format", "id-token"]
        try await ScriptedAuthorizationServer.run { server in
            let none = try await CommandLineTool.run(arguments, home: home)
            #expect(none.status == 3)
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "photos.read").status == 0)
            let missing = try await CommandLineTool.run(arguments, home: home)
            #expect(missing.status == 3)
            #expect(missing.errors.contains("run counterfoil login again with --scope openid"), "\(missing.errors)")

            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let printed = try await CommandLineTool.run(arguments, home: home)
            #expect(printed.status == 0, "\(printed.errors)")
            let parts = printed.output.dropLast().split(separator: ".")
            let claims = try #require(parts.count == 3 ? Base64URL.decode(parts[1]) : nil)
            #expect(String(decoding: claims, as: UTF8.self).contains(#""sub":"alice""#))
            let wrong = try await CommandLineTool.run(arguments + ["--min-lifetime", "60"], home: home)
            #expect(wrong.status == 64)
        }
    }

    // OpenID Connect Core §12.2: a server need not return an ID token with a refresh.
    @Test(
        arguments: [
            // The ID token is still valid for some seconds.
            (29, 0),
            // It was accepted at the sign-in within the tolerated difference of clocks, and has expired.
            (-5, 3),
        ] as [(Int, Int32)])
    func `an ID token that no refresh renews costs one refresh`(lifetime: Int, status: Int32) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            server.change {
                $0.idToken.replaced = [
                    WireMember("exp", .number(Int(Date().timeIntervalSince1970) + lifetime))
                ]
                $0.idToken.comesWithRefresh = false
            }
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            for _ in 0..<3 {
                let printed = try await CommandLineTool.run(["token", "--format", "id-token"], home: home)
                #expect(printed.status == status, "\(printed.errors)")
                #expect(printed.output.isEmpty == (status != 0))
                #expect(printed.errors.contains("the ID token has expired") == (status != 0))
            }
            #expect(server.requests(to: .token).count { $0.form["grant_type"] == "refresh_token" } == 1)
        }
    }

    // RFC 9110 §6.6.1: `exp` follows the server's clock.
    @Test(arguments: [3000, -3000])
    func `the lifetime of an ID token is counted by the server's clock`(offset: Int) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.clockOffset = offset
        let now = Int(Date().timeIntervalSince1970) + offset
        // Valid for ten minutes from now, by the server's clock.
        script.idToken.replaced = [WireMember("exp", .number(now + 600)), WireMember("iat", .number(now))]
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let printed = try await CommandLineTool.run(["token", "--format", "id-token"], home: home)
            #expect(printed.status == 0, "\(printed.errors)")
            #expect(server.requests(to: .token).count == 1)
        }
    }

    // The ID token stays valid while the server is unavailable.
    @Test func `an ID token that expires soon is printed if the server is unavailable`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            server.change {
                $0.idToken.replaced = [WireMember("exp", .number(Int(Date().timeIntervalSince1970) + 29))]
            }
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503))] }
            let printed = try await CommandLineTool.run(["token", "--format", "id-token"], home: home)
            #expect(printed.status == 0, "\(printed.errors)")
            #expect(!printed.output.isEmpty)
        }
    }

    @Test func `a token that is bound to a key is printed with a warning`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--dpop").status == 0)
            let token = try await CommandLineTool.run(["token", "--format", "header"], home: home)
            #expect(token.output == "Authorization: DPoP \(server.accessTokens[0])\n")
            #expect(token.errors.contains("so APIs reject it without a proof. Use counterfoil call."))
        }
    }

    @Test func `a token that expires too early is refreshed, or the exit code tells the reason`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            server.change { $0.tokens.expiresIn = .raw("300") }
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            func token(_ seconds: String) async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.run(["token", "--min-lifetime", seconds], home: home)
            }
            #expect(try await token("60").output == "\(server.accessTokens[0])\n")
            #expect(server.requests(to: .token).count == 1)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503))] }
            let down = try await token("600")
            #expect(down.status == 6)
            #expect(down.output.isEmpty)
            #expect(try await token("60").status == 0)
            server.change { $0.interruptions = [] }
            let short = try await token("600")
            #expect(short.status == 64)
            #expect(short.errors.contains("the server issued an access token that expires in "))
            server.change { $0.tokens.expiresIn = .raw("3600") }
            let long = try await token("600")
            #expect(long.status == 0)
            #expect(long.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(try await token("0").status == 64)
        }
    }

    // RFC 8707 §2.2, RFC 6749 §6
    @Test func `a token for one API, or with a smaller scope, is printed, and requested once`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let (photos, mail) = ("https://photos.example.com", "https://mail.example.com")
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "photos.read mail.send", "--resource", photos, "--resource", mail)
            #expect(login.status == 0, "\(login.errors)")
            func token(_ arguments: String...) async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.run(["token"] + arguments, home: home)
            }
            func refreshes() -> [RecordedRequest] {
                server.requests(to: .token).filter { $0.form["grant_type"] == "refresh_token" }
            }
            let first = try await token("--resource", photos)
            #expect(first.output == server.accessTokens.last.map { "\($0)\n" }, "\(first.errors)")
            #expect(try await token("--resource", photos).output == first.output)
            #expect(refreshes().map { $0.form.all("resource") } == [[photos]])
            #expect(try await token().output == "\(server.accessTokens[0])\n")
            #expect(try await token("--resource", photos, "--resource", mail).output == "\(server.accessTokens[0])\n")
            let narrow = try await token("--scope", "mail.send", "--json")
            #expect(narrow.output.contains("\"scope\" : \"mail.send\""), "\(narrow.output)")
            #expect(refreshes().count == 2)

            let renewed = try await token("--resource", photos, "--min-lifetime", "86400")
            #expect(renewed.status == 64 && renewed.errors.contains("choose a shorter --min-lifetime"))
            #expect(refreshes().last?.form.all("resource") == [photos])

            let wrong: [([String], String)] = [
                (["--resource", "https://other.example.com"], "is not for the resource https://other.example.com"),
                (["--scope", "admin"], "the scope admin is not a part of the granted scope"),
                (["--resource", "photos"], "not an absolute URI"), (["--scope", "é"], "list of scope tokens"),
                (["--format", "id-token", "--scope", "mail.send"], "are for the access token"),
            ]
            let count = refreshes().count
            for (arguments, words) in wrong {
                let refused = try await CommandLineTool.run(["token"] + arguments, home: home)
                #expect(refused.status == 64 && refused.output.isEmpty, "\(arguments)")
                #expect(refused.errors.contains(words), "\(refused.errors)")
            }
            #expect(refreshes().count == count)
        }
    }

    @Test func `a server that does not narrow tokens ends no session, and none is printed`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home, "--scope", "photos.read mail.send")
            #expect(login.status == 0, "\(login.errors)")
            let narrow = ["token", "--scope", "mail.send"]
            server.change { $0.refreshTokens.refusesScope = true }
            let refused = try await CommandLineTool.run(narrow, home: home)
            #expect(refused.status == 7 && refused.errors.contains("invalid_scope"), "\(refused.errors)")
            #expect(refused.errors.contains("You are still signed in"))
            server.change {
                $0.refreshTokens.refusesScope = false
                $0.refreshTokens.ignoresTarget = true
            }
            let wide = try await CommandLineTool.run(narrow, home: home)
            #expect(wide.status == 5 && wide.output.isEmpty, "\(wide.errors)")
            #expect(wide.errors.contains("did not narrow the access token as requested: its scope is photos.read mail"))
            server.change { $0.refreshTokens.ignoresTarget = false }
            #expect(try await CommandLineTool.run(narrow, home: home).status == 0)
        }
    }

    @Test func `a token for one API is refreshed before it expires, by another process`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let (photos, mail) = ("https://photos.example.com", "https://mail.example.com")
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            server.change { $0.tokens.lifetime = 9 }
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", photos, "--resource", mail)
            #expect(login.status == 0, "\(login.errors)")
            let first = try await CommandLineTool.run(["token", "--resource", photos], home: home)
            #expect(first.status == 0, "\(first.errors)")
            let early = try await CommandLineTool.run(["refresh-early", "--resource=\(photos)"], home: home)
            #expect(early.status == 0 && early.output.isEmpty, "\(early.errors)")
            let requested = server.requests(to: .token).map { $0.form.all("resource") }
            #expect(requested == [[photos, mail], [photos], [photos]])
        }
    }

    // RFC 6749 §4.4.2
    @Test func `a service requests a token for one API`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let (photos, mail) = ("https://photos.example.com", "https://mail.example.com")
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            let file = directory.file("secret")
            try Data(server.script.clients.secret.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let login = try await CommandLineTool.login(
                [
                    server.issuer.rawValue, "--grant", "client_credentials", "--client-secret-file", file.path,
                    "--resource", photos, "--resource", mail,
                ],
                home: home)
            #expect(login.status == 0, "\(login.errors)")
            for _ in 0..<2 {
                let token = try await CommandLineTool.run(["token", "--resource", mail], home: home)
                #expect(token.output == server.accessTokens.last.map { "\($0)\n" }, "\(token.errors)")
            }
            #expect(server.requests(to: .token).map { $0.form.all("resource") } == [[photos, mail], [mail]])
            let whole = try await CommandLineTool.run(["token"], home: home)
            #expect(whole.output == "\(server.accessTokens[0])\n")
        }
    }

    @Test func `without a refresh token, a longer lifetime requires a new sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.givesNoRefreshToken)) { server in
            server.change { $0.tokens.expiresIn = .raw("300") }
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let token = try await CommandLineTool.run(["token", "--min-lifetime", "600"], home: home)
            #expect(token.status == 3)
            #expect(token.errors.contains("there is no refresh token; run counterfoil login"))
        }
    }
}
