import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil credential git`.
@Suite(.timeLimit(.minutes(5)))
struct CredentialGitTests {
    private static let git = "https://git.example.com"

    private static func request(_ host: String, scheme: String = "https", _ more: String...) -> String {
        (["protocol=\(scheme)", "host=\(host)"] + more).map { "\($0)\n" }.joined() + "\n"
    }

    @Test func `git gets the token for an API of the sign-in only`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.git).status == 0)
            for host in ["git.example.com", "GIT.example.com:443"] {
                let answer = try await CommandLineTool.credential(
                    "git", "get", request: Self.request(host), home: home)
                #expect(answer.status == 0, "\(answer.errors)")
                let lines = answer.output.split(separator: "\n").map(String.init)
                #expect(lines.prefix(2) == ["username=oauth2", "password=\(server.accessTokens[0])"])
                let expiry = try #require(lines.last?.split(separator: "=").last.flatMap { Double($0) })
                #expect(lines.count == 3 && abs(expiry - Date().timeIntervalSince1970 - 3600) < 300)
                #expect(answer.errors.isEmpty)
            }
            let named = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com", scheme: "https", "username=alice"), home: home)
            #expect(named.output.hasPrefix("username=alice\n"))
            let chosen = try await CommandLineTool.credential(
                "git", "get", "--username", "x-token", request: Self.request("git.example.com"), home: home)
            #expect(chosen.output.hasPrefix("username=x-token\n"))

            let foreign = [
                Self.request("evil.example.com"), Self.request("git.example.com", scheme: "http"),
                Self.request("git.example.com:8443"), Self.request("git.example.com@evil.example.com"),
                Self.request("git.example.com/evil"), "host=git.example.com\n\n", "",
                "protocol=https\n\nhost=git.example.com\n",
                // The server that issued the token is no API of this sign-in.
                Self.request(String(server.address.dropFirst(7)), scheme: "http"),
            ]
            for request in foreign {
                let answer = try await CommandLineTool.credential("git", "get", request: request, home: home)
                #expect(answer.status == 0 && answer.output.isEmpty, "\(request)")
            }
            for operation in ["store", "capability", "something-new"] {
                let answer = try await CommandLineTool.credential(
                    "git", operation, request: Self.request("git.example.com"), home: home)
                #expect(answer.status == 0 && answer.output.isEmpty && answer.errors.isEmpty)
            }
        }
    }

    @Test func `a token that the git server rejected is replaced`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.git).status == 0)
            let first = server.accessTokens[0]
            let harmless = [
                Self.request("git.example.com", scheme: "https", "password=another"),
                Self.request("evil.example.com", scheme: "https", "password=\(first)"),
            ]
            for request in harmless {
                #expect(try await CommandLineTool.credential("git", "erase", request: request, home: home).status == 0)
            }
            let kept = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com"), home: home)
            #expect(kept.output.contains("password=\(first)\n"))

            let erased = try await CommandLineTool.credential(
                "git", "erase", request: Self.request("git.example.com", scheme: "https", "password=\(first)"),
                home: home)
            #expect(erased.status == 0 && erased.output.isEmpty && erased.errors.isEmpty)
            let fresh = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com"), home: home)
            #expect(fresh.status == 0, "\(fresh.errors)")
            #expect(server.accessTokens.count == 2)
            #expect(fresh.output.contains("password=\(server.accessTokens[1])\n"))
        }
    }

    @Test func `a rejected token without a refresh token ends in a new sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.refreshTokens.issue = .never
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.git).status == 0)
            // A rejection without a password concerns any token.
            _ = try await CommandLineTool.credential(
                "git", "erase", request: Self.request("git.example.com"), home: home)
            let get = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com"), home: home)
            #expect(get.status == 3 && get.output.isEmpty, "\(get.errors)")
            let profiles = try await CommandLineTool.run(["profiles"], home: home)
            #expect(profiles.output.hasPrefix("default: "))
        }
    }

    @Test func `git 2.46 gets a Bearer token for a server that asks for one`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.git).status == 0)
            let bearer = ["capability[]=authtype", "wwwauth[]=Bearer realm=\"git\"", "wwwauth[]=Basic realm=\"git\""]
            let answer = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com", scheme: "https", bearer[0], bearer[1]),
                home: home)
            let lines = answer.output.split(separator: "\n").map(String.init)
            #expect(
                lines.prefix(4) == [
                    "capability[]=authtype", "authtype=Bearer", "credential=\(server.accessTokens[0])", "ephemeral=1",
                ])
            #expect(lines.count == 5 && lines[4].hasPrefix("password_expiry_utc="))
            for some in [[bearer[0], bearer[2]], [bearer[1]], [bearer[0], bearer[1], "wwwauth[]=", bearer[2]]] {
                let request = "protocol=https\nhost=git.example.com\n" + some.joined(separator: "\n") + "\n\n"
                let answer = try await CommandLineTool.credential("git", "get", request: request, home: home)
                #expect(answer.output.hasPrefix("username=oauth2\npassword="), "\(some)")
            }
            let erased = try await CommandLineTool.credential(
                "git", "erase",
                request: Self.request("git.example.com", scheme: "https", "credential=\(server.accessTokens[0])"),
                home: home)
            #expect(erased.status == 0)
            _ = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com"), home: home)
            #expect(server.accessTokens.count == 2)
        }
    }

    @Test func `a helper without a usable token says why`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let request = Self.request("git.example.com")
        let none = try await CommandLineTool.credential("git", "get", request: request, home: home)
        #expect(none.status == 3 && none.output.isEmpty)
        #expect(none.errors == "Error: no user is signed in under the profile default; run: counterfoil login\n")
        let long = try await CommandLineTool.credential(
            "git", "get", request: String(repeating: "a", count: 70_000), home: home)
        #expect(long.status == 64 && long.output.isEmpty)
    }

    @Test func `a token that is bound to a key is not passed on`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.git, "--dpop").status == 0)
            let git = try await CommandLineTool.credential(
                "git", "get", request: Self.request("git.example.com"), home: home)
            #expect(git.status == 64 && git.output.isEmpty)
            #expect(git.errors.contains("the access token is bound to a key (DPoP)"), "\(git.errors)")
            let docker = try await CommandLineTool.credential(
                "docker", "get", request: "git.example.com", home: home)
            #expect(docker.status == 64 && !docker.output.contains(server.accessTokens[0]))
        }
    }
}
