import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of sign-ins at servers of other projects, as their documentation and observed behaviour describe them.
@Suite(.timeLimit(.minutes(2)))
struct ScriptedProductTests {
    /// The products at which a public client gets a refresh token for `offline_access`.
    private static let refreshing = ScriptedProduct.allCases.filter { $0 != .springAuthorizationServer }

    @Test(arguments: ScriptedProduct.allCases)
    func `a sign-in works at each server`(product: ScriptedProduct) async throws {
        let port = try await UnassignedPort.one()
        let change: @Sendable (inout ServerScript) -> Void = { script in
            guard product == .canaille else { return }
            script.clients.redirects = .exactly(["http://127.0.0.1:\(port)/callback"])
        }
        try await PlayedProduct.run(product, changing: change) { server in
            var signIn = try PlayedProduct.signIn(at: server)
            if product == .canaille { signIn.redirect = try .loopback("http://127.0.0.1:\(port)/callback") }
            let credentials = try await signIn.run()
            #expect(credentials.user?.subject == "alice")
            #expect((credentials.refreshToken != nil) == Self.refreshing.contains(product))
            #expect(try await UserInfoRequest().claims(of: credentials)?.claims["name"] == .string("Alice"))
            guard let token = credentials.refreshToken else { return }
            let configuration = try await credentials.serverConfiguration(transport: .standard)
            let outcome = await TokenRefresh().refresh(credentials, with: token, at: configuration)
            guard case .refreshed(let fresh, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(fresh.user?.subject == "alice")
            #expect(try await TokenRevocation().revoke(fresh) == .revoked)
        }
    }

    // RFC 9126 §5: the server announces pushed requests without accepting them.
    @Test func `Spring's pushed request endpoint that is not enabled prevents no sign-in`() async throws {
        try await PlayedProduct.run(.springAuthorizationServer) { server in
            let reasons = Mutex<[SignInError]>([])
            _ = try await PlayedProduct.signIn(at: server).run { event in
                if case .notPushed(let error) = event { reasons.withLock { $0.append(error) } }
            }
            #expect(reasons.withLock { $0 } == [.unsafe(.tokenResponse(.unreadableRefusal(401)))])
            #expect(server.requests(to: .authorization).first?.query["code_challenge"] != nil)
        }
    }

    // OpenID Connect Discovery §4: Spring's document of RFC 8414 lacks members that OpenID's has.
    @Test func `with openid the metadata of OpenID Connect come first`() async throws {
        try await PlayedProduct.run(.springAuthorizationServer) { server in
            let credentials = try await PlayedProduct.signIn(at: server).run()
            #expect(server.requests(to: .metadata).map(\.path) == ["/.well-known/openid-configuration"])
            let configuration = try await credentials.serverConfiguration(transport: .standard)
            #expect(configuration.userInfoEndpoint?.rawValue == server.url(of: .userInfo))
            #expect(configuration.endSessionEndpoint?.rawValue == server.url(of: .endSession))
        }
    }

    // OpenID Connect Core §11
    @Test func `a refresh token is requested with prompt=consent, unless the app sets prompt`() async throws {
        try await PlayedProduct.run(.oidcProvider, changing: { $0.metadata.absent.insert(.pushedAuthorization) }) {
            server in
            var signIn = try PlayedProduct.signIn(at: server)
            #expect(try await signIn.run().scope.contains(.offlineAccess))
            signIn.options.prompt = [.login]
            let narrower = try await signIn.run()
            #expect(narrower.refreshToken == nil)
            #expect(!narrower.scope.contains(.offlineAccess))
            signIn.options.prompt = []
            _ = try await signIn.run()
            let prompts = server.requests(to: .authorization).map { $0.query["prompt"] }
            #expect(prompts == ["consent", "login", nil])
        }
    }

    // OpenID Connect Core §11
    @Test func `a server that does not need prompt=consent gets none`() async throws {
        let change: @Sendable (inout ServerScript) -> Void = { script in
            script.metadata.replaced.append(WireMember("offline_access_prompt_required", false))
        }
        try await PlayedProduct.run(.hydra, changing: change) { server in
            _ = try await PlayedProduct.signIn(at: server).run()
            #expect(server.requests(to: .authorization).first?.query["prompt"] == nil)
        }
        try await PlayedProduct.run(.hydra) { server in
            _ = try await PlayedProduct.signIn(at: server, scope: "photos.read offline_access").run()
            #expect(server.requests(to: .authorization).first?.query["prompt"] == nil)
        }
    }

    // RFC 8628 §3.5
    @Test func `an error of the server ends the device flow with its own text`() async throws {
        try await PlayedProduct.run(.zitadelOIDC) { server in
            var signIn = try DeviceSignIn(issuer: server.publishedIssuer, clientID: "lightbox", scope: "openid")
            signIn.pause = { _ in }
            let prepared = signIn
            let error = await #expect(throws: SignInError.self) { try await prepared.run { _ in } }
            #expect(
                error.map { "\($0)" }
                    == "the server reported a temporary error: server_error (no approval); try again later")
            #expect(server.requests(to: .token).count == 1)
        }
    }

    // RFC 7636 §4.3: Keycloak can require PKCE of the device grant too.
    @Test func `the device flow sends a code challenge`() async throws {
        try await PlayedProduct.run(.keycloak, changing: { $0.device.requiresPKCE = true }) { server in
            var signIn = try DeviceSignIn(issuer: server.publishedIssuer, clientID: "lightbox", scope: "openid")
            signIn.pause = { _ in }
            #expect(try await signIn.run { _ in }.user?.subject == "alice")
            let request = try #require(server.requests(to: .deviceAuthorization).first)
            #expect(request.form["code_challenge_method"] == "S256")
        }
    }

    // RFC 9449 §5.1
    @Test func `binding to a key is refused before the browser opens if the server does not announce it`()
        async throws
    {
        try await PlayedProduct.run(.hydra) { server in
            var signIn = try PlayedProduct.signIn(at: server)
            signIn.options.bindsTokens = true
            let prepared = signIn
            let error = await #expect(throws: SignInError.self) { try await prepared.run() }
            #expect("\(String(describing: error))".contains("does not announce DPoP"))
            #expect(server.requests.allSatisfy { $0.endpoint == .metadata || $0.endpoint == .unknown })
        }
    }
}
