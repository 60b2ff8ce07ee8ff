import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil whoami`.
@Suite(.timeLimit(.minutes(5)))
struct WhoamiTests {
    @Test func `whoami refreshes a rejected token once`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            server.expireAccessTokens()
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 0, "\(whoami.errors)")
            #expect(whoami.output.contains("sub: alice\n"))
            #expect(server.requests(to: .token).filter { $0.form["grant_type"] == "refresh_token" }.count == 1)
            #expect(server.requests(to: .userInfo).count == 2)

            server.change { $0.interruptions = [Interruption(at: .userInfo, .trouble(401))] }
            let rejected = try await CommandLineTool.run(["whoami"], home: home)
            // The refreshed token is rejected too, so another sign-in does not help.
            #expect(rejected.status == 7)
            #expect(!rejected.errors.contains("login again"), "\(rejected.errors)")
            #expect(server.requests(to: .userInfo).count == 4)
            server.change { $0.interruptions = [Interruption(at: .userInfo, .trouble(403))] }
            #expect(try await CommandLineTool.run(["whoami"], home: home).status == 7)
            server.change { $0.interruptions = [Interruption(at: .userInfo, .html())] }
            #expect(try await CommandLineTool.run(["whoami"], home: home).status == 6)
        }
    }

    // RFC 9068 §4: the UserInfo endpoint is not one of the APIs of the token.
    @Test func `with a token for an API alone, whoami shows the claims of the sign-in and says so`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.tokens.format = .jwt
        script.api.resource = "https://photos.example.com"
        script.interruptions = [Interruption(at: .userInfo, .trouble(401))]
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 0, "\(whoami.errors)")
            #expect(whoami.output == "sub: alice\nserver: \(server.issuer)\n")
            #expect(
                whoami.errors == """
                    The access token is for https://photos.example.com, and not for the server. So the server did not \
                    confirm the sign-in, and the claims are those of the sign-in.

                    """)
        }
    }

    // A token without a refresh token may have been revoked.
    @Test func `a rejected token that cannot be refreshed needs another sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.givesNoRefreshToken)) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            server.change { $0.interruptions = [Interruption(at: .userInfo, .trouble(401))] }
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 3)
            #expect(whoami.errors.contains("run counterfoil login again"), "\(whoami.errors)")
        }
    }

    // OpenID Connect Core §5.3.2
    @Test func `a signed UserInfo response is verified`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.signedUserInfo)) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid email").status == 0)
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 0, "\(whoami.errors)")
            #expect(whoami.output.contains("email: alice@example.com\nsub: alice\n"))
            #expect(!whoami.output.contains("aud: "))
            for change in [WireMember("aud", "other-client"), WireMember("iss", "https://evil.example.com")] {
                server.change { $0.userInfo.replaced = [change] }
                let forged = try await CommandLineTool.run(["whoami"], home: home)
                #expect(forged.status == 5, "\(forged.output)")
                #expect(forged.output.isEmpty)
            }
            server.change { $0.userInfo.replaced = [WireMember("sub", "mallory")] }
            #expect(try await CommandLineTool.run(["whoami"], home: home).status == 5)
            // The token that the client has, but not the key of the server: an answer in the name of the server.
            let body = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."
            server.change {
                $0.interruptions = [
                    Interruption(
                        at: .userInfo,
                        ScriptedAnswer(headerFields: [.init("Content-Type", "application/jwt")], body: .text(body)))
                ]
            }
            let unsigned = try await CommandLineTool.run(["whoami"], home: home)
            #expect(unsigned.status == 5)
            #expect(unsigned.errors.contains("the UserInfo response is not authentic"), "\(unsigned.errors)")
        }
    }

    // OpenID Connect Core §2: only the ID token states how the user signed in.
    @Test func `whoami shows acr and amr of the sign-in`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.idToken.replaced = [
            WireMember("acr", "urn:counterfoil:acr:passkey"), WireMember("amr", ["pop", "user", "mfa"]),
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 0, "\(whoami.errors)")
            #expect(
                whoami.output
                    == "sub: alice\nacr: urn:counterfoil:acr:passkey\namr: pop, user, mfa\nserver: \(server.issuer)\n")
            struct Answer: Decodable {
                struct Claims: Decodable {
                    let acr: String
                    let amr: [String]
                }
                let claims: Claims
            }
            let json = try await CommandLineTool.run(["whoami", "--json"], home: home)
            let claims = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8)).claims
            #expect(claims.acr == "urn:counterfoil:acr:passkey" && claims.amr == ["pop", "user", "mfa"])
        }
    }

    @Test func `JSON keeps the types of claims`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            server.change {
                $0.userInfo.replaced = [
                    WireMember("email_verified", true), WireMember("updated_at", 1_764_000_000),
                    WireMember("groups", ["staff", "photos"]), WireMember("address", ["locality": "Berlin"]),
                    WireMember("score", .raw("1.5")), WireMember("zoneinfo", .null),
                ]
            }
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let json = try await CommandLineTool.run(["whoami", "--json"], home: home)
            #expect(json.status == 0)
            struct Answer: Decodable {
                struct Claims: Decodable {
                    struct Address: Decodable {
                        let locality: String
                    }
                    let email_verified: Bool
                    let updated_at: Int
                    let groups: [String]
                    let address: Address
                    let score: Double
                    let sub: String
                }
                let claims: Claims
            }
            let claims = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8)).claims
            #expect(claims.email_verified && claims.updated_at == 1_764_000_000 && claims.score == 1.5)
            #expect(claims.groups == ["staff", "photos"] && claims.address.locality == "Berlin")
            #expect(json.output.contains("\"zoneinfo\" : null"))
            let text = try await CommandLineTool.run(["whoami"], home: home)
            #expect(text.output.contains("email_verified: true\n"))
            #expect(text.output.contains("groups: staff, photos\n"))
            #expect(text.output.contains("score: 1.5\n"))
        }
    }
}
