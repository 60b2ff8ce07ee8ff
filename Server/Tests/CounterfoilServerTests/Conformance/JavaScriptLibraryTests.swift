@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The requests and the checks of jose 6, oauth4webapi 3, openid-client 6 and oidc-client-ts 3, as their sources and
/// their documentation have them.
///
/// - openid-client and oauth4webapi send neither `state` nor `nonce` if the metadata announce PKCE.
/// - They read the challenges of a response before its body, and repeat a request with a nonce only if `DPoP` is the
///   only challenge.
/// - With an Ed25519 key, jose, oauth4webapi and openid-client send `alg` `Ed25519`, whatever the metadata say.
/// - They verify a token only with a key whose `alg`, if it has one, is that of the token.
struct JavaScriptLibraryTests {
    /// A program that uses one of the libraries, with a key for DPoP.
    private struct Program {
        let test: TestServer
        let key: TestProofKey

        init(_ algorithm: SigningAlgorithm, requiresNonce: Bool) async throws {
            test = try await TestServer { $0.requiresProofNonce = requiresNonce }
            key = try TestProofKey(algorithm)
        }

        /// Registers a client with the standard policy of its type, as `app create` does.
        func register(
            _ type: ClientType, at redirectURI: String, secret: ClientSecret? = nil,
            idTokenAlgorithm: SigningAlgorithm? = nil
        ) async throws -> RegisteredClient {
            var policy = ClientPolicy.standard(for: type)
            policy.isVouchedFor = true
            policy.refreshTokens = .always
            if let idTokenAlgorithm { policy.idTokenAlgorithm = idTokenAlgorithm }
            return try await test.register(
                "Gallery", type: type, at: [redirectURI], for: "openid profile photos.read", under: policy,
                secret: secret)
        }

        /// Sends a token request with a proof, and repeats it with a nonce if the server demands one.
        func tokens(_ form: FormParameters, fields: HTTPFields = [:]) async throws -> TokenResponse {
            let first = await test.redeem(form, fields: try test.proving(key, fields: fields))
            guard asksForNonce(first) else { return try first.tokenResponse }
            let nonce = try #require(first.proofNonce)
            return try await test.redeem(form, fields: try test.proving(key, nonce: nonce, fields: fields))
                .tokenResponse
        }

        /// Sends a UserInfo request of a program that has started again, so that it knows no nonce.
        func userInfo(_ token: AccessToken) async throws -> [String: Any] {
            func sent(_ nonce: String?) async throws -> Reply {
                let proof = try key.proof(
                    for: .get, test.issuer.endpoint("/oauth2/userinfo"), at: test.clock.wall, presenting: token,
                    nonce: nonce)
                let fields: HTTPFields = [
                    .authorization: "DPoP \(token.exposed)", try #require(HTTPField.Name("DPoP")): proof,
                ]
                return await test.send(.get, to: .userInfo, fields: fields)
            }
            let first = try await sent(nil)
            guard asksForNonce(first) else { return try first.members }
            let demanded: String = try #require(first.proofNonce)
            return try await sent(demanded).members
        }

        /// The check of oauth4webapi whether a response demands a nonce.
        private func asksForNonce(_ reply: Reply) -> Bool {
            guard let field = reply.fields[.wwwAuthenticate] else {
                return (try? reply.tokenError.error) == "use_dpop_nonce"
            }
            let challenges = AuthenticationChallenge.list(in: field)
            return challenges.count == 1 && challenges.first?.scheme == "dpop"
                && challenges.first?["error"] == "use_dpop_nonce"
        }

        /// The check of jose and oauth4webapi that exactly one published key fits an ID token; returns its claims.
        func claims(of token: IDToken?, signedWith algorithm: SigningAlgorithm) async throws -> [String: Any] {
            let parts = try #require(token).exposed.split(separator: ".").prefix(2).map { part in
                try JSONSerialization.jsonObject(with: Data(try #require(Base64URL.decode(part)))) as? [String: Any]
            }
            let header = try #require(parts.first ?? nil)
            let name = try #require(header["alg"] as? String)
            #expect(name == algorithm.rawValue)
            let type = ["RS": "RSA", "ES": "EC", "Ed": "OKP"][String(name.prefix(2))]
            let keys = try await test.send(.get, to: .keySet).members["keys"] as? [[String: Any]]
            let fitting = try #require(keys).filter { key in
                key["kty"] as? String == type && key["kid"] as? String == header["kid"] as? String
                    && (key["alg"] == nil || key["alg"] as? String == name)
            }
            #expect(fitting.count == 1)
            return try #require(parts.last ?? nil)
        }
    }

    // RFC 7517 §4.4 and §4.5, RFC 9864 §2.2
    @Test(arguments: [SigningAlgorithm.rs256, .es256, .ed25519, .edDSA])
    func `jose: the key set has exactly one key for the kid and the alg of an ID token`(
        algorithm: SigningAlgorithm
    ) async throws {
        let program = try await Program(.es256, requiresNonce: false)
        let client = try await program.register(
            .native, at: "http://127.0.0.1/callback", idTokenAlgorithm: algorithm)
        let attempt = Attempt(program.test, by: client, for: "openid")
        let code = try await attempt.authorize().code
        let tokens = try await program.tokens(attempt.exchange(code))
        let claims = try await program.claims(of: tokens.idToken, signedWith: algorithm)
        #expect(claims["iss"] as? String == program.test.issuer.rawValue)
    }

    // RFC 7591 §2, RFC 9864 §2.2
    @Test func `jose: a client registers a JWK with the alg Ed25519`() async throws {
        let desk = try await RegistrationDesk()
        let key = try SigningKey.generate(.ed25519)
        let exported = JSONWebKeySet(keys: [key.publicKey]).encoded()
        #expect(String(decoding: exported, as: UTF8.self).contains(#""alg":"Ed25519""#))
        let client = try await desk.registered([
            "redirect_uris": [RegistrationDesk.callback], "token_endpoint_auth_method": "private_key_jwt",
            "jwks": try JSONSerialization.jsonObject(with: Data(exported)),
        ])
        let keys = try #require(try await client.registration().keys).keys
        #expect(keys.map(\.id) == [key.publicKey.id])
        #expect(keys.map(\.algorithm) == [.ed25519])
    }

    // RFC 9700 §4.7.1, RFC 9864 §2.2, RFC 9449 §9
    @Test(arguments: [SigningAlgorithm.es256, .ed25519], [false, true])
    func `openid-client: a native client without state and nonce`(
        algorithm: SigningAlgorithm, requiresNonce: Bool
    ) async throws {
        let program = try await Program(algorithm, requiresNonce: requiresNonce)
        let client = try await program.register(.native, at: "http://127.0.0.1/callback")
        let attempt = Attempt(program.test, by: client, for: "openid photos.read").with("state", nil)
        let reply = try await attempt.authorize()
        let response = try reply.authorizationResponse
        #expect(response.state == nil)
        #expect(response.issuer == program.test.issuer.rawValue)
        let tokens = try await program.tokens(attempt.exchange(try reply.code))
        // The library compares `token_type` in lower case.
        #expect(tokens.tokenType.lowercased() == "dpop")
        let claims = try await program.claims(of: tokens.idToken, signedWith: .es256)
        #expect(claims["nonce"] == nil)
        #expect(claims["aud"] as? String == client.id.rawValue)
        #expect(try await program.userInfo(tokens.accessToken)["sub"] as? String == claims["sub"] as? String)
        // The refresh token of a public client is bound to the key, so it needs no rotation (RFC 9700 §2.2.2).
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        #expect(try await program.tokens(refresh).tokenType == "DPoP")
        #expect(await program.test.redeem(refresh).status == .badRequest)
    }

    // RFC 9864 §2.2: the ID token has the algorithm that the library is configured with.
    @Test(arguments: [SigningAlgorithm.rs256, .es256, .ed25519, .edDSA], [false, true])
    func `openid-client: a web client with a secret and a nonce`(
        algorithm: SigningAlgorithm, requiresNonce: Bool
    ) async throws {
        let program = try await Program(.ed25519, requiresNonce: requiresNonce)
        let secret = ClientSecret()
        let redirectURI = "https://gallery.example/callback"
        let client = try await program.register(
            .web, at: redirectURI, secret: secret, idTokenAlgorithm: algorithm)
        let attempt = Attempt(program.test, by: client, at: redirectURI, for: "openid")
            .with("state", nil).with("nonce", "n-0S6_WzA2Mj")
        // The library posts the secret by default.
        let form = attempt.exchange(try await attempt.authorize().code).adding("client_secret", secret.exposed)
        let tokens = try await program.tokens(form)
        let claims = try await program.claims(of: tokens.idToken, signedWith: algorithm)
        #expect(claims["nonce"] as? String == "n-0S6_WzA2Mj")
        #expect(try await program.userInfo(tokens.accessToken)["sub"] as? String == claims["sub"] as? String)
    }

    // RFC 7523 §3, RFC 6749 §5.2
    @Test(arguments: [false, true])
    func `oauth4webapi: a service with an Ed25519 key, and the reason of a refusal`(requiresNonce: Bool) async throws {
        let program = try await Program(.ed25519, requiresNonce: requiresNonce)
        let key = try SigningKey.generate(.ed25519)
        let service = try await program.test.addService().client
        // `app create --jwks` and a registration accept the key as jose exports it.
        let exported = String(decoding: JSONWebKeySet(keys: [key.publicKey]).encoded(), as: UTF8.self)
        #expect(exported.contains(#""alg":"Ed25519""#))
        let keys = try JSONWebKeySet(parsing: Array(exported.utf8))
        try await program.test.change(service) { $0.keys = keys }
        func form(for audience: String) throws -> FormParameters {
            let now = Int(program.test.clock.wall.timeIntervalSince1970)
            let claims: [String: ClientAssertionTests.Claim] = [
                "iss": .text(service.id.rawValue), "sub": .text(service.id.rawValue), "aud": .text(audience),
                "jti": .text(Base64URL.encode(RandomBytes().bytes(32))), "iat": .seconds(now), "nbf": .seconds(now),
                "exp": .seconds(now + 60),
            ]
            return FormParameters([
                "grant_type": "client_credentials", "client_id": service.id.rawValue,
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": try key.sign(claims, type: .idToken),
            ])
        }
        // The library signs a new assertion for a repeated request.
        var tokens: TokenResponse?
        var nonce: String?
        for _ in 0..<(requiresNonce ? 2 : 1) {
            let reply = await program.test.redeem(
                try form(for: program.test.issuer.rawValue), fields: try program.test.proving(program.key, nonce: nonce)
            )
            nonce = reply.proofNonce
            tokens = try? reply.tokenResponse
        }
        #expect(tokens?.tokenType == "DPoP")
        // A challenge would hide the description from the developer.
        let refused = await program.test.redeem(
            try form(for: "https://other.example"), fields: try program.test.proving(program.key, nonce: nonce))
        #expect(refused.fields[.wwwAuthenticate] == nil)
        #expect(try refused.tokenError.error == "invalid_client")
        #expect(try refused.tokenError.errorDescription?.contains("client_assertion") == true)
    }

    // RFC 8628 §3.4
    @Test(arguments: [SigningAlgorithm.es256, .ed25519], [false, true])
    func `oauth4webapi: a device with tokens that are bound to a key`(
        algorithm: SigningAlgorithm, requiresNonce: Bool
    ) async throws {
        let program = try await Program(algorithm, requiresNonce: requiresNonce)
        let device = try await TestDevice(program.test, scope: "openid photos.read")
        let codes = try await device.codes(["scope": "openid photos.read"], pkce: false)
        var browser = program.test.browser()
        _ = try await browser.answer(codes)
        let form = FormParameters([
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": codes.deviceCode,
            "client_id": device.client.id.rawValue,
        ])
        let tokens = try await program.tokens(form)
        let claims = try await program.claims(of: tokens.idToken, signedWith: .es256)
        #expect(try await program.userInfo(tokens.accessToken)["sub"] as? String == claims["sub"] as? String)
    }

    // The library sends `state`, by default no `nonce`, and calls the server from its own origin.
    @Test(arguments: [false, true])
    func `oidc-client-ts: a single-page client in a browser`(requiresNonce: Bool) async throws {
        let program = try await Program(.es256, requiresNonce: requiresNonce)
        let redirectURI = "https://gallery.example/callback"
        let client = try await program.register(.singlePage, at: redirectURI)
        let origin = try #require(RegisteredOrigin("https://gallery.example"))
        try await program.test.change(client) { $0.origins = [origin] }
        let attempt = Attempt(program.test, by: client, at: redirectURI, for: "openid photos.read")
        let reply = try await attempt.authorize()
        #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
        let form = attempt.exchange(try reply.code)
        let fields: HTTPFields = [.origin: "https://gallery.example"]
        let first = await program.test.redeem(form, fields: try program.test.proving(program.key, fields: fields))
        var answered = first
        if requiresNonce {
            // The library repeats any refused request whose response has a nonce that scripts can read.
            #expect(first.fields[.accessControlExposeHeaders]?.contains("DPoP-Nonce") == true)
            let nonce = try #require(first.proofNonce)
            answered = await program.test.redeem(
                form, fields: try program.test.proving(program.key, nonce: nonce, fields: fields))
        }
        #expect(answered.fields[.accessControlAllowOrigin] == "https://gallery.example")
        let tokens = try answered.tokenResponse
        let claims = try await program.claims(of: tokens.idToken, signedWith: .es256)
        #expect(claims["nonce"] == nil)
        #expect(try await program.userInfo(tokens.accessToken)["sub"] as? String == claims["sub"] as? String)
    }
}
