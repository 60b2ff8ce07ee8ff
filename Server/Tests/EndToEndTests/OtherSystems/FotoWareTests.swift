import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server in place of FotoWare, configured as in docs/guide/moving-from-fotoware.md.
@Suite("As a replacement of FotoWare", .timeLimit(.minutes(10)))
struct FotoWareTests {
    private static let clientID = "5d4d1f1a-7f0c-4c1e-9d6e-3f0b2c9a8e11"

    private static func run(_ body: @escaping @Sendable (MovedSite) async throws -> Void) async throws {
        try await MovedSite.run(
            path: "/fotoweb",
            prepare: { site in
                try await site.addScope("photos.read", "See your photos and albums")
                let id = try await site.registerClient(
                    scopes: ["photos.read"], options: ["--client-id", clientID, "--refresh-tokens", "always"])
                #expect(id == clientID)
            }, body)
    }

    // The FotoWare profile uses only the paths /fotoweb/oauth2/authorize and
    // /fotoweb/oauth2/token.
    @Test func `counterfoil login for FotoWare signs in and gets a refresh token`() async throws {
        try await Self.run { moved in
            let device = try moved.device()
            let login = try await moved.signIn(device, vendor: "fotoware", clientID: Self.clientID)
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.output.hasPrefix("Signed in at \(moved.issuer)"))
            let token = try await device.counterfoil("token", "--json")
            let said = try #require(try JSONSerialization.jsonObject(with: Data(token.output.utf8)) as? [String: Any])
            #expect(said["scope"] as? String == "photos.read")
        }
    }

    @Test func `the requests of the document get the documented responses`() async throws {
        try await Self.run { moved in
            let verifier = CodeVerifier()
            let redirectURI = "http://127.0.0.1:49152/callback"
            let answer = try await moved.authorize(
                "/oauth2/authorize",
                FormParameters()
                    .adding("response_type", "code").adding("client_id", Self.clientID)
                    .adding("redirect_uri", redirectURI).adding("state", "o3q7 &=")
                    .adding("code_challenge", CodeChallenge(of: verifier).rawValue)
                    .adding("code_challenge_method", "S256"))
            #expect(try answer.single("state") == "o3q7 &=")
            let code = try #require(try answer.single("code"))
            let exchange = FormParameters()
                .adding("grant_type", "authorization_code").adding("client_id", Self.clientID).adding("code", code)
                .adding("redirect_uri", redirectURI).adding("code_verifier", verifier.exposed)
            // A native client has no secret, and a request with a secret is refused.
            let withSecret = try await moved.post("/oauth2/token", exchange.adding("client_secret", "s3cr3t"))
            #expect(try withSecret.json["error"] as? String == "invalid_client")

            let tokens = try await moved.post("/oauth2/token", exchange)
            #expect(tokens.status == 200)
            #expect(tokens.header("content-type") == "application/json")
            let members = try tokens.json
            #expect((members["token_type"] as? String)?.lowercased() == "bearer")
            #expect(members["expires_in"] as? Int == 3600)
            #expect(members["access_token"] is String)

            let refresh = FormParameters()
                .adding("grant_type", "refresh_token").adding("client_id", Self.clientID)
            let first = try #require(members["refresh_token"] as? String)
            let refreshed = try await moved.post("/oauth2/token", refresh.adding("refresh_token", first))
            #expect(refreshed.status == 200)
            // A refresh returns a new refresh token, and FotoWare clients store it.
            let second = try #require(try refreshed.json["refresh_token"] as? String)
            #expect(second != first)
            #expect(try await moved.post("/oauth2/token", refresh.adding("refresh_token", second)).status == 200)
        }
    }

    @Test func `the challenge method plain is refused`() async throws {
        try await Self.run { moved in
            var browser = UserAgent(verifiesCertificates: false)
            let request = FormParameters([
                "response_type": "code", "client_id": Self.clientID, "redirect_uri": "http://127.0.0.1:49152/callback",
                "state": "a", "code_challenge": CodeVerifier().exposed, "code_challenge_method": "plain",
            ])
            let page = try await browser.send(.get, "\(moved.issuer)/oauth2/authorize?\(request.encoded)")
            #expect(try page.answer.single("error") == "invalid_request")
        }
    }
}
