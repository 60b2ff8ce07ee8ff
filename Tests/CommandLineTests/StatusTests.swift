import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil status`.
@Suite(.timeLimit(.minutes(5)))
struct StatusTests {
    private struct Status: Decodable {
        let profile: String
        let signed_in: Bool
        let good: Bool
        let issuer: String?
        let client_id: String?
        let subject: String?
        let acr: String?
        let amr: [String]?
        let scope: String?
        let apis: [String]?
        let expires_at: String?
        let refreshable: Bool?
        let bound_to_key: Bool?
        let stored_in: String?

        init(_ outcome: CommandLineTool.Outcome) throws {
            self = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
        }
    }

    @Test func `status describes a sign-in whose server is unreachable`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.refreshTokens.issue = .withScope(["offline_access"])
        let (issuer, secrets) = try await ScriptedAuthorizationServer.run(script) { server in
            for (profile, scope) in [("default", "openid"), ("kept", "openid offline_access")] {
                let login = try await CommandLineTool.signIn(
                    at: server, home: home, "--profile", profile, "--scope", scope, "--api",
                    "https://photos.example.com")
                #expect(login.status == 0, "\(login.errors)")
            }
            return (server.issuer.rawValue, server.secrets)
        }
        // The server has ended now.
        let good = try await CommandLineTool.run(["status"], home: home)
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.errors.isEmpty)
        let lines = good.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 10, "\(good.output)")
        #expect(lines[0...2] == ["Profile: default", "User: alice", "Server: \(issuer)"])
        #expect(lines[3...5] == ["Client: lightbox", "Scope: openid", "APIs: https://photos.example.com"])
        #expect(lines[6].hasPrefix("Access token: valid until 20") && lines[6].hasSuffix(" min left)"))
        #expect(lines[7] == "Refresh token: none, so the sign-in ends with the access token")
        #expect(lines[8] == "Stored in: the encrypted file \(home.path)/.local/share/counterfoil/tokens")
        #expect(lines[9] == "The sign-in is good on this device; the server was not asked.")

        let json = try await CommandLineTool.run(["status", "--json", "--profile", "kept"], home: home)
        #expect(json.status == 0, "\(json.errors)")
        let status = try Status(json)
        #expect(status.profile == "kept" && status.signed_in && status.good)
        #expect(status.issuer == issuer && status.client_id == "lightbox" && status.subject == "alice")
        #expect(status.scope == "openid offline_access" && status.apis == ["https://photos.example.com"])
        #expect(status.refreshable == true && status.bound_to_key == false && status.expires_at != nil)
        for secret in secrets { #expect(!(good.output + json.output).contains(secret)) }
    }

    @Test func `an expired access token is good only with a refresh token`() async throws {
        for (misbehavior, code) in [(nil, 0), (.givesNoRefreshToken, 3)] as [(Misbehavior?, Int32)] {
            let directory = try TemporaryDirectory()
            let home = directory.url
            var script = misbehavior.map { ServerScript($0) } ?? ServerScript()
            script.tokens.expiresIn = .raw("0")
            try await ScriptedAuthorizationServer.run(script) { server in
                #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
                let requests = server.requests.count
                let status = try await CommandLineTool.run(["status"], home: home)
                #expect(status.status == code)
                #expect(status.errors.isEmpty)
                #expect(status.output.contains("Access token: expired at 20"))
                #expect(status.output.contains(", refreshed at its next use\n") == (code == 0))
                #expect(
                    status.output.hasSuffix(
                        code == 0
                            ? "The sign-in is good on this device; the server was not asked.\n"
                            : "Sign in again: counterfoil login --profile default\n"))
                let json = try await CommandLineTool.run(["status", "--json"], home: home)
                #expect(json.status == code)
                #expect(try Status(json).good == (code == 0))
                #expect(server.requests.count == requests)
            }
        }
    }

    @Test(arguments: [
        (WireMember("acr", "urn:counterfoil:acr:passkey"), "urn:counterfoil:acr:passkey (a passkey)"),
        (WireMember("acr", "goldenkey"), "goldenkey"), (WireMember("amr", ["pwd", "otp"]), "pwd otp"),
    ])
    func `status says how the user signed in`(claim: WireMember, words: String) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.idToken.replaced = [claim]
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let text = try await CommandLineTool.run(["status"], home: home)
            #expect(text.output.contains("User: alice\nSigned in with: \(words)\nServer: "), "\(text.output)")
            let status = try Status(try await CommandLineTool.run(["status", "--json"], home: home))
            #expect(status.acr.map { .text($0) } == (claim.name == "acr" ? claim.value : nil))
            #expect(status.amr == (claim.name == "amr" ? ["pwd", "otp"] : nil))
        }
    }

    @Test func `a profile without a sign-in ends with exit code 3`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let none = try await CommandLineTool.run(["status"], home: home)
        #expect(none.status == 3)
        #expect(none.output.isEmpty)
        #expect(none.errors == "Error: no user is signed in under the profile default; run: counterfoil login\n")
        let json = try await CommandLineTool.run(["status", "--json", "--profile", "work"], home: home)
        #expect(json.status == 3)
        #expect(json.errors.isEmpty)
        let status = try Status(json)
        #expect(status.profile == "work" && !status.signed_in && !status.good)
    }
}
