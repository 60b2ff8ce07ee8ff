@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Authentication of clients with documents by the keys that they publish
/// (draft-ietf-oauth-client-id-metadata-document-02 §8.2, RFC 7523 §2.2).
struct ClientDocumentKeyTests {
    private static let keysURL = "https://keys.example.net/jwks.json"
    private static let redirectURI = "https://app.example.net/callback"

    /// A client that publishes its keys.
    private struct Signing {
        let world: DocumentWorld
        let key: SigningKey

        /// Creates a client; `isInline` is whether the keys are in the document itself.
        init(_ algorithm: SigningAlgorithm = .es256, isInline: Bool = false, _ changes: [String: String?] = [:])
            async throws
        {
            world = try await DocumentWorld([:])
            key = try SigningKey.generate(algorithm)
            publish([key], isInline: isInline, changes)
        }

        func publish(_ keys: [SigningKey], isInline: Bool = false, _ changes: [String: String?] = [:]) {
            let set = String(decoding: JSONWebKeySet(keys: keys.map(\.publicKey)).encoded(), as: UTF8.self)
            var members: [String: String?] = ["token_endpoint_auth_method": #""private_key_jwt""#]
            members[isInline ? "jwks" : "jwks_uri"] = isInline ? set : "\"\(ClientDocumentKeyTests.keysURL)\""
            for (name, value) in changes { members[name] = .some(value) }
            world.publish(members)
            if !isInline { world.files.set(ClientDocumentKeyTests.keysURL, .json(set)) }
        }

        func attempt() throws -> Attempt {
            try world.attempt(at: ClientDocumentKeyTests.redirectURI, for: "openid photos.read offline_access")
        }

        /// Returns a form with an assertion of a key.
        func signed(_ form: FormParameters, by other: SigningKey? = nil) throws -> FormParameters {
            struct Claims: Encodable {
                let iss = DocumentWorld.url
                let sub = DocumentWorld.url
                let aud = "https://id.example.com"
                let jti = Base64URL.encode(RandomBytes().bytes(16))
                let exp: Int
            }
            let claims = Claims(exp: Int(world.test.clock.wall.timeIntervalSince1970) + 60)
            return
                form
                .adding("client_assertion", try (other ?? key).sign(claims, type: .idToken))
                .adding("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        }

        func tokens() async throws -> TokenResponse {
            let attempt = try attempt()
            return try await world.test.redeem(try signed(attempt.exchange(try await attempt.authorize().code)))
                .tokenResponse
        }

        /// Refreshes with an assertion of a key, and returns the status.
        func refresh(_ tokens: TokenResponse, by other: SigningKey? = nil) async throws -> Int {
            await world.test.redeem(try signed(world.refresh(tokens), by: other)).status.code
        }

        var keyRequests: Int { world.files.requests.count { $0.url.rawValue == ClientDocumentKeyTests.keysURL } }
    }

    // The document of ChatGPT names private_key_jwt with RS256, and lists both methods.
    @Test(arguments: SigningAlgorithm.allCases, [true, false])
    func `a client with keys authenticates on every leg`(algorithm: SigningAlgorithm, isInline: Bool) async throws {
        let signing = try await Signing(
            algorithm, isInline: isInline,
            [
                "token_endpoint_auth_methods_supported": #"["none", "private_key_jwt"]"#,
                "token_endpoint_auth_signing_alg": "\"\(algorithm.rawValue)\"",
            ])
        let test = signing.world.test
        let attempt = try signing.attempt()
        let pushed = await test.post(try signing.signed(attempt.request), to: .pushedAuthorization)
        #expect(pushed.status == .created)
        #expect(try await signing.world.stored == nil)
        let tokens = try await signing.tokens()
        #expect(try await signing.refresh(tokens) == 200)
        let token = FormParameters(["token": tokens.accessToken.exposed, "client_id": DocumentWorld.url])
        let introspected = await test.post(try signing.signed(token), to: .introspection)
        #expect(try introspected.members["active"] as? Bool == true)
        #expect(await test.post(try signing.signed(token), to: .revocation).status == .ok)
        #expect(try await signing.refresh(tokens) == 400)
        #expect(try await signing.world.stored?.type == .web)
    }

    // A missing token_endpoint_auth_method does not mean `none` if the document lists its methods.
    @Test(arguments: [nil, #""tls_client_auth""#] as [String?])
    func `private_key_jwt in the list alone is required, too`(named: String?) async throws {
        let signing = try await Signing(
            .es256,
            [
                "token_endpoint_auth_method": named,
                "token_endpoint_auth_methods_supported": #"["none", "private_key_jwt"]"#,
            ])
        let tokens = try await signing.tokens()
        #expect(try await signing.world.stored?.type == .web)
        #expect(await signing.world.test.redeem(signing.world.refresh(tokens)).status == .badRequest)
        #expect(try await signing.refresh(tokens) == 200)
    }

    // With private_key_jwt in the document, the server never accepts the client without its key.
    @Test func `a client with keys is refused without an assertion or with another key`() async throws {
        let signing = try await Signing()
        let test = signing.world.test
        let tokens = try await signing.tokens()
        let other = try SigningKey.generate(.es256)
        let attempt = try signing.attempt()
        let token = FormParameters(["token": tokens.accessToken.exposed, "client_id": DocumentWorld.url])
        let requests: [(FormParameters, Endpoint)] = [
            (attempt.request, .pushedAuthorization), (signing.world.refresh(tokens), .token), (token, .introspection),
            (token, .revocation),
        ]
        for (form, endpoint) in requests {
            for form in [form, try signing.signed(form, by: other)] {
                // RFC 6749 §5.2: a key is no HTTP authentication, so no challenge offers Basic. Introspection always
                // answers 401 (RFC 7662 §2.3).
                let reply = await test.post(form, to: endpoint)
                #expect(reply.status == (endpoint == .introspection ? .unauthorized : .badRequest))
                #expect((reply.fields[.wwwAuthenticate] == nil) == (endpoint != .introspection))
                #expect(try reply.tokenError.error == "invalid_client")
            }
            let guess = await test.post(form.adding("client_secret", ClientSecret().exposed), to: endpoint)
            #expect(try guess.tokenError.error == "invalid_client")
            #expect(guess.status == (endpoint == .introspection ? .unauthorized : .badRequest))
        }
        #expect(try await signing.refresh(tokens) == 200)
    }

    // OpenID Connect Core §10.1.1: the client signs with a new key at once.
    @Test(arguments: [true, false])
    func `a client rotates its keys between two refreshes`(isInline: Bool) async throws {
        let signing = try await Signing(isInline: isInline)
        let tokens = try await signing.tokens()
        let next = try SigningKey.generate(.es256)
        signing.publish([next], isInline: isInline)
        signing.world.test.clock.advance(by: 30)
        #expect(try await signing.refresh(tokens, by: next) == 200)
        // The former key was revoked with its removal.
        #expect(try await signing.refresh(tokens) == 400)
        #expect(try await signing.world.stored?.keys == JSONWebKeySet(keys: [next.publicKey]))
        #expect(
            try await signing.world.audited
                == ["stored the client of a client document", "published keys changed"])
    }

    @Test(arguments: [true, false])
    func `a key that the client no longer publishes is refused after five minutes`(isInline: Bool) async throws {
        let signing = try await Signing(isInline: isInline)
        let tokens = try await signing.tokens()
        signing.publish([try SigningKey.generate(.es256)], isInline: isInline)
        #expect(try await signing.refresh(tokens) == 200)
        signing.world.test.clock.advance(by: 300)
        #expect(try await signing.refresh(tokens) == 400)
    }

    // Keys that are unavailable end nothing, and nothing is accepted without keys.
    @Test func `a client refreshes with the known keys while their host is down`() async throws {
        let signing = try await Signing()
        let tokens = try await signing.tokens()
        for response: ClientFileFetch in [
            .failed(.timedOut), .failed(.unknownHost), .answered(.init(status: 500)), .json("no keys"),
            .json(#"{"keys": [{"kty": "oct", "k": "AA"}]}"#),
        ] {
            signing.world.files.set(Self.keysURL, response)
            signing.world.files.set(DocumentWorld.url, response)
            signing.world.test.clock.advance(by: 301)
            #expect(try await signing.refresh(tokens) == 200)
            #expect(try await signing.refresh(tokens, by: try .generate(.es256)) == 400)
        }
    }

    @Test(arguments: [
        ClientFileFetch.failed(.timedOut), .failed(.notPublic), .failed(.tooLarge), .answered(.init(status: 404)),
        .json(#"{"keys": []}"#), .json("[]"), .json(""), .json(#"{"keys": [{"kty": "EC", "d": "AA"}]}"#),
    ])
    func `a client whose keys are unavailable is refused`(response: ClientFileFetch) async throws {
        let signing = try await Signing()
        signing.world.files.set(Self.keysURL, response)
        let attempt = try signing.attempt()
        let code = try await attempt.authorize().code
        let reply = await signing.world.test.redeem(try signing.signed(attempt.exchange(code)))
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_client")
        #expect(
            await signing.world.test.post(try signing.signed(attempt.request), to: .pushedAuthorization).status
                == .badRequest)
    }

    // Anyone can post wrong assertions in the name of a client.
    @Test func `wrong assertions cause few requests to the host of the client`() async throws {
        let signing = try await Signing()
        let tokens = try await signing.tokens()
        let before = signing.world.files.requests.count
        let other = try SigningKey.generate(.es256)
        signing.world.test.clock.advance(by: 30)
        for _ in 0..<40 { #expect(try await signing.refresh(tokens, by: other) != 200) }
        // The document and its keys, once each.
        #expect(signing.world.files.requests.count == before + 2)
        #expect(try await signing.refresh(tokens) == 200)
        // While the host is down, a URL gets six requests a minute.
        signing.world.files.set(Self.keysURL, .failed(.timedOut))
        signing.world.test.clock.advance(by: 301)
        let keys = signing.keyRequests
        for _ in 0..<40 { #expect(try await signing.refresh(tokens, by: other) != 200) }
        #expect(signing.keyRequests == keys + 6)
        #expect(try await signing.refresh(tokens) == 200)
    }

    // The private networks that the operator allows are for the hosts that the owner names.
    @Test func `the host of the keys counts by itself in the owner's list`() async throws {
        let signing = try await Signing()
        try await signing.world.setPolicy { $0.allowedHosts = [HostPattern("app.example.net")].compactMap(\.self) }
        _ = try await signing.tokens()
        let named = signing.world.files.requests.map { ($0.url.host, $0.isOfNamedHost) }
        #expect(named.allSatisfy { host, isNamed in isNamed == (host == "app.example.net") })
        #expect(signing.world.files.requests.map(\.byteLimit).max() == 32 * 1024)
    }

    // A file has the limit of its purpose, even if the same URL is another client's document.
    @Test func `a key set is no document`() async throws {
        let signing = try await Signing()
        let tokens = try await signing.tokens()
        #expect(try await signing.refresh(tokens) == 200)
        let reply = try await signing.world.attempt(Self.keysURL).firstReply()
        #expect(reply.status == .badRequest)
        #expect(try reply.developerReason?.contains("its client_id is not its URL") == true)
        #expect(signing.world.files.requests.last?.byteLimit == 5120)
    }
}
