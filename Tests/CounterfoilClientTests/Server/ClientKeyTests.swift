import CounterfoilClientTesting
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of clients that authenticate with a private key.
@Suite(.timeLimit(.minutes(2)))
struct ClientKeyTests {
    private static let secret = "UwOyHXKmSVouZd0XAqlSu-D-rcPLlV_K-ARH7TNmu_I"

    private static let keys = [
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUwOyHXKmSVouZd0X
        AqlSu+D+rcPLlV/K+ARH7TNmu/KhRANCAASbL1FXIRvFQ0dua03BM/x5OhXASA3z
        SLdie1SzZe7LmizHdRC9gZ++HH89FGrfeajNVCPwrTN0+YuHg9/8kA9E
        -----END PRIVATE KEY-----
        """,
        """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFMDsh1ypklaLmXdFwKpUrvg/q3Dy5VfyvgER+0zZrvyoAoGCCqGSM49
        AwEHoUQDQgAEmy9RVyEbxUNHbmtNwTP8eToVwEgN80i3YntUs2Xuy5osx3UQvYGf
        vhx/PRRq33mozVQj8K0zdPmLh4Pf/JAPRA==
        -----END EC PRIVATE KEY-----
        """,
        #"{"kty":"EC","crv":"P-256","d":"\#(secret)"}"#,
    ]

    private static let edwardsKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIObqudzERoVUAYDORFj7CXLQ2EdQi9IrNze4PXfmFSyR
        -----END PRIVATE KEY-----
        """

    private static func signIn(
        at server: ScriptedAuthorizationServer, with key: ClientKey, binding: Bool = false
    ) throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid photos.read")
        signIn.options.authentication = .privateKey(key)
        signIn.options.bindsTokens = binding
        signIn.browser = ScriptedBrowser()
        signIn.timeout = .seconds(60)
        return signIn
    }

    /// Verifies the client assertion of a request as the issuer does, and returns its `jti`.
    private static func verify(
        _ request: RecordedRequest, of key: ClientKey, at issuer: Issuer
    ) throws -> VerifiedClientAssertion {
        #expect(request.form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(request.form["client_id"] == "lightbox")
        #expect(request.form["client_secret"] == nil)
        #expect(request.authorization == nil)
        let client = try #require(ClientIdentifier("lightbox"))
        let assertion = try #require(request.form["client_assertion"])
        return try ClientAssertionVerifier(audiences: [issuer.rawValue]).verify(
            assertion, of: client, keys: JSONWebKeySet(keys: [#require(key.publicKey)]), at: Date())
    }

    // RFC 7523 §3: the audience is the issuer alone, and `iss` and `sub` are the client
    // identifier.
    @Test(arguments: [keys[0], edwardsKey])
    func `each request has its own assertion, for the issuer alone`(text: String) async throws {
        let key = try ClientKey(text)
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await Self.signIn(at: server, with: key).run()
            try await store.save(credentials, as: .standard)
            let session = TokenSession(ofAnyClientIn: store)
            _ = try await session.refreshed(replacing: credentials.accessToken)
            #expect(try await session.signOut() == .revoked)
            let requests = [ScriptedEndpoint.pushedAuthorization, .token, .revocation].map { server.requests(to: $0) }
            #expect(requests.map(\.count) == [1, 2, 2])
            let assertions = try requests.joined().map { try Self.verify($0, of: key, at: server.issuer) }
            #expect(Set(assertions.map(\.tokenID)).count == 5)
            #expect(assertions.allSatisfy { $0.expires.timeIntervalSinceNow <= 60 })
        }
    }

    // A malicious server names the token endpoint of an honest server as its own.
    @Test func `a server that names a foreign token endpoint gets no assertion that is valid there`() async throws {
        let key = try ClientKey()
        try await ScriptedAuthorizationServer.run { honest in
            var script = ServerScript()
            script.metadata.replaced = [WireMember("token_endpoint", .text(honest.url(of: .token)))]
            try await ScriptedAuthorizationServer.run(script) { evil in
                _ = try? await Self.signIn(at: evil, with: key).run()
                let request = try #require(honest.requests(to: .token).first)
                #expect(throws: TokenRefusal.wrongAudience) {
                    try Self.verify(request, of: key, at: honest.issuer)
                }
                #expect(throws: Never.self) { try Self.verify(request, of: key, at: evil.issuer) }
            }
        }
    }

    // RFC 7523 §3 point 7, RFC 9449 §8: the first attempt may have consumed the assertion.
    @Test func `a retry with a nonce has another assertion`() async throws {
        let key = try ClientKey()
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            _ = try await Self.signIn(at: server, with: key, binding: true).run()
            let requests = server.requests(to: .token)
            #expect(requests.count >= 2)
            let names = try requests.map { try Self.verify($0, of: key, at: server.issuer).tokenID }
            #expect(Set(names).count == requests.count)
        }
    }

    // RFC 8628 §3.1
    @Test func `a device flow authenticates with the key too`() async throws {
        let key = try ClientKey()
        try await ScriptedAuthorizationServer.run { server in
            var signIn = DeviceSignIn(issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            signIn.options.authentication = .privateKey(key)
            signIn.pause = { _ in }
            _ = try await signIn.run { _ in }
            for endpoint in [ScriptedEndpoint.deviceAuthorization, .token] {
                _ = try Self.verify(try #require(server.requests(to: endpoint).first), of: key, at: server.issuer)
            }
        }
    }

    // RFC 9864 §2.2: for a server that does not know the older name.
    @Test func `an Ed25519 key signs with EdDSA, and with Ed25519 if that is named`() async throws {
        let usual = try ClientKey(Self.edwardsKey)
        let key = try ClientKey(Self.edwardsKey, algorithm: .ed25519)
        #expect(usual.algorithm == .edDSA && key != usual)
        #expect(key.publicKey?.algorithm == .ed25519)
        #expect(throws: ClientKey.Refusal.unusable) { try ClientKey(Self.keys[0], algorithm: .ed25519) }
        #expect(throws: ClientKey.Refusal.unusable) { try ClientKey(RSAKeyText.pkcs8, algorithm: .ed25519) }
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await Self.signIn(at: server, with: key).run()
            let request = try #require(server.requests(to: .token).first)
            _ = try Self.verify(request, of: key, at: server.issuer)
            let assertion = try #require(request.form["client_assertion"])
            let header = try #require(Base64URL.decode(String(assertion.prefix { $0 != "." })))
            #expect(String(decoding: header, as: UTF8.self).contains(#""alg":"Ed25519""#))
            let kept = try JSONDecoder().decode(Credentials.self, from: JSONEncoder().encode(credentials))
            #expect(kept.authentication == .privateKey(key))
        }
    }

    @Test func `an RSA key is read from each format, and signs with RS256 or PS256`() async throws {
        let texts = [RSAKeyText.pkcs8, RSAKeyText.pkcs1, RSAKeyText.jsonWebKey()]
        let keys = try texts.map { try ClientKey($0) }
        #expect(Set(keys).count == 1)
        #expect(keys[0].algorithm == .rs256)
        #expect(try ClientKey(RSAKeyText.jsonWebKey(#""alg":"PS256""#)).algorithm == .ps256)
        #expect(try ClientKey(RSAKeyText.pkcs8, algorithm: .ps256) != keys[0])
        #expect(throws: ClientKey.Refusal.unusable) { try ClientKey(Self.keys[0], algorithm: .rs256) }
        #expect(throws: ClientKey.Refusal.unusable) { try ClientKey(RSAKeyText.pkcs8, algorithm: .es256) }
        let key = keys[0]
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await Self.signIn(at: server, with: key).run()
            let request = try #require(server.requests(to: .token).first)
            _ = try Self.verify(request, of: key, at: server.issuer)
            let kept = try JSONDecoder().decode(Credentials.self, from: JSONEncoder().encode(credentials))
            #expect(kept.authentication == .privateKey(key))
            let stronger = try ClientKey(RSAKeyText.pkcs8, algorithm: .ps256)
            _ = try await Self.signIn(at: server, with: stronger).run()
            let assertion = try #require(server.requests(to: .token).last?.form["client_assertion"])
            let header = try #require(Base64URL.decode(String(assertion.prefix { $0 != "." })))
            #expect(String(decoding: header, as: UTF8.self).contains(#""alg":"PS256""#))
        }
    }

    /// A signer whose key the client cannot read.
    private struct Signer: ClientSigner {
        struct Locked: Error, CustomStringConvertible { let description = "the token is locked" }

        let key: SigningKey
        let keyID: String
        var isLocked = false

        init(id: String) throws {
            keyID = id
            key = try SigningKey.generate(.es256)
        }

        var algorithm: ClientKey.Algorithm { .es256 }
        var publicKey: JSONWebKey? { key.publicKey }

        func signature(for bytes: [UInt8]) async throws -> [UInt8] {
            if isLocked { throw Locked() }
            return try key.signature(for: bytes)
        }
    }

    // The stored credentials name the key and do not contain it.
    @Test func `a signer signs each assertion, and stored credentials find it again by its name`() async throws {
        let signer = try Signer(id: "hsm-\(UUID())")
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await Self.signIn(at: server, with: ClientKey(signer)).run()
            let request = try #require(server.requests(to: .token).first)
            let set = JSONWebKeySet(keys: [signer.key.publicKey])
            let assertion = try #require(request.form["client_assertion"])
            let header = try #require(Base64URL.decode(String(assertion.prefix { $0 != "." })))
            #expect(String(decoding: header, as: UTF8.self).contains(signer.keyID))
            #expect(set.keys.count == 1)
            let bytes = try JSONEncoder().encode(credentials)
            let secret = Base64URL.encode(signer.key.privateRepresentation)
            #expect(!String(decoding: bytes, as: UTF8.self).contains(secret))
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(JSONDecoder().decode(Credentials.self, from: bytes), as: .standard)
            let session = TokenSession(ofAnyClientIn: store)
            await #expect {
                try await session.refreshed(replacing: credentials.accessToken)
            } throws: {
                "\($0)".contains("no signer has the client key \(signer.keyID)")
            }
            ClientSigners.register(signer)
            _ = try await session.refreshed(replacing: credentials.accessToken)
            #expect(server.requests(to: .token).count == 2)
        }
    }

    @Test func `a signer that fails sends no request, and its reason is reported`() async throws {
        var signer = try Signer(id: "hsm")
        signer.isLocked = true
        let key = ClientKey(signer)
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let error = await #expect(throws: SignInError.self) { try await Self.signIn(at: server, with: key).run() }
            #expect(error == .unusable("the client key hsm failed to sign: the token is locked"))
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    // RFC 7523 §3: older servers accept only their token endpoint as the audience.
    @Test func `the audience can be the token endpoint, if it is at the origin of the issuer`() async throws {
        try await ScriptedAuthorizationServer.run(.hydraWithClientKey) { server in
            var key = try ClientKey()
            await #expect(throws: SignInError.refused(OAuthError(.invalidClient))) {
                var signIn = try Self.signIn(at: server, with: key)
                signIn.redirectURIUses = RedirectURIUses()
                _ = try await signIn.run()
            }
            key.assertionAudience = .tokenEndpoint
            var signIn = try Self.signIn(at: server, with: key)
            signIn.redirectURIUses = RedirectURIUses()
            let credentials = try await signIn.run()
            let kept = try JSONDecoder().decode(Credentials.self, from: JSONEncoder().encode(credentials))
            #expect(kept.authentication.key?.assertionAudience == .tokenEndpoint)
        }
        try await ScriptedAuthorizationServer.run { honest in
            var script = ServerScript(.noPushedRequests)
            script.metadata.replaced = [WireMember("token_endpoint", .text(honest.url(of: .token)))]
            try await ScriptedAuthorizationServer.run(script) { evil in
                var key = try ClientKey()
                key.assertionAudience = .tokenEndpoint
                let signIn = try Self.signIn(at: evil, with: key)
                let error = await #expect(throws: SignInError.self) { try await signIn.run() }
                #expect("\(String(describing: error))".contains("is at another origin"))
                #expect(honest.requests.isEmpty)
            }
        }
    }

    // RFC 7523 §3
    @Test func `a vendor profile can name the token endpoint as the audience, and the key decides otherwise`()
        async throws
    {
        try await ScriptedAuthorizationServer.run(.hydraWithClientKey) { server in
            var profile = ServerProfile(
                name: "older", title: "Older", location: .issuer(server.publishedIssuer),
                redirect: ServerProfile.Redirect(loopback: "http://127.0.0.1/callback"))
            profile.defaultHost = "127.0.0.1"
            profile.defaultScope = "openid offline_access"
            profile.behavior.assertionAudience = .tokenEndpoint
            let vendor = try VendorServer(profile)
            func signIn(with key: ClientKey) throws -> NativeSignIn {
                var signIn = NativeSignIn(at: vendor, clientID: try #require(ClientIdentifier("lightbox")))
                signIn.options.authentication = .privateKey(key)
                signIn.browser = ScriptedBrowser()
                signIn.timeout = .seconds(60)
                signIn.redirectURIUses = RedirectURIUses()
                return signIn
            }
            var key = try ClientKey()
            let credentials = try await signIn(with: key).run()
            let refresh = TokenRefresh()
            let configuration = try await credentials.serverConfiguration(transport: .standard)
            let token = try #require(credentials.refreshToken)
            guard case .refreshed = await refresh.refresh(credentials, with: token, at: configuration) else {
                Issue.record("the refresh was refused")
                return
            }
            key.assertionAudience = .issuer
            let other = try signIn(with: key)
            await #expect(throws: SignInError.refused(OAuthError(.invalidClient))) { try await other.run() }
        }
    }

    // RFC 7591 §2
    @Test func `the public key is registered, and another key causes another registration`() async throws {
        let store = MemoryTokenStore()
        @Sendable func signIn(at server: ScriptedAuthorizationServer, with key: ClientKey) async throws -> Credentials {
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = NativeSignIn(issuer: server.issuer, client: client)
            signIn.options.authentication = .privateKey(key)
            signIn.browser = ScriptedBrowser()
            return try await signIn.run()
        }
        try await ScriptedAuthorizationServer.run { server in
            let key = try ClientKey(Self.keys[0])
            let first = try await signIn(at: server, with: key)
            #expect(first.authentication == .privateKey(key))
            let request = try #require(server.requests(to: .registration).first)
            #expect(request.json?["token_endpoint_auth_method"] == "private_key_jwt")
            guard case .object(let jwks)? = request.json?["jwks"],
                let set = try? JSONWebKeySet(parsing: Array(WireValue.object(jwks).written.utf8))
            else {
                Issue.record("no keys")
                return
            }
            #expect(set.keys == [try #require(key.publicKey)])
            #expect(!request.text.contains(Self.secret))
            #expect(!request.text.contains("\"d\""))
            #expect(try await signIn(at: server, with: key).clientID == first.clientID)
            #expect(try await signIn(at: server, with: try ClientKey()).clientID != first.clientID)
        }
    }

    @Test func `one key is read from each format and keeps its key ID`() throws {
        let read = try Self.keys.map { try ClientKey($0) }
        #expect(Set(read).count == 1)
        #expect(try ClientKey(Self.keys[0], id: "2026-11").id == "2026-11")
        let named = #"{"kty":"EC","crv":"P-256","kid":"its own","d":"\#(Self.secret)"}"#
        #expect(try ClientKey(named).id == "its own")
        let kept = try JSONDecoder().decode(
            ClientAuthentication.self, from: JSONEncoder().encode(ClientAuthentication.privateKey(ClientKey(named))))
        #expect(kept == .privateKey(try ClientKey(named)))
        #expect(kept != .privateKey(read[0]))
        #expect(!"\(kept)\(String(reflecting: kept))".contains(Self.secret))
    }

    @Test(arguments: [
        "", "key", "{}", #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"oct","k":"AAAA"}"#,
        #"{"kty":"EC","crv":"P-256","d":"AAAA"}"#, #"{"kty":"EC","crv":"P-384","d":"\#(secret)"}"#,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
    ])
    func `a text that is not a supported signing key is refused`(text: String) {
        #expect(throws: ClientKey.Refusal.unusable) { try ClientKey(text) }
    }

    @Test func `a key file that other users can read is refused`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("key.pem")
        #expect(throws: ClientKey.Refusal.self) { try ClientKey(contentsOf: file) }
        for (mode, isTaken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            try? FileManager.default.removeItem(at: file)
            try Data(Self.keys[0].utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            do throws(ClientKey.Refusal) {
                _ = try ClientKey(contentsOf: file)
                #expect(isTaken)
            } catch {
                #expect(!isTaken)
                #expect("\(error)".contains("run: chmod 600 \(file.path)"))
            }
        }
    }
}
