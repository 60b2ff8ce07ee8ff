import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

/// Tests of the sign-in at an API whose metadata name the authorization server.
@Suite(.timeLimit(.minutes(2)))
struct SignInAtResourceTests {
    private static func client(storedIn store: any ClientRegistrationStore) -> ClientIdentification {
        var client = ClientIdentification()
        client.registration = .init(as: "Lightbox", storedIn: store)
        return client
    }

    @Test func `the URL of an API is enough to sign in and call it`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let (store, api) = (MemoryTokenStore(), server.url(of: .api))
            var signIn = try await NativeSignIn(resource: api, client: Self.client(storedIn: store))
            #expect(signIn.issuer == server.issuer)
            #expect(signIn.options.resources.map(\.rawValue) == [api])
            signIn.browser = ScriptedBrowser()
            let profile = ProfileName(for: try Resource(api))
            try await store.save(try await signIn.run(), as: profile)

            let session = TokenSession(for: signIn, store: store, profile: profile)
            #expect(try await session.get(api).statusCode == 200)
            #expect(server.requests(to: .pushedAuthorization).first?.form["resource"] == api)
            #expect(server.requests(to: .token).first?.form["resource"] == api)
            await #expect(throws: SessionError.self) {
                try await session.get("https://photos.example.com/")
            }
        }
    }

    @Test func `an API that names no authorization server is refused before anything is opened`() async throws {
        var script = ServerScript()
        script.metadata.resourceReplaced = [WireMember("authorization_servers", [])]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: SignInError.unsafe(.resource(.noServer))) {
                try await NativeSignIn(
                    resource: server.url(of: .api), client: Self.client(storedIn: MemoryTokenStore()))
            }
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }

    @Test(arguments: [
        ("https://mcp.example.com", "https://MCP.example.com:443/", true),
        ("https://mcp.example.com/a", "https://mcp.example.com/b", false),
        ("https://mcp.example.com/a", "http://mcp.example.com/a", false),
        ("urn:example:one", "urn:example:two", false),
    ])
    func `equal resource indicators have equal profile names`(one: String, other: String, areEqual: Bool) throws {
        let names = (ProfileName(for: try Resource(one)), ProfileName(for: try Resource(other)))
        #expect((names.0 == names.1) == areEqual)
        // The initializer checks what a name may contain.
        #expect(ProfileName(names.0.rawValue) == names.0)
        #expect(ProfileName(names.1.rawValue) == names.1)
    }

    @Test func `a long host and a name of many letters make a valid profile name`() throws {
        let host = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".example.com"
        let name = ProfileName(for: try Resource("https://\(host)/mcp"))
        #expect(name.rawValue.hasPrefix(String(repeating: "a", count: 47) + "-"))
        #expect(ProfileName(name.rawValue) == name)
    }
}
