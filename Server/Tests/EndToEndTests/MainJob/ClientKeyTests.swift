import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// A client that authenticates with its own key, at the real server.
@Suite(.timeLimit(.minutes(10)))
struct ClientKeyTests {
    private static let redirectURI = "https://lightbox.example/callback"

    /// The private key of the client.
    private static let key = """
        {"kty":"EC","crv":"P-256","kid":"2026-11","d":"UwOyHXKmSVouZd0XAqlSu-D-rcPLlV_K-ARH7TNmu_I"}
        """
    private static let publicKeys = """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"2026-11","x":"my9RVyEbxUNHbmtNwTP8eToVwEgN80i3YntUs2Xuy5o",\
        "y":"LMd1EL2Bn74cfz0Uat95qM1UI_CtM3T5i4eD3_yQD0Q"}]}
        """

    /// A user who allows every request; the stream receives the redirect URL.
    private struct Browser: BrowserLauncher {
        let answers: AsyncStream<String>.Continuation

        func open(_ url: BrowserURL) async -> BrowserLaunch {
            var browser = UserAgent()
            guard let page = try? await Account.alice.answer("allow", at: url.rawValue, in: &browser),
                let address = page.continuationURL
            else { return .failed("the pages lead nowhere") }
            answers.yield(address)
            return .launched
        }
    }

    // RFC 7523 §3: the server accepts its issuer as the audience.
    @Test func `a sign-in, a refresh and a revocation authenticate with the key`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let file = site.folder.path("keys.json")
            try Data(Self.publicKeys.utf8).write(to: URL(fileURLWithPath: file))
            let created = try await site.administer([
                "app", "create", "--type", "web", "--name", "Lightbox", "--jwks", file, "--redirect-uri",
                Self.redirectURI, "--scope", "openid", "--refresh-tokens", "always", "--json",
            ])
            #expect(created.status == 0, "\(created.errors)")
            struct SigningClient: Decodable {
                let client_id: String
            }
            let application = try JSONDecoder().decode(SigningClient.self, from: Data(created.output.utf8))
            try await site.serving {
                let (answers, answer) = AsyncStream.makeStream(of: String.self)
                var signIn = try NativeSignIn(
                    issuer: site.issuer, clientID: application.client_id, scope: "openid")
                signIn.options.authentication = .privateKey(try ClientKey(Self.key))
                signIn.browser = Browser(answers: answer)
                let address = try RedirectURI(Self.redirectURI)
                signIn.redirect = .receiver {
                    PasteReceiver(
                        at: address,
                        lines: {
                            for await line in answers { return line }
                            return nil
                        }, onRefusal: { Issue.record("\($0)") })
                }
                signIn.timeout = .seconds(60)
                let credentials = try await signIn.run()
                #expect(credentials.user != nil)

                let store: any TokenStore = MemoryTokenStore()
                try await store.save(credentials, as: .standard)
                let session = TokenSession(ofAnyClientIn: store)
                let fresh = try await session.refreshed(replacing: credentials.accessToken)
                #expect(fresh.accessToken != credentials.accessToken)
                #expect(try await session.signOut() == .revoked)
            }
        }
    }
}
