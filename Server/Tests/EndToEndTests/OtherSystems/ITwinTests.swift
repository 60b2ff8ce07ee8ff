import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server in place of iTwin's, configured as in docs/guide/moving-from-itwin.md.
@Suite("As a replacement of iTwin", .timeLimit(.minutes(10)))
struct ITwinTests {
    private static let native = "native-2746fSDgdgTAWsKE"
    private static let singlePage = "spa-9Qb2mVZyKk0rT3uPz"
    private static let scope = "itwin-platform offline_access"

    private static func run(
        assigned: [String] = ["itwin-platform", "offline_access"],
        _ body: @escaping @Sendable (MovedSite) async throws -> Void
    ) async throws {
        try await MovedSite.run(
            aliases: [
                "authorization=/connect/authorize", "token=/connect/token", "userinfo=/connect/userinfo",
                "revocation=/connect/revocation",
            ],
            prepare: { site in
                try await site.addScope("itwin-platform", "See and change your iTwins")
                _ = try await site.registerClient(
                    redirectURIs: ["http://localhost/signin-callback"], scopes: assigned,
                    options: ["--client-id", native])
                let ended = try await site.administer(
                    [
                        "app", "create", "--type", "spa", "--name", "Viewer", "--client-id", singlePage,
                        "--redirect-uri", "https://viewer.example.com/signin-callback", "--access-token-lifetime",
                        "3600",
                    ] + assigned.flatMap { ["--scope", $0] })
                #expect(ended.status == 0, "\(ended.errors)")
            }, body)
    }

    @Test func `counterfoil login for iTwin signs in, stays signed in and signs out`() async throws {
        try await Self.run { moved in
            let device = try moved.device()
            let login = try await moved.signIn(device, vendor: "itwin", clientID: Self.native)
            #expect(login.status == 0, "\(login.errors)")
            let token = try await device.counterfoil("token", "--json")
            let said = try #require(try JSONSerialization.jsonObject(with: Data(token.output.utf8)) as? [String: Any])
            #expect((said["scope"] as? String)?.split(separator: " ").sorted() == ["itwin-platform", "offline_access"])
            #expect(try await device.counterfoil("logout").status == 0)

            // A device that does not trust the certificate authority cannot connect.
            let other = try Device(in: moved.site.folder)
            let refused = try await other.counterfoil(
                "login", moved.front.host, "--vendor", "itwin", "--client-id", Self.native)
            #expect(refused.status != 0)
            #expect(refused.errors.contains("the TLS certificate of https://\(moved.front.host) is not trusted"))
        }
    }

    /// Returns the authorization request of the guide, in which `state` is optional.
    private static func request(_ clientID: String, at redirectURI: String, _ verifier: CodeVerifier) -> FormParameters
    {
        FormParameters()
            .adding("response_type", "code").adding("client_id", clientID).adding("redirect_uri", redirectURI)
            .adding("scope", scope).adding("code_challenge", CodeChallenge(of: verifier).rawValue)
            .adding("code_challenge_method", "S256")
    }

    /// Returns the token request of the guide, which repeats the scope.
    private static func exchange(
        _ clientID: String, at redirectURI: String, _ verifier: CodeVerifier, _ code: String
    ) -> FormParameters {
        FormParameters()
            .adding("grant_type", "authorization_code").adding("client_id", clientID)
            .adding("code_verifier", verifier.exposed).adding("code", code).adding("redirect_uri", redirectURI)
            .adding("scope", scope)
    }

    @Test(arguments: [
        (native, "http://localhost:3000/signin-callback"), (singlePage, "https://viewer.example.com/signin-callback"),
    ])
    func `the requests of the document get the documented responses`(clientID: String, redirectURI: String) async throws
    {
        try await Self.run { moved in
            let verifier = CodeVerifier()
            let answer = try await moved.authorize(
                "/connect/authorize", Self.request(clientID, at: redirectURI, verifier))
            #expect(try answer.single("state") == nil)
            let code = try #require(try answer.single("code"))
            let tokens = try await moved.post(
                "/connect/token", Self.exchange(clientID, at: redirectURI, verifier, code))
            #expect(tokens.status == 200)
            let members = try tokens.json
            #expect(members["token_type"] as? String == "Bearer")
            #expect(members["expires_in"] as? Int == 3600)
            #expect(members["scope"] as? String == Self.scope)
            // iTwin clients send a redirect URI with a refresh, which the server ignores.
            let refreshed = try await moved.post(
                "/connect/token",
                FormParameters()
                    .adding("grant_type", "refresh_token").adding("client_id", clientID)
                    .adding("refresh_token", try #require(members["refresh_token"] as? String))
                    .adding("redirect_uri", redirectURI))
            #expect(refreshed.status == 200)
        }
    }

    // The same requests by a client without the scope offline_access.
    @Test func `a client without refresh tokens repeats the full scope and gets the granted part`() async throws {
        try await Self.run(assigned: ["itwin-platform"]) { moved in
            let verifier = CodeVerifier()
            let redirectURI = "http://localhost:3000/signin-callback"
            let answer = try await moved.authorize(
                "/connect/authorize", Self.request(Self.native, at: redirectURI, verifier))
            let code = try #require(try answer.single("code"))
            let tokens = try await moved.post(
                "/connect/token", Self.exchange(Self.native, at: redirectURI, verifier, code))
            #expect(tokens.status == 200)
            #expect(try tokens.json["scope"] as? String == "itwin-platform")
            #expect(try tokens.json["refresh_token"] == nil)
        }
    }

    // Scripts of the registered origin can read the response at the second path too; scripts of other
    // origins cannot.
    @Test func `a single-page app reads the response at the second path`() async throws {
        try await Self.run { moved in
            var agent = UserAgent(verifiesCertificates: false)
            for (origin, isAllowed) in [("https://viewer.example.com", true), ("https://evil.example.com", false)] {
                let answer = try await agent.send(
                    .post, "\(moved.issuer)/connect/token", headers: ["origin": origin],
                    form: FormParameters(["grant_type": "authorization_code"]))
                #expect((answer.header("access-control-allow-origin") == origin) == isAllowed)
            }
            let wrong = try await agent.send(.get, "\(moved.issuer)/connect/token")
            #expect(wrong.status == 405)
            #expect(wrong.header("allow") == "POST")
        }
    }
}
