import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

/// Tests of clients that authenticate with a secret.
@Suite(.timeLimit(.minutes(2)))
struct ClientSecretTests {
    private static func script(
        _ accepted: ClientScript.Authentication, listing methods: [String]?
    ) -> ServerScript {
        var script = ServerScript()
        script.clients.authentication = accepted
        let name = "token_endpoint_auth_methods_supported"
        if let methods {
            script.metadata.replaced = [WireMember(name, .list(methods.map { .text($0) }))]
        } else {
            script.metadata.omitted = [name]
        }
        return script
    }

    private static func signIn(
        at server: ScriptedAuthorizationServer, _ secret: String? = nil
    ) throws -> NativeSignIn {
        var signIn = try PlayedProduct.signIn(at: server, scope: "openid")
        signIn.options.authentication = .secret(try #require(ClientSecret(secret ?? server.script.clients.secret)))
        return signIn
    }

    // RFC 8414 §2, RFC 6749 §2.3.1
    @Test(
        arguments: [
            (script(.basic, listing: nil), "basic", 1), (script(.basic, listing: ["client_secret_basic"]), "basic", 1),
            (script(.post, listing: ["client_secret_post", "none"]), "post", 1),
            (script(.basic, listing: ["client_secret_post", "client_secret_basic"]), "basic", 1),
            (script(.post, listing: ["client_secret_post", "client_secret_basic"]), "post", 2),
        ] as [(ServerScript, String, Int)])
    func `a secret is sent by a method that the server lists and accepts`(
        script: ServerScript, method: String, requests: Int
    ) async throws {
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await Self.signIn(at: server).run()
            switch credentials.authentication {
            case .secretBasic: #expect(method == "basic")
            case .secretPost: #expect(method == "post")
            case .none, .secret, .privateKey: Issue.record("\(credentials.authentication)")
            }
            #expect(server.requests(to: .pushedAuthorization).count == requests)
            #expect(server.requests(to: .token).count == requests)
            // A refresh uses the method that was accepted.
            server.forgetRequests()
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            _ = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: credentials.accessToken)
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `a wrong secret is tried once by each method and is in no error`() async throws {
        let script = Self.script(.post, listing: ["client_secret_post", "client_secret_basic"])
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = try Self.signIn(at: server, "wrong-secret")
            let error = await #expect(throws: SignInError.self) { try await signIn.run() }
            #expect(error == .refused(OAuthError(.invalidClient)))
            #expect(server.requests(to: .token).count == 2)
            #expect(!"\(String(reflecting: error))".contains("wrong-secret"))
        }
    }
}
