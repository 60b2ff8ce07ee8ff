import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of what `login` says after a sign-in, of `--prompt`, and of the sign-in of a service.
@Suite(.timeLimit(.minutes(5)))
struct LoginResultTests {
    private struct Result: Decodable {
        let scope: String
        let missing_scope: String?
        let subject: String?
        let refreshable: Bool

        init(_ outcome: CommandLineTool.Outcome) throws {
            self = try JSONDecoder().decode(Result.self, from: Data(outcome.output.utf8))
        }
    }

    // RFC 6749 §3.3
    @Test func `login says which scope was not granted`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.authorization.grantedScope = "openid photos.read"
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid photos.read photos.write")
            #expect(login.status == 0, "\(login.errors)")
            #expect(
                login.errors.contains(
                    "The server did not grant the scope photos.write. Sign in again and allow it, or ask the operator of the server.\n"
                ), "\(login.errors)")
            let json = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid photos.write", "--json")
            #expect(try Result(json).missing_scope == "photos.write")
            let all = try await CommandLineTool.signIn(at: server, home: home, "--scope", "photos.read", "--json")
            #expect(try Result(all).missing_scope == nil)
            #expect(!all.errors.contains("did not grant"))
        }
    }

    // RFC 6749 §5.1: the response states the scope of the access token, which is for an API alone.
    @Test func `login calls no scope missing that only the ID token uses`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.tokens.scope = .replaced("photos.read")
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid profile email photos.read", "--resource",
                "https://photos.example.com", "--json")
            #expect(login.status == 0, "\(login.errors)")
            #expect(try Result(login).missing_scope == nil)
            #expect(!login.errors.contains(" the scope "), "\(login.errors)")
            let wider = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid photos.read albums.read", "--resource",
                "https://photos.example.com")
            #expect(
                wider.errors.contains(
                    "The access token for https://photos.example.com does not have the scope albums.read. Sign in again and "
                        + "allow it, or name the API of the scope with --resource.\n"), "\(wider.errors)")
        }
    }

    // RFC 6749 §3.3, RFC 9068 §3
    @Test func `login names the API of the access token that does not have a requested scope`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.tokens.format = .jwt
        script.api.resource = "https://photos.example.com"
        script.authorization.grantedScope = "openid photos.read"
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid photos.read tickets.read")
            #expect(login.status == 0, "\(login.errors)")
            #expect(
                login.errors.contains(
                    "The access token for https://photos.example.com does not have the scope tickets.read. Sign in again "
                        + "and allow it. If the server does not ask for it, the scope is not registered for this API; "
                        + "name its API with --resource, or ask the operator of the server.\n"), "\(login.errors)")
            // The issuer is no API that has scopes of its own.
            server.change { $0.api.resource = "{issuer}" }
            let ofIssuer = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid photos.read tickets.read")
            #expect(
                ofIssuer.errors.contains("The server did not grant the scope tickets.read. "), "\(ofIssuer.errors)")
        }
    }

    @Test func `login says that there is no refresh token, and what to do`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.givesNoRefreshToken)) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home)
            #expect(login.errors.contains("The server issued no refresh token, so the sign-in ends at 20"))
            #expect(login.errors.contains("Some servers issue one for --scope offline_access.\n"))
            let offline = try await CommandLineTool.signIn(
                at: server, home: home, "--scope", "openid offline_access", "--json")
            #expect(offline.errors.contains("The server issued no refresh token although offline_access was requested"))
            #expect(try Result(offline).refreshable == false)
            #expect(try Result(offline).missing_scope == nil)
        }
    }

    @Test func `login says whose sign-in it replaces`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { first in
            #expect(try await CommandLineTool.signIn(at: first, home: home, "--scope", "openid").status == 0)
            let again = try await CommandLineTool.signIn(at: first, home: home, "--scope", "openid")
            #expect(!again.errors.contains("This replaces"))
            try await ScriptedAuthorizationServer.run { second in
                let login = try await CommandLineTool.signIn(at: second, home: home)
                #expect(
                    login.errors.contains(
                        "This replaces the sign-in of alice at \(first.issuer) under the profile default.\n"),
                    "\(login.errors)")
            }
        }
    }

    // OpenID Connect Core §3.1.2.1
    @Test func `login --prompt asks the server for pages, and none excludes the others`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--prompt", "login", "--prompt", "select_account")
            #expect(login.status == 0, "\(login.errors)")
            // The check of the client runs beside the browser and asks for no page; it may be recorded last.
            let sent = server.requests(to: .authorization).compactMap { $0.query["prompt"] }
            #expect(sent.map { Set($0.split(separator: " ")) } == [["login", "select_account"]])
            for arguments in [["none", "--prompt", "login"], ["sign-up"], ["login", "--device"]] {
                let refused = try await CommandLineTool.login(
                    [server.issuer.rawValue, "--prompt"] + arguments, home: home)
                #expect(refused.status == 64)
                #expect(refused.errors.contains("--prompt"))
            }
        }
    }

    // RFC 6749 §4.4
    @Test func `a service signs in without a user, and each command renews its token`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            let secret = directory.file("secret")
            try Data(server.script.clients.secret.utf8).write(to: secret)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
            let options = [
                server.issuer.rawValue, "--client-id", "nightly-job", "--grant", "client_credentials", "--scope",
                "photos.read", "--client-secret-file", secret.path,
            ]
            let login = try await CommandLineTool.run(["login", "--json"] + options, home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(!login.errors.contains("Open: ") && !login.errors.contains("refresh token"))
            let result = try Result(login)
            #expect(result.subject == nil && result.refreshable && result.scope == "photos.read")
            #expect(server.requests(to: .authorization).isEmpty)

            #expect(try await CommandLineTool.run(["token"], home: home).output == "\(server.accessTokens[0])\n")
            #expect(server.requests(to: .token).count == 1)
            // The scripted tokens expire in an hour.
            let short = try await CommandLineTool.run(["token", "--min-lifetime", "7200"], home: home)
            #expect(short.status == 64)
            #expect(short.errors.contains("choose a shorter --min-lifetime"))
            server.change { $0.tokens.expiresIn = .raw("7300") }
            let longer = try await CommandLineTool.run(["token", "--min-lifetime", "7200"], home: home)
            #expect(longer.output == server.accessTokens.last.map { "\($0)\n" })
            #expect(server.requests(to: .token).count == 3)
            let status = try await CommandLineTool.run(["status"], home: home)
            #expect(status.status == 0)
            #expect(status.output.contains("because a service authenticates again for each access token\n"))
            #expect(try await CommandLineTool.run(["call", server.url(of: .api)], home: home).status == 0)

            // A second time needs nothing else.
            let again = try await CommandLineTool.run(["login"], home: home)
            #expect(again.output.hasPrefix("Signed in at \(server.issuer) as the service nightly-job."))

            for (extra, words) in [
                (["--device"], "A service has no user"), (["--prompt", "login"], "A service has no user"),
                (["--parameter", "audience=x"], "which a service does not send"),
            ] {
                let refused = try await CommandLineTool.run(["login"] + options + extra, home: home)
                #expect(refused.status == 64)
                #expect(refused.errors.contains(words), "\(refused.errors)")
            }
            let open = try await CommandLineTool.run(["login"] + options.dropLast(2), home: home)
            #expect(open.status == 64)
            #expect(open.errors.contains("a service authenticates with a secret or a key"))
        }
    }

    @Test func `a negative lifetime is refused with its limits`() async throws {
        let directory = try TemporaryDirectory()
        let token = try await CommandLineTool.run(["token", "--min-lifetime", "-5"], home: directory.url)
        #expect(token.status == 64)
        #expect(token.errors.contains("--min-lifetime must be a number of seconds from 1 to 86400."))
    }
}
