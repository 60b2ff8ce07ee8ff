import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server in place of Zoho's, configured as in docs/guide/moving-from-zoho.md.
@Suite("As a replacement of Zoho", .timeLimit(.minutes(10)))
struct ZohoTests {
    private static let mobile = "1000.R2K7A2NQIYQZ4I8B0UEUOQUVWYXZAB"
    private static let legacy = "1000.LEGACY0000000000000000000000AB"
    private static let scope = "PhotoLibrary.photos.READ"

    private static func run(_ body: @escaping @Sendable (MovedSite) async throws -> Void) async throws {
        try await MovedSite.run(
            aliases: [
                "authorization=/oauth/v2/auth", "token=/oauth/v2/token", "revocation=/oauth/v2/token/revoke",
            ],
            prepare: { site in
                try await site.addScope(scope, "See your photos and albums")
                for (id, pkce) in [(mobile, "s256-or-plain"), (legacy, "exempt-until:2099-12-31")] {
                    _ = try await site.registerClient(
                        redirectURIs: ["com.example.lightbox:/oauth", "http://127.0.0.1/callback"], scopes: [scope],
                        options: ["--client-id", id, "--refresh-tokens", "always", "--pkce", pkce])
                }
            }, body)
    }

    /// Returns the authorization request of the guide.
    private static func request(_ clientID: String = mobile, at redirectURI: String) -> FormParameters {
        FormParameters()
            .adding("client_id", clientID).adding("response_type", "code").adding("redirect_uri", redirectURI)
            .adding("scope", scope).adding("access_type", "offline").adding("prompt", "consent")
    }

    private static func exchange(_ clientID: String = mobile, at redirectURI: String, _ code: String) -> FormParameters
    {
        FormParameters()
            .adding("grant_type", "authorization_code").adding("client_id", clientID)
            .adding("redirect_uri", redirectURI).adding("code", code)
    }

    // A native client has no secret, and the command requests one only for hosts of Zoho.
    @Test func `counterfoil login for Zoho signs in without a secret, and signs out`() async throws {
        try await Self.run { moved in
            let device = try moved.device()
            let login = try await moved.signIn(
                device, vendor: "zoho", clientID: Self.mobile, ["--scope", Self.scope])
            #expect(login.status == 0, "\(login.errors)")
            #expect(try await device.counterfoil("token").status == 0)
            #expect(try await device.counterfoil("logout").status == 0)
        }
    }

    @Test(arguments: [
        ("com.example.lightbox:/oauth", "S256"), ("http://127.0.0.1:49152/callback", "S256"),
        ("com.example.lightbox:/oauth", "plain"), ("com.example.lightbox:/oauth", nil),
    ])
    func `the requests of the document get the documented responses`(redirectURI: String, method: String?) async throws
    {
        try await Self.run { moved in
            let verifier = CodeVerifier()
            var request = Self.request(at: redirectURI)
                .adding("code_challenge", method == "S256" ? CodeChallenge(of: verifier).rawValue : verifier.exposed)
            // The default method is plain.
            request.append("code_challenge_method", ifPresent: method)
            let code = try #require(try await moved.authorize("/oauth/v2/auth", request).single("code"))
            let exchange = Self.exchange(at: redirectURI, code)
            let wrong = try await moved.post(
                "/oauth/v2/token", exchange.adding("code_verifier", CodeVerifier().exposed))
            #expect(wrong.status == 400)
            let tokens = try await moved.post("/oauth/v2/token", exchange.adding("code_verifier", verifier.exposed))
            #expect(tokens.status == 200)
            #expect(try tokens.json["token_type"] as? String == "Bearer")
            #expect(try tokens.json["expires_in"] as? Int == 3600)

            // RFC 9700 §4.14.2: a client without a secret gets a new refresh token with each refresh,
            // unlike at Zoho.
            var refreshToken = try #require(try tokens.json["refresh_token"] as? String)
            let refresh = FormParameters()
                .adding("grant_type", "refresh_token").adding("client_id", Self.mobile)
            for _ in 0..<2 {
                let refreshed = try await moved.post("/oauth/v2/token", refresh.adding("refresh_token", refreshToken))
                #expect(refreshed.status == 200)
                let next = try #require(try refreshed.json["refresh_token"] as? String)
                #expect(next != refreshToken)
                refreshToken = next
            }
            let revoked = try await moved.post(
                "/oauth/v2/token/revoke",
                FormParameters().adding("token", refreshToken).adding("client_id", Self.mobile))
            #expect(revoked.status == 200)
            let after = try await moved.post("/oauth/v2/token", refresh.adding("refresh_token", refreshToken))
            #expect(try after.json["error"] as? String == "invalid_grant")
        }
    }

    // A client without PKCE that an administrator has exempted until a date.
    @Test func `an exempt client gets tokens without PKCE`() async throws {
        try await Self.run { moved in
            let redirectURI = "com.example.lightbox:/oauth"
            let answer = try await moved.authorize("/oauth/v2/auth", Self.request(Self.legacy, at: redirectURI))
            let code = try #require(try answer.single("code"))
            let tokens = try await moved.post("/oauth/v2/token", Self.exchange(Self.legacy, at: redirectURI, code))
            #expect(tokens.status == 200)
            let other = try await Self.errorOfRequest(moved, Self.request(at: redirectURI))
            #expect(other == "invalid_request")
        }
    }

    // The differences that the guide lists.
    @Test func `what Zoho accepts against the standard is refused`() async throws {
        try await Self.run { moved in
            let redirectURI = "com.example.lightbox:/oauth"
            let verifier = CodeVerifier()
            let challenged = Self.request(at: redirectURI)
                .adding("code_challenge", CodeChallenge(of: verifier).rawValue).adding("code_challenge_method", "S256")
            let commas = FormParameters(
                challenged.pairs.map { $0.name == "scope" ? .init(name: "scope", value: "\(Self.scope),email") : $0 })
            #expect(try await Self.errorOfRequest(moved, commas) == "invalid_scope")

            let code = try #require(try await moved.authorize("/oauth/v2/auth", challenged).single("code"))
            let exchange = Self.exchange(at: redirectURI, code).adding("code_verifier", verifier.exposed)
            let inQuery = try await moved.post("/oauth/v2/token?\(exchange.encoded)", FormParameters())
            #expect(inQuery.status == 400)
            let withSecret = try await moved.post("/oauth/v2/token", exchange.adding("client_secret", "s3cr3t"))
            #expect(try withSecret.json["error"] as? String == "invalid_client")
            #expect(try await moved.post("/oauth/v2/token", exchange).status == 200)
        }
    }

    private static func errorOfRequest(_ moved: MovedSite, _ request: FormParameters) async throws -> String? {
        var browser = UserAgent(verifiesCertificates: false)
        let page = try await browser.send(.get, "\(moved.issuer)/oauth/v2/auth?\(request.encoded)")
        return try page.answer.single("error")
    }
}
