import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

// oidcc-server-rotate-keys (OpenID Connect Core §10.1.1).
@Suite("Key rotation")
struct KeyRotationTests {
    private let test: TestServer

    init() async throws { test = try await TestServer() }

    private func keySet(of test: TestServer) async throws -> JSONWebKeySet {
        try JSONWebKeySet(parsing: try await test.send(.get, to: .keySet).json)
    }

    private func kid(_ token: AccessToken) throws -> KeyIdentifier {
        let head = try #require(token.exposed.split(separator: ".").first)
        let json = try JSONSerialization.jsonObject(with: Data(try #require(Base64URL.decode(head)))) as? [String: Any]
        return KeyIdentifier(try #require(json?["kid"] as? String))
    }

    /// Rotates as the command line does, in another process.
    private func rotate(_ algorithm: SigningAlgorithm = .es256, _ beginning: KeyRotation.Beginning = .afterNotice)
        async throws
        -> SealedSigningKey
    {
        let serverKey = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
        let rotation = KeyRotation(test.store, serverKey: serverKey)
        return try #require(try await rotation.rotate(algorithm, beginning, now: test.clock.now))
    }

    // A new key is published before it signs, and the previous one stays published for its signatures.
    @Test func `no token is refused during a key rotation`() async throws {
        let before = try await Attempt(test, for: "openid").tokens()
        let former = try kid(before.accessToken)
        let new = try await rotate()
        #expect(new.id != former)

        // The key set contains it immediately; it does not sign yet.
        test.clock.advance(by: 61)
        #expect(try await keySet(of: test).keys.contains { $0.id == new.id })
        #expect(try kid(try await Attempt(test, for: "openid").tokens().accessToken) == former)

        test.clock.advance(by: SigningKeyLifecycle.notice)
        let after = try await Attempt(test, for: "openid").tokens()
        #expect(try kid(after.accessToken) == new.id)
        #expect(try await keySet(of: test).keys.map(\.id).contains(former))

        // The last token of the previous key lives for a day at most; then the key is deleted.
        test.clock.advance(by: 86_400)
        try await test.server.maintenance.maintainKeys()
        #expect(try await keySet(of: test).keys.map(\.id).contains(former))
        test.clock.advance(by: SigningKeyLifecycle.retention)
        try await test.server.maintenance.maintainKeys()
        #expect(try await !keySet(of: test).keys.map(\.id).contains(former))
        #expect(try await test.store.signingKeys().allSatisfy { $0.id != former })
    }

    @Test(arguments: KeyRing.algorithmsFromStart)
    func `an old key gets one successor of the same algorithm`(algorithm: SigningAlgorithm) async throws {
        let maintenance = test.server.maintenance
        try await maintenance.maintainKeys()
        #expect(try await test.store.signingKeys().count == KeyRing.algorithmsFromStart.count)
        test.clock.advance(by: TimeInterval(ServerSettings.standardKeyLifetime) * 86_400)
        try await maintenance.maintainKeys()
        try await maintenance.maintainKeys()
        let keys = try await test.store.signingKeys().filter { $0.algorithm == algorithm }
        #expect(keys.count == 2)
        #expect(keys.map { $0.state(at: test.clock.now).state } == [.signing, .published])
        let recorded = try await test.store.audit(AuditQuery(kind: .signingKey))
        #expect(recorded.count == KeyRing.algorithmsFromStart.count)
    }

    // Two servers with one store: a key that one rotated, the other publishes and uses.
    @Test func `two servers on one store sign with the same key`() async throws {
        let other = try await TestServer(store: test.store, clock: test.clock)
        let new = try await rotate(.es256, .atOnce)
        let first = try kid(try await Attempt(test, for: "photos.read").tokens().accessToken)
        let second = try kid(try await Attempt(other, for: "photos.read").tokens().accessToken)
        #expect(first == new.id)
        #expect(second == new.id)
    }

    @Test func `a rotation at once ends every other key of the algorithm`() async throws {
        let planned = try await rotate()
        test.clock.advance(by: 60)
        let now = test.clock.now
        let new = try await rotate(.es256, .atOnce)
        let keys = try await test.store.signingKeys().filter { $0.algorithm == .es256 }
        #expect(keys.filter { $0.state(at: now).state == .signing }.map(\.id) == [new.id])
        #expect(keys.first { $0.id == planned.id }?.replacedAt == now)
        #expect(keys.filter { $0.id != new.id }.allSatisfy { $0.replacedAt == now })
        #expect(try kid(try await Attempt(test, for: "photos.read").tokens().accessToken) == new.id)
    }

    @Test func `a request for the key set reads the store`() async throws {
        _ = try await keySet(of: test)
        let new = try await rotate(.es256, .atOnce)
        #expect(try await keySet(of: test).keys.contains { $0.id == new.id })
    }

    // A restarted server signs with the same key as before.
    @Test func `a restart in the middle of a rotation changes nothing`() async throws {
        let former = try kid(try await Attempt(test, for: "photos.read").tokens().accessToken)
        _ = try await rotate()
        let restarted = try await TestServer(store: test.store, clock: test.clock)
        #expect(try kid(try await Attempt(restarted, for: "photos.read").tokens().accessToken) == former)
        #expect(try await keySet(of: restarted).keys.count == KeyRing.algorithmsFromStart.count + 1)
    }

    @Test func `while the store is unavailable the cached keys are used`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        for operation in [StoreOperation.signingKeys, .registryRevision] {
            store.fail(operation)
            test.clock.advance(by: 60)
            #expect(try await keySet(of: test).keys.count == KeyRing.algorithmsFromStart.count)
            #expect(test.log.lines.contains { $0.contains("failed to reload the signing keys") })
        }
    }

    // The command `key rotate --withdraw` is another process.
    @Test func `a withdrawn key is used by no later request of any process`() async throws {
        let other = try await TestServer(store: test.store, clock: test.clock)
        let tokens = try await Attempt(test, for: "openid").tokens()
        let former = try kid(tokens.accessToken)
        for server in [test, other] {
            #expect(try await keySet(of: server).keys.contains { $0.id == former })
            #expect(await userInfo(tokens.accessToken, at: server) == .ok)
        }
        let new = try await rotate(.es256, .atOnce)
        #expect(try await test.store.removeSigningKey(former))
        for server in [test, other] {
            #expect(await userInfo(tokens.accessToken, at: server) == .unauthorized)
            #expect(try kid(try await Attempt(server, for: "openid").tokens().accessToken) == new.id)
            #expect(try await !keySet(of: server).keys.contains { $0.id == former })
        }
    }

    private func userInfo(_ token: AccessToken, at test: TestServer) async -> HTTPResponse.Status {
        await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"]).status
    }

    // A change of the registry that cannot be used is reported once, and the server continues with its own keys.
    @Test func `a key of another server key is reported once for each change`() async throws {
        let former = try #require(try await test.store.signingKeys().first { $0.algorithm == .es256 })
        let foreign = SealedSigningKey(
            id: KeyIdentifier("foreign"), algorithm: .es256, sealed: [UInt8](repeating: 1, count: 60),
            createdAt: test.clock.now)
        #expect(try await test.store.addSigningKey(foreign, replacing: former.id) == .added)
        for _ in 1...3 {
            test.clock.advance(by: 60)
            #expect(try await keySet(of: test).keys.count == KeyRing.algorithmsFromStart.count)
        }
        #expect(test.log.lines.count { $0.contains("failed to decrypt a signing key") } == 1)
    }

    // A key sealed with another server key cannot be opened by this server, which continues with its own.
    @Test func `no successor is created with another server key`() async throws {
        let other = try #require(ServerKey(bytes: [UInt8](repeating: 8, count: 32)))
        await #expect(throws: KeyRing.Refusal.self) {
            _ = try await KeyRotation(test.store, serverKey: other).rotate(.es256, now: test.clock.now)
        }
        await #expect(throws: KeyRing.Refusal.self) { _ = try await KeyRing.open(test.store, serverKey: other) }
    }

    // A client may have its ID tokens signed with Ed25519.
    @Test func `an ID token is signed with EdDSA if the client requests it`() async throws {
        let client = try await test.register(
            "Edward", redirectURIs: ["http://127.0.0.1/callback"], idTokenAlgorithm: .edDSA)
        let token = try #require(try await Attempt(test, by: client, for: "openid").tokens().idToken)
        let head = try #require(token.exposed.split(separator: ".").first)
        let json = try JSONSerialization.jsonObject(with: Data(try #require(Base64URL.decode(head)))) as? [String: Any]
        #expect(json?["alg"] as? String == "EdDSA")
        let kid = try #require(json?["kid"] as? String)
        #expect(try await keySet(of: test).keys.contains { $0.id.rawValue == kid })
    }

    // Anyone can register such a client where the policy allows it, and must not change the key set of the server.
    @Test func `a token request without an ID token of a user creates no key for Ed25519`() async throws {
        let client = try await test.register(
            "Edward", redirectURIs: ["http://127.0.0.1/callback"], idTokenAlgorithm: .ed25519)
        let attempt = Attempt(test, by: client, for: "openid")
        let invented = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": "invented",
        ])
        for form in [attempt.exchange(AuthorizationCode()), invented] {
            #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        }
        #expect(try await Attempt(test, by: client, for: "photos.read").tokens().idToken == nil)
        let service = try await test.addService(scope: "photos.read")
        try await test.change(service.client) { $0.policy.idTokenAlgorithm = .ed25519 }
        #expect(try await service.token().idToken == nil)
        #expect(try await test.store.signingKeys().allSatisfy { $0.algorithm != .ed25519 })

        #expect(try await attempt.tokens().idToken != nil)
        #expect(try await test.store.signingKeys().contains { $0.algorithm == .ed25519 })
    }

    // RFC 9864 §2.2: jose and oauth4webapi verify a token only with a key whose `alg` is that of the token.
    @Test func `the key for Ed25519 is created for the first ID token that needs it`() async throws {
        let client = try await test.register(
            "Edward", redirectURIs: ["http://127.0.0.1/callback"], idTokenAlgorithm: .ed25519)
        let other = try await TestServer(store: test.store, clock: test.clock)
        _ = try await Attempt(test, for: "openid").tokens()
        #expect(try await keySet(of: test).keys.map(\.algorithm) == KeyRing.algorithmsFromStart)
        for server in [test, other, test] {
            let token = try #require(try await Attempt(server, by: client, for: "openid").tokens().idToken)
            let head = try #require(token.exposed.split(separator: ".").first)
            let header = try JSONSerialization.jsonObject(with: Data(try #require(Base64URL.decode(head))))
            let json = try #require(header as? [String: Any])
            #expect(json["alg"] as? String == "Ed25519")
            // A key set is cached for a second.
            test.clock.advance(by: 2)
            let keys = try await keySet(of: server).keys.filter { $0.algorithm == .ed25519 }
            #expect(keys.map(\.id.rawValue) == [json["kid"] as? String])
        }
        let created = try await test.store.audit(AuditQuery(kind: .signingKey)).map(\.event.detail)
        #expect(created.count { $0?.hasPrefix("Ed25519: created the first key") == true } == 1)
        // It is rotated like the others.
        test.clock.advance(by: TimeInterval(ServerSettings.standardKeyLifetime) * 86_400)
        try await test.server.maintenance.maintainKeys()
        #expect(try await test.store.signingKeys().count { $0.algorithm == .ed25519 } == 2)
    }
}
