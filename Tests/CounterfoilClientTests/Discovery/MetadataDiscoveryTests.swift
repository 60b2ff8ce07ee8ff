import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import Testing

struct MetadataDiscoveryTests {
    private let discovery = MetadataDiscovery(transport: StandardTransport())

    private func expect(_ refusal: AuthorizationServerConfiguration.Refusal, _ script: ServerScript)
        async throws
    {
        let discovery = discovery
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: SignInError.unsafe(.metadata(refusal))) {
                try await discovery.configuration(of: server.issuer)
            }
        }
    }

    /// RFC 8414 §3.1: the URL of OAuth comes first.
    @Test func `valid metadata is found at the first URL`() async throws {
        let discovery = discovery
        try await ScriptedAuthorizationServer.run { server in
            let configuration = try await discovery.configuration(of: server.issuer)
            #expect(configuration.issuer == server.issuer)
            #expect(configuration.sendsIssuerInResponses)
            #expect(server.requests.map(\.path) == ["/.well-known/oauth-authorization-server"])
        }
    }

    @Test func `a missing document leads to the next URL`() async throws {
        let discovery = discovery
        var script = ServerScript()
        script.metadata.forms = [.openID]
        try await ScriptedAuthorizationServer.run(script) { server in
            _ = try await discovery.configuration(of: server.issuer)
            #expect(server.requests.count == 2)
        }
    }

    // OpenID Connect Discovery §4, RFC 8414 §3.1
    @Test(arguments: ["", "/tenant"])
    func `for OpenID Connect its own URL comes first`(path: String) async throws {
        let discovery = discovery
        var script = ServerScript()
        script.issuerPath = path
        try await ScriptedAuthorizationServer.run(script) { server in
            _ = try await discovery.configuration(of: server.issuer, forOpenID: true)
            #expect(server.requests.map(\.path) == ["\(path)/.well-known/openid-configuration"])
        }
        script.metadata.forms = [.oauth]
        try await ScriptedAuthorizationServer.run(script) { server in
            _ = try await discovery.configuration(of: server.issuer, forOpenID: true)
            #expect(server.requests.last?.path == "/.well-known/oauth-authorization-server\(path)")
        }
    }

    // Single-page sites and sign-in portals answer unknown paths with a page, a redirect or an error.
    @Test(
        arguments: [
            .html(), .html(status: 404), .html(status: 502), .redirect(to: "https://portal.example.com/"),
            .trouble(503, retryAfter: "5"), .json("[]"), .spaces(300_000),
        ] as [ScriptedAnswer])
    func `a response that is no metadata document does not end the search`(answer: ScriptedAnswer) async throws {
        let discovery = discovery
        var script = ServerScript()
        script.metadata.forms = [.openID]
        script.interruptions = [Interruption(at: .unknown, answer)]
        try await ScriptedAuthorizationServer.run(script) { server in
            let configuration = try await discovery.configuration(of: server.issuer)
            #expect(configuration.issuer == server.issuer)
        }
    }

    @Test(arguments: [429, 503])
    func `a server that asks to wait is reported with the time to wait`(status: Int) async throws {
        let discovery = discovery
        var script = ServerScript()
        script.interruptions = [Interruption(at: .metadata, .trouble(status, retryAfter: "17"))]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(
                throws: SignInError.unavailable(
                    .status(status, origin: server.issuer.origin, retryAfter: .seconds(17)))
            ) {
                try await discovery.configuration(of: server.issuer)
            }
        }
    }

    // RFC 8414 §3.3
    @Test func `members that one document lacks are taken from the other one`() async throws {
        let discovery = discovery
        var script = ServerScript()
        script.metadata.omittedAt = [
            .openID: ["userinfo_endpoint", "code_challenge_methods_supported"], .openIDAppended: ["userinfo_endpoint"],
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            let configuration = try await discovery.configuration(of: server.issuer, forOpenID: true)
            #expect(configuration.userInfoEndpoint?.rawValue == server.url(of: .userInfo))
            #expect(server.requests.count == 2)
        }
    }

    // OpenID Connect Discovery §3
    @Test func `the acr values are those of the document that has them`() async throws {
        let issuer = try Issuer("https://id.example.com")
        let first =
            ##"{"issuer":"https://id.example.com","authorization_endpoint":"https://id.example.com/a","token_endpoint":"https://id.example.com/t"}"##
        let second =
            ##"{"issuer":"https://id.example.com","code_challenge_methods_supported":["S256"],"acr_values_supported":["phr"]}"##
        let transport = FixedTransport(bodies: [
            "/.well-known/openid-configuration": second, "/.well-known/oauth-authorization-server": first,
        ])
        let configuration = try await MetadataDiscovery(transport: transport).configuration(of: issuer)
        #expect(configuration.authenticationContexts == ["phr"])
    }

    // RFC 8414 §3.3
    @Test func `no member is taken from a document of another issuer`() async throws {
        let issuer = try Issuer("https://id.example.com")
        let own =
            ##"{"issuer":"https://id.example.com","authorization_endpoint":"https://id.example.com/a","token_endpoint":"https://id.example.com/t","code_challenge_methods_supported":["S256"]}"##
        let foreign =
            ##"{"issuer":"https://evil.example.com","userinfo_endpoint":"https://evil.example.com/u","jwks_uri":"https://evil.example.com/k"}"##
        let transport = FixedTransport(bodies: [
            "/.well-known/openid-configuration": own, "/.well-known/oauth-authorization-server": foreign,
        ])
        let discovery = MetadataDiscovery(transport: transport)
        let configuration = try await discovery.configuration(of: issuer, forOpenID: true)
        #expect(configuration.userInfoEndpoint == nil)
        #expect(configuration.keysEndpoint == nil)
        #expect(transport.paths.count == 2)
    }

    @Test func `an issuer mismatch names both issuers`() async throws {
        let discovery = discovery
        var script = ServerScript()
        script.issuer += "/"
        try await ScriptedAuthorizationServer.run(script) { server in
            let error = await #expect(throws: SignInError.self) {
                try await discovery.configuration(of: server.issuer)
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("names the issuer \(server.issuer)/ instead of \(server.issuer)"), "\(text)")
        }
    }

    @Test func `HTML instead of metadata is refused`() async throws {
        try await expect(.unreadable, ServerScript(.htmlMetadata))
    }

    @Test(arguments: [Misbehavior.doubledMetadata, .deepMetadata])
    func `metadata with duplicate members or excessive nesting is refused`(
        misbehavior: Misbehavior
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            await #expect(throws: SignInError.unsafe(.metadata(.unreadable))) {
                try await MetadataDiscovery(transport: .standard).configuration(of: server.issuer)
            }
        }
    }

    // RFC 8414 §3.1 and §5
    @Test func `an issuer with a path has three metadata URLs, tried in order`() async throws {
        for form in MetadataScript.Form.allCases {
            var script = ServerScript()
            script.issuerPath = "/tenant"
            script.metadata.forms = [form]
            try await ScriptedAuthorizationServer.run(script) { server in
                _ = try await MetadataDiscovery(transport: .standard).configuration(of: server.issuer)
                let order = [
                    "/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant",
                    "/tenant/.well-known/openid-configuration",
                ]
                #expect(server.requests.map { $0.path } == Array(order.prefix(server.requests.count)))
            }
        }
    }

    @Test func `a redirect of the metadata is not followed`() async throws {
        let discovery = discovery
        try await ScriptedAuthorizationServer.run { elsewhere in
            var script = ServerScript()
            script.interruptions = [Interruption(at: .metadata, .redirect(to: elsewhere.url(of: .metadata)))]
            try await ScriptedAuthorizationServer.run(script) { server in
                await #expect(throws: SignInError.unsafe(.redirected(origin: server.issuer.origin))) {
                    try await discovery.configuration(of: server.issuer)
                }
            }
            #expect(elsewhere.requests.isEmpty)
        }
    }

    // RFC 8414 §3.3
    @Test(arguments: ["/", "x", ":443"])
    func `metadata of another issuer is refused, however similar`(suffix: String) async throws {
        let discovery = discovery
        var script = ServerScript()
        script.issuer += suffix
        try await ScriptedAuthorizationServer.run(script) { server in
            let named = server.issuer.rawValue + suffix
            await #expect(
                throws: SignInError.unsafe(.metadata(.wrongIssuer(named: named, requested: server.issuer)))
            ) {
                try await discovery.configuration(of: server.issuer)
            }
        }
    }

    @Test(arguments: [nil, [], ["plain"], ["s256"]] as [[String]?])
    func `a server without S256 is refused unless the danger is named`(methods: [String]?) async throws {
        let discovery = discovery
        var script = ServerScript()
        let name = "code_challenge_methods_supported"
        if let methods {
            script.metadata.replaced = [WireMember(name, .list(methods.map { .text($0) }))]
        } else {
            script.metadata.omitted = [name]
        }
        try await expect(.noPKCE, script)
        try await ScriptedAuthorizationServer.run(script) { server in
            _ = try await discovery.configuration(of: server.issuer, skippingPKCEMetadataCheck: true)
        }
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "--flag", "$(calc)", "http://id.example.com/authorize",
        "https://id.example.com/a b", "https://id.example.com/\"", "https://user@id.example.com/", "ftp://127.0.0.1/",
        "https:///authorize", "http://127.0.0.1.example.com/", "https://id.example.com/#fragment",
    ])
    func `an endpoint with an unsafe URL is refused`(address: String) async throws {
        let issuer = try Issuer("https://id.example.com")
        for keyPath in [
            \AuthorizationServerMetadata.authorizationEndpoint, \.tokenEndpoint, \.jwksURI,
        ] as [WritableKeyPath<AuthorizationServerMetadata, String?>] {
            var metadata = AuthorizationServerMetadata(issuer: issuer)
            metadata.authorizationEndpoint = "https://id.example.com/authorize"
            metadata.tokenEndpoint = "https://id.example.com/token"
            metadata.codeChallengeMethodsSupported = ["S256"]
            metadata[keyPath: keyPath] = address
            let error = #expect(throws: AuthorizationServerConfiguration.Refusal.self) {
                try AuthorizationServerConfiguration(metadata, of: issuer)
            }
            guard case .badEndpoint = error else {
                Issue.record("\(address) was refused as \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `a remote server cannot name an endpoint on this device`() throws {
        let issuer = try Issuer("https://id.example.com")
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = "https://id.example.com/authorize"
        metadata.tokenEndpoint = "http://127.0.0.1:8080/token"
        metadata.codeChallengeMethodsSupported = ["S256"]
        #expect(throws: AuthorizationServerConfiguration.Refusal.foreignLoopback("token_endpoint")) {
            try AuthorizationServerConfiguration(metadata, of: issuer)
        }
    }

    @Test func `metadata that is too large is refused`() async throws {
        let discovery = discovery
        var script = ServerScript()
        let answer = ScriptedAnswer.json("{\"issuer\":\"" + String(repeating: "a", count: 1 << 19) + "\"}")
        script.interruptions = [Interruption(at: .metadata, answer)]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(
                throws: SignInError.unsafe(.transport(.tooLarge(origin: server.issuer.origin, limit: 256 * 1024)))
            ) { try await discovery.configuration(of: server.issuer) }
        }
    }

    @Test func `a server that cannot be reached is unavailable`() async throws {
        let issuer = try Issuer("http://127.0.0.1:1")
        let error = await #expect(throws: SignInError.self) { try await discovery.configuration(of: issuer) }
        guard case .unavailable(.noResponse(.unreachable)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
