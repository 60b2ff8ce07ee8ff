import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of redirect URIs at several servers whose responses have no `iss`.
@Suite(.timeLimit(.minutes(2)))
struct RedirectPerServerTests {
    private static func script(_ origin: String, sendsIssuer: Bool = false) -> ServerScript {
        var script = ServerScript(.noPushedRequests)
        script.publicOrigin = origin
        if !sendsIssuer { script.metadata.omitted = ["authorization_response_iss_parameter_supported"] }
        return script
    }

    private static func redirectURIs(of server: ScriptedAuthorizationServer) throws -> [String] {
        try server.requests(to: .authorization).map { try LoopbackRedirectURI($0.query["redirect_uri"] ?? "").path }
    }

    // RFC 9700 §4.4.2: a client that registers itself chooses its redirect URI.
    @Test func `a client that registers itself signs in at two servers that send no iss`() async throws {
        try await ScriptedAuthorizationServer.run(
            Self.script("https://one.example.com"), sibling: Self.script("https://two.example.com")
        ) { one, other in
            let (uses, transport) = (RedirectURIUses(), LeadingTransport(to: one, other))
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: MemoryTokenStore())
            for server in [one, other, one] {
                var signIn = NativeSignIn(issuer: server.issuer, client: client)
                signIn.transport = transport
                signIn.browser = ScriptedBrowser(over: transport)
                signIn.redirectURIUses = uses
                #expect(try await signIn.run().issuer == server.issuer)
            }
            let (ofOne, ofOther) = (try Self.redirectURIs(of: one), try Self.redirectURIs(of: other))
            #expect(ofOne.count >= 2 && Set(ofOne).count == 1, "a path belongs to the issuer")
            #expect(Set(ofOne + ofOther).count == 2)
            #expect((ofOne + ofOther).allSatisfy { $0.wholeMatch(of: /\/callback\/[\w-]{22}/) != nil })
            #expect(one.requests(to: .registration).count == 1)
        }
    }

    // The standard path stays where it is safe.
    @Test func `a server that sends iss gets the standard redirect URI`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script("https://one.example.com", sendsIssuer: true)) { server in
            let transport = LeadingTransport(to: server)
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: MemoryTokenStore())
            var signIn = NativeSignIn(issuer: server.issuer, client: client)
            signIn.transport = transport
            signIn.browser = ScriptedBrowser(over: transport)
            _ = try await signIn.run()
            #expect(try Self.redirectURIs(of: server) == ["/callback"])
        }
    }

    @Test func `claimed https redirect URIs with different ports are different, loopback ones are not`() throws {
        let (one, other) = (
            try AuthorizationServerConfiguration.unasked("https://one.example.com"),
            try AuthorizationServerConfiguration.unasked("https://two.example.com")
        )
        let uses = RedirectURIUses()
        try uses.claim(RedirectURI("https://app.example:8443/callback"), for: one)
        try uses.claim(RedirectURI("https://app.example:9443/callback"), for: other)
        try uses.claim(RedirectURI("http://127.0.0.1:4000/callback"), for: one)
        #expect(throws: SignInError.self) {
            try uses.claim(RedirectURI("http://127.0.0.1:5000/callback"), for: other)
        }
    }
}
