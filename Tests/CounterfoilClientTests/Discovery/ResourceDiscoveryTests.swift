import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Testing

/// Tests of the discovery of an API's authorization server.
@Suite(.timeLimit(.minutes(2)))
struct ResourceDiscoveryTests {
    private static func metadata(
        _ script: ServerScript, of path: String = ""
    ) async throws -> (found: ResourceDiscovery.ProtectedResource, issuer: Issuer, asked: [String]) {
        try await ScriptedAuthorizationServer.run(script) { server in
            let found = try await ResourceDiscovery().metadata(of: server.url(of: .api) + path)
            return (found, server.issuer, server.requests.map { $0.path })
        }
    }

    private static func failure(_ script: ServerScript, of path: String = "") async throws -> SignInError? {
        do {
            _ = try await metadata(script, of: path)
            return nil
        } catch let error as SignInError {
            return error
        }
    }

    // RFC 9728 §5.1
    @Test func `the URL in the challenge comes first, then the well-known URLs in order`() async throws {
        let named = try await Self.metadata(ServerScript())
        #expect(named.found.authorizationServers == [named.issuer])
        #expect(named.asked == ["/api", "/.well-known/oauth-protected-resource/api"])

        var silent = ServerScript()
        silent.api.challenges = ["Bearer"]
        let known = try await Self.metadata(silent)
        #expect(known.found.authorizationServers == [known.issuer])
        #expect(known.asked == ["/api", "/.well-known/oauth-protected-resource/api"])

        silent.metadata.absent.insert(.resourceMetadata)
        guard case .unusable? = try await Self.failure(silent) else {
            Issue.record("there was nothing to find")
            return
        }
    }

    @Test func `the scope is taken from the challenge, otherwise from the metadata`() async throws {
        var script = ServerScript()
        script.api.challenges = [
            "Bearer scope=\"photos.read\", resource_metadata=\"{origin}/.well-known/oauth-protected-resource/api\""
        ]
        #expect(try await Self.metadata(script).found.scope?.description == "photos.read")
        script.api.challenges = nil
        script.metadata.resourceReplaced = [WireMember("scopes_supported", ["a", "b"])]
        #expect(try await Self.metadata(script).found.scope?.description == "a b")
        script.metadata.resourceReplaced = []
        script.metadata.resourceOmitted = ["scopes_supported"]
        #expect(try await Self.metadata(script).found.scope == nil)
    }

    // RFC 9728 §3.3
    @Test func `metadata of another API is not used`() async throws {
        let foreign = try await Self.failure(ServerScript(.foreignResource))
        #expect(foreign == .unsafe(.resource(.otherResource(named: "https://login.example.com/api"))))
        // Metadata of the whole API is not used for a part of it.
        guard case .unsafe(.resource(.otherResource))? = try await Self.failure(ServerScript(), of: "/part") else {
            Issue.record("they were used")
            return
        }
    }

    // Clients that compare byte for byte refuse such metadata, too.
    @Test func `a slash at the end of a path makes another resource, and the error names it`() async throws {
        let failure = try await Self.failure(ServerScript(), of: "/")
        guard case .unsafe(.resource(.otherResource(let named)))? = failure else {
            Issue.record("they were used: \(String(describing: failure))")
            return
        }
        #expect(named.hasSuffix("/api"))
        #expect(failure?.description.contains("instead of the requested one; if that is the API, use exactly") == true)
    }

    // RFC 3986 §6.2.3
    @Test(arguments: [
        ("https://api.example.com", "https://api.example.com/"),
        ("https://api.example.com/", "https://api.example.com"),
    ])
    func `an empty path and a slash are the same resource`(asked: String, named: String) async throws {
        var script = ServerScript()
        script.publicOrigin = "https://api.example.com"
        script.paths[.api] = ""
        script.api.resource = named
        try await ScriptedAuthorizationServer.run(script) { server in
            let discovery = ResourceDiscovery(transport: LeadingTransport(to: server))
            let found = try await discovery.metadata(of: asked)
            #expect(found.resource.rawValue == named)
        }
    }

    @Test(arguments: [
        "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "http://10.0.0.1/", "javascript:alert(1)",
        "//evil", "ftp://127.0.0.1/",
    ])
    func `an unsafe metadata URL is not fetched`(address: String) async throws {
        var script = ServerScript()
        script.api.challenges = ["Bearer resource_metadata=\"\(address)\""]
        guard case .unsafe(.resource(.badURL))? = try await Self.failure(script) else {
            Issue.record("it was fetched")
            return
        }
    }

    // RFC 9728 §2
    @Test(arguments: [
        "[]", "{", "<!doctype html>", "{\"resource\":1}", "{\"resource\":\"{origin}/api\"}",
        "{\"resource\":\"{origin}/api\",\"authorization_servers\":[]}",
        "{\"resource\":\"{origin}/api\",\"authorization_servers\":[\"http://evil.example.com\"]}",
        "{\"resource\":\"{origin}/api\",\"resource\":\"{origin}/api\",\"authorization_servers\":[\"{origin}\"]}",
    ])
    func `metadata without an authorization server is refused`(body: String) async throws {
        var script = ServerScript()
        script.interruptions = [Interruption(at: .resourceMetadata, .json(body))]
        guard case .unsafe(.resource)? = try await Self.failure(script) else {
            Issue.record("it was taken")
            return
        }
    }

    // RFC 9728 §5.1: only the challenge of the response has a meaning here, and a stream has no end.
    @Test(arguments: [ScriptedAnswer.spaces(1 << 20), .endless])
    func `an API that answers without a token, at length or without end, is asked for its metadata`(
        answer: ScriptedAnswer
    ) async throws {
        var script = ServerScript()
        script.interruptions = [Interruption(at: .api, answer)]
        let known = try await Self.metadata(script)
        #expect(known.found.authorizationServers == [known.issuer])
        #expect(known.asked == ["/api", "/.well-known/oauth-protected-resource/api"])
    }

    // Another user of this device can listen at a loopback address.
    @Test func `every loopback server of a public API is left out`() async throws {
        var script = ServerScript()
        script.publicOrigin = "https://api.example.com"
        script.metadata.resourceReplaced = [
            WireMember("authorization_servers", ["https://api.example.com", "http://127.0.0.1:8080"])
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            let discovery = ResourceDiscovery(transport: LeadingTransport(to: server))
            let found = try await discovery.metadata(of: server.url(of: .api))
            #expect(found.authorizationServers.map(\.rawValue) == ["https://api.example.com"])
            server.change {
                $0.metadata.resourceReplaced = [WireMember("authorization_servers", ["http://127.0.0.1:8080"])]
            }
            await #expect(throws: SignInError.unsafe(.resource(.foreignLoopback))) {
                _ = try await discovery.metadata(of: server.url(of: .api))
            }
        }
    }
}
