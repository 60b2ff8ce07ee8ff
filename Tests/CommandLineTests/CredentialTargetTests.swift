import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the tokens for one API that `counterfoil credential` passes to other programs.
@Suite(.timeLimit(.minutes(5)))
struct CredentialTargetTests {
    private static let git = "https://git.example.com"
    private static let registry = "https://registry.example.com"
    private static let cluster = "https://cluster.example.com:6443"

    private static func refreshes(at server: ScriptedAuthorizationServer) -> [[String]] {
        server.requests(to: .token).filter { $0.form["grant_type"] == "refresh_token" }.map { $0.form.all("resource") }
    }

    // RFC 8707 §2.2
    @Test func `each program gets a token for its own server from one sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let service = server.url(of: .api)
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", Self.git, "--resource", Self.registry, "--resource", Self.cluster,
                "--resource", service)
            #expect(login.status == 0, "\(login.errors)")
            let info = #"""
                {"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":{"server":"\#
                https://cluster.example.com:6443"}}}
                """#
            server.change { $0.interruptions = [Interruption(at: .api, ScriptedAnswer(status: 403))] }
            for _ in 0..<2 {
                let git = try await CommandLineTool.credential(
                    "git", "get", request: "protocol=https\nhost=git.example.com\n\n", home: home)
                #expect(git.output.contains("password=\(server.accessTokens[1])\n"), "\(git.errors)")
                let docker = try await CommandLineTool.credential(
                    "docker", "get", request: "registry.example.com", home: home)
                #expect(docker.output.contains("\"\(server.accessTokens[2])\""), "\(docker.errors)")
                let kubectl = try await CommandLineTool.credential(
                    "kubectl", home: home, environment: ["KUBERNETES_EXEC_INFO": info])
                #expect(kubectl.output.contains("\"\(server.accessTokens[3])\""), "\(kubectl.errors)")
                _ = try await CommandLineTool.credential(
                    "aws", "--role-arn", "arn:aws:iam::123456789012:role/photos", "--sts-endpoint", service,
                    "--access-token", home: home)
                #expect(server.requests(to: .api).last?.form["WebIdentityToken"] == server.accessTokens[4])
            }
            #expect(Self.refreshes(at: server) == [[Self.git], [Self.registry], [Self.cluster], [service]])
        }
    }

    @Test func `--resource and --scope choose the token, within the servers to which it may be sent`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let (one, two) = ("urn:example:one", "urn:example:two")
        let request = "protocol=https\nhost=git.example.com\n\n"
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--api", Self.git, "--resource", one, "--resource", two, "--resource",
                Self.registry, "--scope", "repo admin")
            #expect(login.status == 0, "\(login.errors)")
            let plain = try await CommandLineTool.credential("git", "get", request: request, home: home)
            #expect(plain.output.contains("password=\(server.accessTokens[0])\n"), "\(plain.errors)")
            let chosen = try await CommandLineTool.credential(
                "git", "get", "--resource", two, "--scope", "repo", request: request, home: home)
            #expect(chosen.output.contains("password=\(server.accessTokens[1])\n"), "\(chosen.errors)")
            #expect(Self.refreshes(at: server) == [[two]])
            #expect(server.requests(to: .token).last?.form["scope"] == "repo")
            // A token for the registry is not for the git server, and the other way round.
            let foreign = try await CommandLineTool.credential(
                "git", "get", "--resource", one, request: "protocol=https\nhost=registry.example.com\n\n", home: home)
            #expect(foreign.status == 0 && foreign.output.isEmpty)
            #expect(Self.refreshes(at: server).count == 1)
            for arguments in [["kubectl", "--id-token"], ["aws", "--role-arn", "arn:aws:iam::123456789012:role/r"]] {
                let wrong = try await CommandLineTool.run(["credential"] + arguments + ["--resource", one], home: home)
                #expect(wrong.status == 64 && wrong.errors.contains("are for the access token"), "\(wrong.errors)")
            }
        }
    }

    @Test func `a token for one API that the git server rejected is replaced, and the others stay`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", Self.git, "--resource", Self.registry)
            #expect(login.status == 0, "\(login.errors)")
            func git(_ operation: String, _ more: String = "") async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.credential(
                    "git", operation, request: "protocol=https\nhost=git.example.com\n\(more)\n", home: home)
            }
            for (number, more) in [(1, "password=\(try await git("get").output.password)\n"), (2, "")] {
                #expect(try await git("get").output.password == server.accessTokens[number])
                #expect(try await git("erase", more).status == 0)
                #expect(try await git("get").output.password == server.accessTokens[number + 1])
            }
            let whole = try await CommandLineTool.run(["token"], home: home)
            #expect(whole.output == "\(server.accessTokens[0])\n")
        }
    }

    // RFC 8707 §2.2
    @Test func `a program gets the token of the whole sign-in from a server that issues no other`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript(.rotatesStrictly)
        script.tokens.format = .jwt
        script.refreshTokens.ignoresTarget = true
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", Self.git, "--resource", Self.registry)
            #expect(login.status == 0, "\(login.errors)")
            let request = "protocol=https\nhost=git.example.com\n\n"
            func git(_ operation: String) async throws -> CommandLineTool.Outcome {
                try await CommandLineTool.credential("git", operation, request: request, home: home)
            }
            let first = try await git("get")
            #expect(first.output.password == server.accessTokens[0], "\(first.errors)")
            #expect(
                first.errors.hasPrefix(
                    "There is no access token for \(Self.git) only: the server did not narrow the access token as "
                        + "requested: it is also for \(Self.registry)."), "\(first.errors)")
            // The next program sends no refresh in vain.
            let second = try await git("get")
            #expect(second.output.password == server.accessTokens[0] && second.errors.isEmpty, "\(second.errors)")
            #expect(Self.refreshes(at: server) == [[Self.git]])
            let chosen = try await CommandLineTool.credential(
                "git", "get", "--resource", Self.git, request: request, home: home)
            #expect(chosen.status == 5 && chosen.output.isEmpty, "\(chosen.errors)")
            // A rejection without a password concerns the token that was passed.
            #expect(try await git("erase").status == 0)
            #expect(try await git("get").output.password == server.accessTokens[3])
        }
    }

    @Test func `without a refresh token a program gets the token of the whole sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.givesNoRefreshToken)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", Self.git, "--resource", Self.registry)
            #expect(login.status == 0, "\(login.errors)")
            let request = "protocol=https\nhost=git.example.com\n\n"
            let git = try await CommandLineTool.credential("git", "get", request: request, home: home)
            #expect(git.output.password == server.accessTokens[0])
            let chosen = try await CommandLineTool.credential(
                "git", "get", "--resource", Self.git, request: request, home: home)
            #expect(chosen.status == 3 && chosen.output.isEmpty, "\(chosen.errors)")
        }
    }
}

extension String {
    /// The value of `password` in an answer to git.
    fileprivate var password: String {
        split(separator: "\n").first { $0.hasPrefix("password=") }.map { String($0.dropFirst(9)) } ?? ""
    }
}
