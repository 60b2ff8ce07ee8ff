import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

struct MetadataTests {
    // Only S256 is announced, also when exemptions exist.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `the metadata describes the server`(issuer: String) async throws {
        let test = try await TestServer(issuer: issuer)
        let reply = await test.send(.get, to: .metadata)
        #expect(reply.status == .ok)
        let metadata = try AuthorizationServerMetadata(parsing: try reply.json)
        #expect(metadata.issuer == issuer)
        #expect(metadata.authorizationEndpoint == issuer + "/oauth2/authorize")
        #expect(metadata.tokenEndpoint == issuer + "/oauth2/token")
        #expect(metadata.jwksURI == issuer + "/oauth2/jwks")
        #expect(metadata.responseTypesSupported == ["code"])
        #expect(metadata.deviceAuthorizationEndpoint == issuer + "/oauth2/device_authorization")
        #expect(
            metadata.grantTypesSupported == [
                "authorization_code", "refresh_token", "client_credentials",
                "urn:ietf:params:oauth:grant-type:device_code",
            ])
        #expect(metadata.codeChallengeMethodsSupported == ["S256"])
        #expect(metadata.authorizationResponseIssParameterSupported == true)
        #expect(metadata.requestURIParameterSupported == false)
        #expect(metadata.offlineAccessPromptRequired == false)
    }

    private static let standard = ["openid", "offline_access", "profile", "email", "address", "phone"]

    // OpenID Connect Discovery §3: a custom scope is listed only if it is set to be listed.
    @Test func `standard scopes are always listed, custom scopes if the owner lists them`() async throws {
        let test = try await TestServer()
        // A response is cached for less than a second.
        func listed() async throws -> [String]? {
            test.clock.advance(by: 1)
            let reply = await test.send(.get, to: .metadata)
            return try AuthorizationServerMetadata(parsing: try reply.json).scopesSupported
        }
        #expect(try await listed() == Self.standard)
        for name in ["photos.write", "photos.read"] {
            let scope = try #require(try await test.store.scopes().first { $0.token.rawValue == name })
            var changed = scope
            changed.isListed = true
            #expect(try await test.store.updateScope(changed, from: scope) == .updated)
        }
        #expect(try await listed() == Self.standard + ["photos.read", "photos.write"])
        let token = try #require(Scope.Token("photos.read"))
        _ = try await test.store.removeScope(token, takingFromUses: true, at: test.clock.now)
        #expect(try await listed() == Self.standard + ["photos.write"])
    }

    @Test func `the metadata is served while the store is unavailable`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.scopes)
        let metadata = try AuthorizationServerMetadata(parsing: try await test.send(.get, to: .metadata).json)
        #expect(metadata.scopesSupported == Self.standard)
    }

    // The authentication methods of each endpoint are explicit, without a default.
    @Test func `the authentication methods of each endpoint are listed`() async throws {
        let test = try await TestServer()
        let metadata = try AuthorizationServerMetadata(parsing: try await test.send(.get, to: .metadata).json)
        let confidential = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        #expect(metadata.tokenEndpointAuthMethodsSupported == ["none"] + confidential)
        #expect(metadata.revocationEndpoint == "https://id.example.com/oauth2/revoke")
        #expect(metadata.revocationEndpointAuthMethodsSupported == ["none"] + confidential)
        #expect(metadata.introspectionEndpoint == "https://id.example.com/oauth2/introspect")
        #expect(metadata.introspectionEndpointAuthMethodsSupported == confidential)
        #expect(metadata.introspectionSigningAlgValuesSupported == ["ES256"])
        for algorithms in [
            metadata.tokenEndpointAuthSigningAlgValuesSupported,
            metadata.revocationEndpointAuthSigningAlgValuesSupported,
            metadata.introspectionEndpointAuthSigningAlgValuesSupported,
        ] {
            #expect(algorithms == ["ES256", "RS256", "Ed25519", "EdDSA"])
        }
    }

    // The members that OpenID Connect Discovery §3 requires are in each document, at each URL.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1"])
    func `every document is valid OpenID provider metadata`(issuer: String) async throws {
        let test = try await TestServer(issuer: issuer)
        var browser = test.browser()
        #expect(test.issuer.metadataURLs.contains { $0.contains("/.well-known/openid-configuration") })
        for url in test.issuer.metadataURLs {
            let metadata = try AuthorizationServerMetadata(parsing: try await browser.open(url).json)
            #expect(metadata.issuer == issuer)
            #expect(metadata.jwksURI == issuer + "/oauth2/jwks")
            #expect(metadata.subjectTypesSupported?.contains("public") == true)
            #expect(metadata.responseTypesSupported == ["code"])
            #expect(metadata.idTokenSigningAlgValuesSupported?.contains("RS256") == true)
        }
    }

    // A client finds the issuer byte for byte in the metadata, in the response and in both tokens.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `the issuer is the same in all documents and tokens`(issuer: String) async throws {
        let test = try await TestServer(issuer: issuer)
        var browser = test.browser()
        for url in test.issuer.metadataURLs {
            #expect(url.hasPrefix(test.issuer.origin))
            #expect(try AuthorizationServerMetadata(parsing: try await browser.open(url).json).issuer == issuer)
        }
        let attempt = Attempt(test, for: "openid")
        let reply = try await attempt.authorize()
        #expect(try reply.authorizationResponse.issuer == issuer)
        let tokens = try await test.redeem(attempt.exchange(try reply.code)).tokenResponse
        for token in [tokens.accessToken.exposed, try #require(tokens.idToken).exposed] {
            #expect(try IssuedTokens.parts(of: token).claims["iss"] as? String == issuer)
        }
    }

    // No member is empty or null.
    @Test func `absent values are omitted`() async throws {
        let test = try await TestServer()
        let bytes = try await test.send(.get, to: .metadata).json
        let members = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        for (_, value) in members {
            #expect(!(value is NSNull))
            if let list = value as? [Any] { #expect(!list.isEmpty) }
        }
        #expect(members["registration_endpoint"] == nil)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("plain"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("implicit"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("\"password\""))
    }

    // The same bytes at each URL, with the path inserted or appended; a trailing slash is another URL.
    @Test func `the metadata has two URLs, and three for an issuer with a path`() throws {
        let plain = try Issuer("https://id.example.com")
        #expect(
            Endpoint.metadata.paths(of: plain) == [
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
            ])
        let tenant = try Issuer("https://id.example.com/tenant1")
        #expect(
            Endpoint.metadata.paths(of: tenant) == [
                "/.well-known/oauth-authorization-server/tenant1", "/.well-known/openid-configuration/tenant1",
                "/tenant1/.well-known/openid-configuration",
            ])
    }

    @Test func `an issuer with a path serves its metadata at three URLs, and a complete sign-in`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant1")
        var browser = test.browser()
        var answers: Set<[UInt8]> = []
        for url in test.issuer.metadataURLs { answers.insert(try await browser.open(url).json) }
        #expect(answers.count == 1)
        let tokens = try await Attempt(test, for: "openid photos.read").tokens()
        let access = try await IssuedTokens(test).verified(tokens.accessToken)
        #expect(access.issuer.rawValue == "https://id.example.com/tenant1")
    }

    // Public keys only. The first client that needs Ed25519 gets the key for it.
    @Test func `the key set has a public key for every announced algorithm but Ed25519`() async throws {
        let test = try await TestServer()
        let bytes = try await test.send(.get, to: .keySet).json
        let keys = try JSONWebKeySet(parsing: bytes)
        let metadata = try AuthorizationServerMetadata(parsing: try await test.send(.get, to: .metadata).json)
        let announced = try #require(metadata.idTokenSigningAlgValuesSupported)
        #expect(Set(announced).subtracting(keys.keys.map(\.algorithm.rawValue)) == ["Ed25519"])
        #expect(keys.keys.count == announced.count - 1)
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: [[String: String]]])
        for key in try #require(document["keys"]) {
            for member in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key[member] == nil) }
            #expect(key["use"] == "sig")
            #expect(key["kid"] != nil)
        }
    }

    // A server needs an issuer in canonical form.
    @Test(arguments: [
        "https://id.example.com/", "https://ID.example.com", "http://id.example.com", "https://id.example.com?x=1",
    ])
    func `a server with an invalid issuer cannot be created`(issuer: String) async throws {
        await #expect(throws: Issuer.Refusal.self) { try await TestServer(issuer: issuer) }
    }

    // RFC 8414 §3: public documents that any origin may read and caches may store for a while.
    @Test(arguments: [Endpoint.metadata, .keySet])
    func `metadata and keys may be read by scripts and stored by caches`(endpoint: Endpoint) async throws {
        let reply = await (try TestServer()).send(.get, to: endpoint)
        #expect(reply.fields[.accessControlAllowOrigin] == "*")
        #expect(reply.fields[.cacheControl] == "public, max-age=300")
    }
}
