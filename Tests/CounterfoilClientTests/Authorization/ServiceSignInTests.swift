import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of services, which sign in without a user.
@Suite(.timeLimit(.minutes(2)))
struct ServiceSignInTests {
    /// Prepares a sign-in of a service with a client secret.
    static func signIn(at server: ScriptedAuthorizationServer, scope: String = "photos.read") throws -> ServiceSignIn {
        try ServiceSignIn(
            issuer: server.issuer.rawValue, clientID: "nightly-job",
            authentication: .secretBasic(try #require(ClientSecret(server.script.clients.secret))), scope: scope)
    }

    private static func script() -> ServerScript {
        var script = ServerScript()
        script.clients.authentication = .basic
        return script
    }

    // RFC 6749 §4.4.2
    @Test func `a service authenticates and gets a token for itself`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            let credentials = try await Self.signIn(at: server).run()
            let request = try #require(server.requests(to: .token).first)
            #expect(request.form["grant_type"] == "client_credentials")
            #expect(request.form["scope"] == "photos.read")
            #expect(request.form.names.sorted() == ["grant_type", "scope"])
            #expect(credentials.isOfService)
            #expect(credentials.user == nil)
            #expect(credentials.expires != nil)
            #expect(credentials.scope.description == "photos.read")
            #expect(try await ResourceClient(credentials).get(server.url(of: .api)).statusCode == 200)
        }
    }

    // RFC 7523 §2.2, RFC 8707 §2.2, RFC 9449 §5
    @Test func `a service with a key requests a bound token for an API`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            var signIn = ServiceSignIn(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("nightly-job")),
                authentication: .privateKey(try ClientKey()))
            signIn.resources = [try Resource(server.url(of: .api))]
            signIn.bindsTokens = true
            let credentials = try await signIn.run()
            let request = try #require(server.requests(to: .token).last)
            #expect(request.form["client_assertion"] != nil)
            #expect(request.form.all("resource") == [server.url(of: .api)])
            #expect(request.form["scope"] == nil)
            #expect(credentials.proofKey != nil)
        }
    }

    // RFC 6749 §4.4.3
    @Test func `a refresh token that a service gets is discarded`() async throws {
        var script = Self.script()
        script.tokens.extras = [WireMember("refresh_token", "rt-that-nobody-wants")]
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await Self.signIn(at: server).run()
            #expect(credentials.refreshToken == nil)
        }
    }

    // RFC 6749 §4.4: the grant is for confidential clients only.
    @Test func `a service without authentication sends no request`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try Self.signIn(at: server)
            signIn.authentication = .none
            await #expect { try await signIn.run() } throws: { error in
                if case .unusable = error as? SignInError { true } else { false }
            }
            #expect(server.requests.isEmpty)
        }
    }

    // RFC 6749 §5.2
    @Test func `a wrong secret is a refusal`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            var signIn = try Self.signIn(at: server)
            signIn.authentication = .secretBasic(try #require(ClientSecret("wrong")))
            await #expect(throws: SignInError.refused(OAuthError(.invalidClient))) { try await signIn.run() }
        }
    }

    @Test func `stored credentials are used until they expire, and then replaced`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            let store: any TokenStore = MemoryTokenStore()
            let signIn = try Self.signIn(at: server)
            let first = try await signIn.credentials(in: store)
            #expect(try await signIn.credentials(in: store) == first)
            #expect(server.requests(to: .token).count == 1)
            let second = try await signIn.credentials(in: store, minimumLifetime: 7200)
            #expect(second.accessToken != first.accessToken)
            #expect(try await store.credentials(of: .standard) == second)
            var wider = signIn
            wider.scope = try Scope(lenient: "photos.read photos.write")
            #expect(try await wider.credentials(in: store).scope == wider.scope)
        }
    }

    @Test func `fifty tasks that use one store make one request`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            let store: any TokenStore = MemoryTokenStore()
            let signIn = try Self.signIn(at: server)
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 { group.addTask { try await signIn.credentials(in: store).accessToken } }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `a service requests no token that cannot be stored`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            let directory = try TemporaryDirectory()
            try Data().write(to: directory.file("blocked"))
            let store = EncryptedFileTokenStore(file: directory.file("blocked/tokens"), placement: .besideTheFile)
            let signIn = try Self.signIn(at: server)
            await #expect(throws: TokenStoreError.self) { try await signIn.credentials(in: store) }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    @Test func `stored credentials sign the service in again`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            var signIn = try Self.signIn(at: server)
            signIn.apiOrigins = [try APIOrigin("https://photos.example.com")]
            let kept = try JSONDecoder().decode(Credentials.self, from: JSONEncoder().encode(try await signIn.run()))
            let again = try #require(ServiceSignIn(repeating: kept))
            let fresh = try await again.run()
            #expect(fresh.accessToken != kept.accessToken)
            #expect(fresh.scope == kept.scope)
            #expect(fresh.apiOrigins == signIn.apiOrigins)
            #expect(fresh.authentication == signIn.authentication)
        }
    }

    @Test func `the sign-in of a user is neither repeated nor replaced by a service`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let user = try await SignedIn.at(server, in: store)
            #expect(ServiceSignIn(repeating: user) == nil)
            await #expect { try await Self.signIn(at: server).credentials(in: store) } throws: { error in
                if case .unusable = error as? SignInError { true } else { false }
            }
            #expect(try await store.credentials(of: .standard) == user)
        }
    }
}
