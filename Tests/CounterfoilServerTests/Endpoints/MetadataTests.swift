import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

struct MetadataTests {
    // R071, R219, R220, R222, R223, R228, B-25, R337: S256 alone is announced, whatever an administrator has excepted.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `the metadata are what the server is`(issuer: String) async throws {
        let test = try await TestServer(issuer: issuer)
        let reply = await test.send(.get, to: .metadata)
        #expect(reply.status == .ok)
        let metadata = try AuthorizationServerMetadata(parsing: try reply.json)
        #expect(metadata.issuer == issuer)
        #expect(metadata.authorizationEndpoint == issuer + "/oauth2/authorize")
        #expect(metadata.tokenEndpoint == issuer + "/oauth2/token")
        #expect(metadata.jwksURI == issuer + "/oauth2/jwks")
        #expect(metadata.responseTypesSupported == ["code"])
        #expect(metadata.grantTypesSupported == ["authorization_code", "refresh_token", "client_credentials"])
        #expect(metadata.codeChallengeMethodsSupported == ["S256"])
        #expect(metadata.authorizationResponseIssParameterSupported == true)
        #expect(metadata.requestURIParameterSupported == false)
    }

    private static let standard = ["openid", "offline_access", "profile", "email", "address", "phone"]

    // B-13; OpenID Connect Discovery §3: an owner's own scope is listed only where that is set.
    @Test func `the scopes of the standards are listed always, and others where the owner lists them`() async throws {
        let test = try await TestServer()
        // An answer is cached for less than a second.
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

    @Test func `the metadata are served while the store does not answer`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        store.fail(.scopes)
        let metadata = try AuthorizationServerMetadata(parsing: try await test.send(.get, to: .metadata).json)
        #expect(metadata.scopesSupported == Self.standard)
    }

    // R224: how a client authenticates at each endpoint is said, and nothing is left to a default.
    @Test func `the methods of authentication are said for each endpoint`() async throws {
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
            #expect(algorithms == ["ES256", "RS256", "EdDSA"])
        }
    }

    // R225, R227, R337: what OpenID Connect Discovery §3 requires stands in each of the documents, under each address.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1"])
    func `every document is one of an OpenID provider`(issuer: String) async throws {
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

    // R226: whoever begins with the issuer finds it, byte for byte, in the metadata, in the response and in both tokens.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `the issuer is the same wherever it stands`(issuer: String) async throws {
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

    // R190, R222: no member is empty or null.
    @Test func `what there is not is left out`() async throws {
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

    // R219, OK-32: under each of its addresses, the path inserted or appended, the same bytes; a trailing slash is none.
    @Test func `the metadata have two addresses, and three for an issuer with a path`() throws {
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

    // OK-32
    @Test func `an issuer with a path serves the same bytes thrice and a whole sign-in`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant1")
        var browser = test.browser()
        var answers: Set<[UInt8]> = []
        for url in test.issuer.metadataURLs { answers.insert(try await browser.open(url).json) }
        #expect(answers.count == 1)
        let tokens = try await Attempt(test, for: "openid photos.read").tokens()
        let access = try await IssuedTokens(test).verified(tokens.accessToken)
        #expect(access.issuer.rawValue == "https://id.example.com/tenant1")
    }

    // Keys that verify, and nothing private among them.
    @Test func `the key set holds public keys for every algorithm that is announced`() async throws {
        let test = try await TestServer()
        let bytes = try await test.send(.get, to: .keySet).json
        let keys = try JSONWebKeySet(parsing: bytes)
        let metadata = try AuthorizationServerMetadata(parsing: try await test.send(.get, to: .metadata).json)
        #expect(
            Set(keys.keys.map(\.algorithm.rawValue)) == Set(try #require(metadata.idTokenSigningAlgValuesSupported)))
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: [[String: String]]])
        for key in try #require(document["keys"]) {
            for member in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key[member] == nil) }
            #expect(key["use"] == "sig")
            #expect(key["kid"] != nil)
        }
    }

    // R221: only an issuer in canonical form can be served at all.
    @Test(arguments: [
        "https://id.example.com/", "https://ID.example.com", "http://id.example.com", "https://id.example.com?x=1",
    ])
    func `a server with another issuer cannot be made`(issuer: String) async throws {
        await #expect(throws: Issuer.Refusal.self) { try await TestServer(issuer: issuer) }
    }

    // RFC 8414 §3: public documents that any origin may read and caches may keep for a while.
    @Test(arguments: [Endpoint.metadata, .keySet])
    func `metadata and keys may be read by scripts and kept by caches`(endpoint: Endpoint) async throws {
        let reply = await (try TestServer()).send(.get, to: endpoint)
        #expect(reply.fields[.accessControlAllowOrigin] == "*")
        #expect(reply.fields[.cacheControl] == "public, max-age=300")
    }
}
