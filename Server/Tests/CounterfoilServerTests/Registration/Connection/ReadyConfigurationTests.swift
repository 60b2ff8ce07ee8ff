import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Testing

/// The table of ready configurations; `Interop/configurations` reads each text with a parser of its format.
struct ReadyConfigurationTests {
    private static let names: [ClientType: Set<String>] = [
        .singlePage: ["fetch", "oidc-client-ts"],
        .web: ["spring", "authlib", "express-openid-connect", "openid-client", "oauth2-proxy", "mod-auth-openidc"],
        .service: ["spring", "openid-client", "curl"],
        .native: [
            "counterfoil-swift", "counterfoil-login", "appauth-ios", "appauth-android", "authlib", "go-oauth2",
            "dotnet", "kubelogin",
        ],
        .device: ["counterfoil-login"],
    ]

    private static func connection(
        _ type: ClientType, scope: String = "openid email photos.read", redirectURIs: [String]? = nil,
        issuer: String = "https://id.example.com/tenant1", apis: [(String, String)] = [],
        changing change: (inout ClientPolicy) -> Void = { _ in }
    ) throws -> ClientConnection {
        let scope = try Scope(parsing: scope)
        var policy = ClientPolicy.standard(for: type)
        if type == .service { policy.machineScope = scope }
        change(&policy)
        let usual: [String] =
            switch type {
            case .native: ["http://127.0.0.1/callback", "com.example.gallery:/callback"]
            case .singlePage, .web: ["https://gallery.example.com/callback"]
            case .device, .service: []
            }
        return ClientConnection(
            of: RegisteredClient(
                id: try #require(ClientIdentifier("app_gallery")), type: type,
                presentation: ClientPresentation(name: "\"Gallery\" ${HOME} </script>\n'"),
                redirectURIs: try (redirectURIs ?? usual).map { try RedirectURI($0) }, scope: scope, policy: policy,
                createdAt: Date(timeIntervalSince1970: 1_800_000_000)),
            issuer: try Issuer(issuer), apis: try apis.map(Self.api))
    }

    private static func api(_ uri: String, scope: String) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource(uri), clientID: try #require(RegisteredResource.newClientID()), name: "API",
            scope: try Scope(parsing: scope), secret: ArtefactDigest(of: ClientSecret()),
            createdAt: Date(timeIntervalSince1970: 1_800_000_000))
    }

    private static func text(_ name: String, _ connection: ClientConnection) throws -> String {
        try #require(ReadyConfiguration.all(for: connection).first { $0.name == name }).text
    }

    @Test(arguments: ClientType.allCases)
    func `the table has the configurations of a type`(type: ClientType) throws {
        let configurations = ReadyConfiguration.all(for: try Self.connection(type))
        #expect(Set(configurations.map(\.name)) == Self.names[type])
        #expect(configurations.count == Self.names[type]?.count)
    }

    @Test(arguments: ClientType.allCases)
    func `each configuration contains the issuer and the client identifier`(type: ClientType) throws {
        for configuration in ReadyConfiguration.all(for: try Self.connection(type)) {
            #expect(configuration.text.contains("https://id.example.com/tenant1"), "\(configuration.name)")
            #expect(configuration.text.contains("app_gallery"), "\(configuration.name)")
            #expect(configuration.text.hasSuffix("\n") || configuration.name == "counterfoil-login")
            #expect(!configuration.text.contains("Gallery\""), "\(configuration.name)")
        }
    }

    // A scope token may contain every printable ASCII character but the quotation mark and the backslash (RFC 6749
    // §3.3).
    @Test func `a scope cannot end the literal that contains it`() throws {
        let scope = "openid </script> ${HOME} `id` $(id) it's #x a,b"
        let page = try Self.text("fetch", try Self.connection(.singlePage, scope: scope))
        #expect(page.components(separatedBy: "</script>").count == 2)
        let command = try Self.text("counterfoil-login", try Self.connection(.native, scope: scope))
        #expect(command.contains(#"--scope 'openid </script> ${HOME} `id` $(id) it'\''s #x a,b'"#))
        let spring = try Self.text("spring", try Self.connection(.web, scope: scope))
        #expect(spring.contains(#""\\${HOME}""#))
        let apache = try Self.text("mod-auth-openidc", try Self.connection(.web, scope: scope))
        #expect(apache.hasPrefix("Define COUNTERFOIL_DOLLAR $\n"))
        #expect(apache.contains("${COUNTERFOIL_DOLLAR}{HOME}"))
        let android = try Self.text("appauth-android", try Self.connection(.native, scope: scope))
        #expect(!android.contains("${HOME}") && !android.contains("$("))
        let kubeconfig = try Self.text("kubelogin", try Self.connection(.native, scope: scope))
        #expect(kubeconfig.contains(#"- "--oidc-extra-scope=\"a,b\"""#))
    }

    @Test func `a library is left out if it cannot use the registration`() throws {
        func names(_ connection: ClientConnection) -> [String] { ReadyConfiguration.all(for: connection).map(\.name) }
        // These libraries verify no EdDSA signatures.
        for algorithm in [SigningAlgorithm.edDSA, .ed25519] {
            let edDSA = try Self.connection(.web) { $0.idTokenAlgorithm = algorithm }
            #expect(!names(edDSA).contains("spring") && !names(edDSA).contains("mod-auth-openidc"))
        }
        // Without openid, the client gets no ID token.
        #expect(names(try Self.connection(.web, scope: "photos.read")) == ["spring", "openid-client"])
        #expect(names(try Self.connection(.singlePage, scope: "photos.read")).isEmpty)
        let loopback = try Self.connection(.native, redirectURIs: ["http://[::1]/callback"])
        #expect(
            names(loopback) == [
                "counterfoil-swift", "counterfoil-login", "authlib", "go-oauth2", "dotnet", "kubelogin",
            ])
        let claimed = try Self.connection(.native, redirectURIs: ["https://gallery.example.com/callback"])
        #expect(names(claimed) == ["counterfoil-swift", "appauth-ios", "appauth-android"])
    }

    @Test func `the path of the redirect URI is the one that the library uses, if it is registered`() throws {
        let both = [
            "https://gallery.example.com/callback", "https://gallery.example.com/login/oauth2/code/counterfoil",
            "https://gallery.example.com/oauth2/callback",
        ]
        let connection = try Self.connection(.web, redirectURIs: both)
        #expect(try Self.text("spring", connection).contains(both[1]))
        #expect(try Self.text("oauth2-proxy", connection).contains(both[2]))
        #expect(try !Self.text("oauth2-proxy", connection).contains("proxy_prefix"))
        #expect(try Self.text("express-openid-connect", connection).contains(#"routes: { callback: "/callback" }"#))
        let other = try Self.connection(.web, redirectURIs: ["https://gallery.example.com/sign-in/callback"])
        #expect(try Self.text("spring", other).contains("redirectionEndpoint"))
        #expect(try Self.text("oauth2-proxy", other).contains(#"proxy_prefix = "/sign-in""#))
    }

    // OpenID Connect Core §5.4: without the claims in the ID token, UserInfo has them.
    @Test(arguments: [true, false])
    func `a library reads the claims where the client gets them`(isInIDToken: Bool) throws {
        let singlePage = try Self.connection(.singlePage) { $0.putsUserClaimsInIDToken = isInIDToken }
        #expect(try Self.text("oidc-client-ts", singlePage).contains("loadUserInfo: true") != isInIDToken)
        let native = try Self.connection(.native) { $0.putsUserClaimsInIDToken = isInIDToken }
        let claim = isInIDToken ? "email" : "sub"
        #expect(try Self.text("kubelogin", native).contains("--oidc-username-claim=\(claim)"))
    }

    // RFC 7517 §4.5: `kid` is any string; the configuration has the registered one, not its form for logs.
    @Test func `openid-client names the registered key, whatever its identifier contains`() throws {
        // RFC 7517 Appendix A.1
        let keys = #"""
            {"keys": [{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "alg": "ES256", "kid": "it's </script> ø"}]}
            """#
        let client = RegisteredClient(
            id: try #require(ClientIdentifier("app_gallery")), type: .web,
            presentation: ClientPresentation(name: "Gallery"),
            redirectURIs: [try RedirectURI("https://gallery.example.com/callback")],
            scope: try Scope(parsing: "openid"), keys: try JSONWebKeySet(parsing: Array(keys.utf8)),
            policy: .standard(for: .web), createdAt: Date(timeIntervalSince1970: 1_800_000_000))
        let connection = ClientConnection(of: client, issuer: try Issuer("https://id.example.com"), apis: [])
        let text = try Self.text("openid-client", connection)
        #expect(text.contains(#"client.PrivateKeyJwt({ key, kid: "it's \u003c/script> \u00f8" })"#))
        #expect(!text.contains("CLIENT_SECRET"))
    }

    // RFC 8628: a device has no redirect URI.
    @Test func `a device signs its user in on another device`() throws {
        #expect(
            try Self.text("counterfoil-login", try Self.connection(.device)) == #"""
                counterfoil login https://id.example.com/tenant1 \
                  --client-id app_gallery \
                  --device \
                  --scope 'openid email photos.read'
                """#)
    }

    // RFC 9068 §3: the audience follows from the scopes of one API.
    @Test func `the connection has the APIs of the scopes that the client can request`() throws {
        let connection = try Self.connection(
            .native,
            apis: [
                ("https://albums.example.com", "albums.read"),
                ("https://photos.example.com", "photos.read photos.write"),
            ])
        #expect(connection.apis.map(\.resource.rawValue) == ["https://photos.example.com"])
        #expect(connection.apis.map(\.scope.description) == ["photos.read"])
        #expect(connection.requestedResources.isEmpty)
        #expect(ReadyConfiguration.all(for: connection).allSatisfy { !$0.text.contains("photos.example.com") })
    }

    // RFC 8707 §2.1: a request may name several resources; without the issuer, the token is not for UserInfo.
    @Test(arguments: ClientType.allCases)
    func `a configuration for scopes of several APIs names each of them`(type: ClientType) throws {
        let connection = try Self.connection(
            type, scope: "openid photos.read albums.read",
            apis: [("https://albums.example.com", "albums.read"), ("https://photos.example.com", "photos.read")])
        let issuer = type == .service ? [] : ["https://id.example.com/tenant1"]
        #expect(
            connection.requestedResources == ["https://albums.example.com", "https://photos.example.com"] + issuer)
        for configuration in ReadyConfiguration.all(for: connection) {
            for resource in connection.requestedResources {
                #expect(configuration.text.contains(resource), "\(configuration.name)")
            }
        }
        if type == .device {
            #expect(
                try Self.text("counterfoil-login", connection).hasSuffix(
                    #"""
                     \
                      --resource https://albums.example.com \
                      --resource https://photos.example.com \
                      --resource https://id.example.com/tenant1
                    """#))
        }
    }

    // RFC 8252 §7.3: the app chooses the port, unless it is registered.
    @Test(arguments: [
        ("http://127.0.0.1/callback", "127.0.0.1", 0), ("http://localhost:7000/callback", "127.0.0.1", 7000),
        ("http://[::1]/callback", "::1", 0),
    ])
    func `a program listens at the loopback address of its redirect URI`(
        redirectURI: String, address: String, port: Int
    ) throws {
        let connection = try Self.connection(.native, redirectURIs: [redirectURI])
        #expect(try Self.text("authlib", connection).contains(#"Receiver(("\#(address)", \#(port)), Handler)"#))
        let host = address.contains(":") ? "[\(address)]" : address
        #expect(try Self.text("go-oauth2", connection).contains(#""\#(host):\#(port)")"#))
        let loopback = address.contains(":") ? "IPv6Loopback" : "Loopback"
        #expect(try Self.text("dotnet", connection).contains("TcpListener(IPAddress.\(loopback), \(port))"))
    }

    @Test func `a service requests the scopes that are approved`() throws {
        let connection = try Self.connection(.service) { $0.machineScope = Scope() }
        #expect(try !Self.text("spring", connection).contains("photos.read"))
    }

    // OpenID Connect Discovery §4, RFC 8414 §3.1: the issuer has a path.
    @Test func `the connection has the endpoints that the client can use`() throws {
        let web = try Self.connection(.web)
        #expect(web.openIDConfiguration == "https://id.example.com/tenant1/.well-known/openid-configuration")
        #expect(web.oauthMetadata == "https://id.example.com/.well-known/oauth-authorization-server/tenant1")
        #expect(ConnectionEndpoint.allCases.allSatisfy { web.url(of: $0) != nil })
        func missing(_ connection: ClientConnection) -> Set<ConnectionEndpoint> {
            Set(ConnectionEndpoint.allCases.filter { connection.url(of: $0) == nil })
        }
        #expect(missing(try Self.connection(.native)) == [.introspection])
        let withoutOpenID = try Self.connection(.native, scope: "photos.read")
        #expect(missing(withoutOpenID) == [.introspection, .userInfo, .endSession])
        #expect(missing(try Self.connection(.service)) == [.authorization, .userInfo, .endSession])
    }
}
