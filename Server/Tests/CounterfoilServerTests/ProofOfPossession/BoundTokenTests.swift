import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Tokens that are bound to a key by a DPoP proof at the token endpoint (RFC 9449 §5).
struct BoundTokenTests {
    private static let scope = "openid offline_access photos.read"

    /// A native client that may get refresh tokens.
    private static func client(
        _ test: TestServer, type: ClientType = .native, change: (inout ClientPolicy) -> Void = { _ in }
    ) async throws -> RegisteredClient {
        var policy = ClientPolicy.standard(for: type)
        policy.requiresState = false
        policy.isVouchedFor = true
        change(&policy)
        return try await test.register(
            "Bound", type: type, redirectURIs: ["http://127.0.0.1/callback"], scope: scope, policy: policy)
    }

    private static func refresh(_ client: RegisteredClient, _ token: RefreshToken?) throws -> FormParameters {
        FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(token).exposed,
        ])
    }

    private static func claims(_ token: AccessToken) throws -> [String: JSONValue] {
        let parts = token.exposed.split(separator: ".")
        return try JSONReader.object(try #require(Base64URL.decode(String(parts[1]))))
    }

    // RFC 9449 §5 and §6.1
    @Test func `a proof binds the access token to its key`() async throws {
        let test = try await TestServer()
        let key = try TestProofKey()
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        let reply = await test.redeem(attempt.exchange(code), fields: try test.proving(key))
        let tokens = try reply.tokenResponse
        #expect(tokens.tokenType == "DPoP")
        #expect(try Self.claims(tokens.accessToken)["cnf"] == .object(["jkt": .string(key.thumbprint)]))
        #expect(reply.proofNonce != nil)
    }

    @Test func `a request without a proof gets a bearer token and no nonce`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let reply = await test.redeem(attempt.exchange(try await attempt.authorize().code))
        #expect(try reply.tokenResponse.isBearer)
        #expect(try Self.claims(reply.tokenResponse.accessToken)["cnf"] == nil)
        #expect(reply.proofNonce == nil)
    }

    // RFC 9449 §5
    @Test func `the refresh token of a public client is bound to the key and not rotated`() async throws {
        let test = try await TestServer()
        let (client, key, other) = (try await Self.client(test), try TestProofKey(), try TestProofKey())
        let attempt = Attempt(test, by: client, for: Self.scope)
        let code = try await attempt.authorize().code
        let first = try await test.redeem(attempt.exchange(code), fields: try test.proving(key)).tokenResponse
        let form = try Self.refresh(client, first.refreshToken)

        for fields in [try test.proving(other), [:]] {
            let refused = await test.redeem(form, fields: fields)
            #expect(refused.status == .badRequest)
            #expect(try refused.tokenError.error == "invalid_grant")
        }
        for _ in 0..<3 {
            let tokens = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
            #expect(tokens.tokenType == "DPoP")
            #expect(tokens.refreshToken == nil)
            #expect(try Self.claims(tokens.accessToken)["cnf"] == .object(["jkt": .string(key.thumbprint)]))
        }
    }

    // A use is recorded after 15 minutes, or a tenth of a shorter idle lifetime, since the last recorded one.
    @Test(arguments: [(90 * 86_400.0, 900.0), (600, 60)])
    func `a refresh with a bound token writes its use only now and then`(
        idleLifetime: TimeInterval, resolution: TimeInterval
    ) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let key = try TestProofKey()
        let client = try await Self.client(test) { $0.refreshTokenLife.idleLifetime = Int(idleLifetime) }
        let attempt = Attempt(test, by: client, for: Self.scope)
        let code = try await attempt.authorize().code
        let first = try await test.redeem(attempt.exchange(code), fields: try test.proving(key)).tokenResponse
        let form = try Self.refresh(client, first.refreshToken)
        for (pause, recorded) in [(0, 0), (resolution - 1, 0), (1, 1), (resolution - 1, 1), (1, 2)] {
            test.clock.advance(by: pause)
            let reply = await test.redeem(form, fields: try test.proving(key))
            #expect(reply.status == .ok)
            #expect(store.calls(of: .recordRefresh) == recorded)
        }
    }

    // RFC 9449 §5
    @Test func `the first refresh with a proof binds the refresh token of a public client to the key`() async throws {
        let test = try await TestServer()
        let (client, key, other) = (try await Self.client(test), try TestProofKey(), try TestProofKey())
        let first = try await Attempt(test, by: client, for: Self.scope).tokens()
        #expect(first.isBearer)
        let second = try await test.redeem(
            try Self.refresh(client, first.refreshToken), fields: try test.proving(key)
        ).tokenResponse
        #expect(second.tokenType == "DPoP")
        #expect(second.refreshToken != first.refreshToken)
        let form = try Self.refresh(client, second.refreshToken)
        for fields in [try test.proving(other), [:]] {
            let refused = await test.redeem(form, fields: fields)
            #expect(refused.status == .badRequest)
            #expect(try refused.tokenError.error == "invalid_grant")
        }
        for _ in 0..<2 {
            let tokens = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
            #expect(tokens.tokenType == "DPoP")
            #expect(tokens.refreshToken == nil)
        }
    }

    // RFC 9700 §4.14.2: someone has refreshed a stolen token with a key of their own, and the client
    // presents the same token: without a proof, or with the proof of its key.
    @Test(arguments: [false, true])
    func `a retry of the refresh that bound the token needs the same key, and otherwise revokes the grant`(
        isWithProof: Bool
    ) async throws {
        let test = try await TestServer()
        let (client, key, other) = (try await Self.client(test), try TestProofKey(), try TestProofKey())
        let first = try await Attempt(test, by: client, for: Self.scope).tokens()
        let form = try Self.refresh(client, first.refreshToken)
        let second = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        let retried = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        #expect(retried.tokenType == "DPoP")
        #expect(retried.refreshToken == second.refreshToken)
        #expect(try await test.store.audit(AuditQuery(kind: .refreshReuse)).isEmpty)

        let refused = await test.redeem(form, fields: isWithProof ? try test.proving(other) : [:])
        #expect(try refused.tokenError.error == "invalid_grant")
        #expect(try await test.store.audit(AuditQuery(kind: .refreshReuse)).count == 1)
        let ended = await test.redeem(
            try Self.refresh(client, second.refreshToken), fields: try test.proving(key))
        #expect(try ended.tokenError.error == "invalid_grant")
    }

    // RFC 9449 §5: the token that was sent without a proof must not stay valid beside a bound one of the same family.
    @Test func `a retry with a proof replaces the token that was issued without one`() async throws {
        let test = try await TestServer()
        let (client, key) = (try await Self.client(test), try TestProofKey())
        let first = try await Attempt(test, by: client, for: Self.scope).tokens()
        let form = try Self.refresh(client, first.refreshToken)
        let second = try await test.redeem(form).tokenResponse
        let third = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        #expect(third.tokenType == "DPoP")
        #expect(third.refreshToken != second.refreshToken)
        // This answer can be lost, too.
        let again = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        #expect(again.refreshToken == third.refreshToken)
        #expect(try await test.store.audit(AuditQuery(kind: .refreshRepeat)).count == 2)
        let bound = try Self.refresh(client, third.refreshToken)
        #expect(try await test.redeem(bound, fields: try test.proving(key)).tokenResponse.tokenType == "DPoP")

        let refused = await test.redeem(try Self.refresh(client, second.refreshToken))
        #expect(try refused.tokenError.error == "invalid_grant")
        #expect(try await test.store.audit(AuditQuery(kind: .refreshReuse)).count == 1)
        let ended = await test.redeem(bound, fields: try test.proving(key))
        #expect(try ended.tokenError.error == "invalid_grant")
    }

    // RFC 9449 §5: a confidential client authenticates at each refresh, so its token is bound to no key.
    @Test func `the refresh token of a confidential client is not bound to a key`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, type: .web)
        let secret = ClientSecret()
        _ = try await test.store.addClientSecret(
            ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: test.clock.now))
        let attempt = Attempt(test, by: client, at: "http://127.0.0.1/callback", for: Self.scope)
        let form = attempt.exchange(try await attempt.authorize().code)
            .adding("client_secret", secret.exposed)
        let first = try await test.redeem(form, fields: try test.proving(try TestProofKey())).tokenResponse
        let refresh = try Self.refresh(client, first.refreshToken).adding("client_secret", secret.exposed)
        let second = try await test.redeem(refresh, fields: try test.proving(try TestProofKey())).tokenResponse
        #expect(second.tokenType == "DPoP")
        #expect(try await test.redeem(refresh).tokenResponse.isBearer)
    }

    // RFC 9449 §10
    @Test func `dpop_jkt binds the code to the key`() async throws {
        let test = try await TestServer()
        let (key, other) = (try TestProofKey(), try TestProofKey())
        let attempt = Attempt(test).with("dpop_jkt", key.thumbprint)
        let form = attempt.exchange(try await attempt.authorize().code)
        for fields in [try test.proving(other), [:]] {
            let refused = await test.redeem(form, fields: fields)
            #expect(refused.status == .badRequest)
            #expect(try refused.tokenError.error == "invalid_grant")
        }
        #expect(try await test.redeem(form, fields: try test.proving(key)).tokenResponse.tokenType == "DPoP")
    }

    @Test(arguments: ["short", "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I=", String(repeating: "+", count: 43)])
    func `a malformed dpop_jkt is refused`(_ text: String) async throws {
        let test = try await TestServer()
        #expect(try await Attempt(test).with("dpop_jkt", text).error().code == .invalidRequest)
    }

    // RFC 9449 §5.2
    @Test func `a client that requires bound tokens gets none without a proof`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test) { $0.requiresBoundTokens = true }
        let attempt = Attempt(test, by: client, for: Self.scope)
        let form = attempt.exchange(try await attempt.authorize().code)
        let refused = await test.redeem(form)
        #expect(refused.status == .badRequest)
        #expect(try refused.tokenError.error == "invalid_dpop_proof")
        #expect(try refused.tokenError.errorDescription?.contains("this client") == true)
        // The code was not used up.
        #expect(
            try await test.redeem(form, fields: try test.proving(try TestProofKey())).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9728 §2: `dpop_bound_access_tokens_required`
    @Test func `an API that requires bound tokens gets none without a proof`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(scope: "photos.read", requiresBoundTokens: true)
        let attempt = Attempt(test).with("resource", "https://photos.example.com")
        let form = attempt.exchange(try await attempt.authorize().code)
        let refused = await test.redeem(form)
        #expect(try refused.tokenError.error == "invalid_dpop_proof")
        #expect(try refused.tokenError.errorDescription?.contains("https://photos.example.com") == true)
        #expect(
            try await test.redeem(form, fields: try test.proving(try TestProofKey())).tokenResponse.tokenType == "DPoP")
    }

    @Test func `a service gets a bound token`() async throws {
        let test = try await TestServer()
        let service = try await test.register("Job", type: .service, redirectURIs: [], scope: "photos.read")
        let secret = ClientSecret()
        _ = try await test.store.addClientSecret(
            ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: service.id, createdAt: test.clock.now))
        let form = FormParameters([
            "grant_type": "client_credentials", "client_id": service.id.rawValue, "client_secret": secret.exposed,
        ])
        let key = try TestProofKey()
        let tokens = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        #expect(tokens.tokenType == "DPoP")
        #expect(try Self.claims(tokens.accessToken)["cnf"] == .object(["jkt": .string(key.thumbprint)]))
    }
}
