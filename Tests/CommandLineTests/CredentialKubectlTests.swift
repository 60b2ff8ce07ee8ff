import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil credential kubectl`.
@Suite(.timeLimit(.minutes(5)))
struct CredentialKubectlTests {
    private static let cluster = "https://cluster.example.com:6443"

    private struct Answer: Decodable {
        struct Status: Decodable {
            let expirationTimestamp: Date?
            let token: String
        }
        let apiVersion: String
        let kind: String
        let status: Status

        init(_ output: String) throws {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            self = try decoder.decode(Answer.self, from: Data(output.utf8))
        }
    }

    private static func request(
        _ version: String = "v1", server: String? = cluster, more: String = ""
    ) -> [String: String] {
        let cluster = server.map { ",\"cluster\":{\"server\":\"\($0)\",\"config\":null\(more)}" } ?? ""
        return [
            "KUBERNETES_EXEC_INFO":
                "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/\(version)\","
                + "\"spec\":{\"interactive\":false\(cluster)}}"
        ]
    }

    @Test func `kubectl gets the token for an API server of the sign-in only`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--api", Self.cluster, "--scope", "openid")
            #expect(login.status == 0)
            for version in ["v1", "v1beta1"] {
                let outcome = try await CommandLineTool.credential(
                    "kubectl", home: home, environment: Self.request(version, server: "\(Self.cluster)/k8s/c-1"))
                #expect(outcome.status == 0, "\(outcome.errors)")
                let answer = try Answer(outcome.output)
                #expect(answer.apiVersion == "client.authentication.k8s.io/\(version)")
                #expect(answer.kind == "ExecCredential")
                #expect(answer.status.token == server.accessTokens[0])
                let lifetime = try #require(answer.status.expirationTimestamp).timeIntervalSinceNow
                #expect(lifetime > 3000 && lifetime <= 3600)
            }
            let refused: [([String: String], Int32, String)] = [
                (Self.request(server: "https://evil.example.com"), 64, "sign in again and name https://evil"),
                (Self.request(server: "http://cluster.example.com:6443"), 64, "it must be https"),
                (Self.request(server: nil), 64, "add provideClusterInfo: true"),
                (Self.request(more: ",\"insecure-skip-tls-verify\":true"), 5, "insecure-skip-tls-verify"),
                (Self.request("v1alpha1"), 64, "configure client.authentication.k8s.io/v1"),
                (["KUBERNETES_EXEC_INFO": "{"], 64, "KUBERNETES_EXEC_INFO"), ([:], 64, "KUBERNETES_EXEC_INFO"),
            ]
            for (environment, status, words) in refused {
                for arguments in [[], ["--id-token"]] {
                    let outcome = try await CommandLineTool.run(
                        ["credential", "kubectl"] + arguments, home: home, environment: environment)
                    #expect(outcome.status == status && outcome.output.isEmpty, "\(environment)")
                    #expect(outcome.errors.contains(words), "\(outcome.errors)")
                }
            }
        }
    }

    @Test func `an expired ID token is refreshed`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            // The access token stays valid.
            server.change {
                $0.idToken.replaced = [WireMember("exp", .number(Int(Date().timeIntervalSince1970) + 20))]
            }
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--api", Self.cluster, "--scope", "openid")
            #expect(login.status == 0, "\(login.errors)")
            server.change { $0.idToken.replaced = [] }
            let outcome = try await CommandLineTool.credential(
                "kubectl", "--id-token", home: home, environment: Self.request())
            #expect(outcome.status == 0, "\(outcome.errors)")
            let answer = try Answer(outcome.output)
            #expect(answer.status.token.split(separator: ".").count == 3)
            #expect(!server.accessTokens.contains(answer.status.token))
            #expect(try #require(answer.status.expirationTimestamp).timeIntervalSinceNow > 30)
            let refreshes = { server.requests(to: .token).filter { $0.form["grant_type"] == "refresh_token" }.count }
            #expect(refreshes() == 1)
            let again = try await CommandLineTool.credential(
                "kubectl", "--id-token", home: home, environment: Self.request())
            #expect(try Answer(again.output).status.token == answer.status.token)
            #expect(refreshes() == 1)
        }
    }

    @Test func `without an ID token, --id-token asks for another sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.cluster).status == 0)
            let outcome = try await CommandLineTool.credential(
                "kubectl", "--id-token", home: home, environment: Self.request())
            #expect(outcome.status == 3 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("run counterfoil login again with --scope openid"))
        }
    }
}
