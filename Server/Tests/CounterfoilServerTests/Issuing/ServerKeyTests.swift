import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A server key that is replaced while servers run: first every server accepts the new key, then every server uses it.
struct ServerKeyTests {
    private static let former: UInt8 = 7
    private static let current: UInt8 = 8

    private static func key(_ bytes: UInt8...) throws -> ServerKey {
        try #require(ServerKey(bytes: bytes.flatMap { [UInt8](repeating: $0, count: 32) }))
    }

    @Test(arguments: [(0, false), (31, false), (32, true), (33, false), (64, true), (256, true), (288, false)])
    func `a server key has 32 bytes for each of one to eight keys`(count: Int, isKey: Bool) {
        #expect((ServerKey(bytes: [UInt8](repeating: 7, count: count)) != nil) == isKey)
    }

    @Test func `refresh tokens of the former key stay valid, and those of the new key are known beforehand`()
        async throws
    {
        let store = TestStore()
        let before = try await TestServer(store: store, serverKey: try Self.key(Self.former))
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = .always
        let client = try await before.register("Patient", under: policy)
        let token = try #require(try await Attempt(before, by: client).tokens().refreshToken)
        func refresh(_ token: RefreshToken, at test: TestServer) async throws -> RefreshToken? {
            let reply = await test.redeem(
                FormParameters([
                    "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
                ]))
            return reply.status == .ok ? try reply.tokenResponse.refreshToken : nil
        }
        let prepared = try await TestServer(store: store, serverKey: try Self.key(Self.former, Self.current))
        let changed = try await TestServer(store: store, serverKey: try Self.key(Self.current, Self.former))
        let second = try #require(try await refresh(token, at: changed))
        let third = try #require(try await refresh(second, at: prepared))
        let fourth = try #require(try await refresh(third, at: changed))
        #expect(try await refresh(fourth, at: before) == nil)
        #expect(try await refresh(fourth, at: prepared) != nil)
    }

    // A token that is not rotated is made again with the new key, or its user would be signed out with the former key.
    @Test func `a token that is not rotated moves to the new key`() async throws {
        let store = TestStore()
        let before = try await TestServer(store: store, serverKey: try Self.key(Self.former))
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = .always
        let client = try await before.register("Bound", under: policy)
        let key = try TestProofKey()
        let attempt = Attempt(before, by: client)
        let form = attempt.exchange(try await attempt.authorize().code)
        let issued = try await before.redeem(form, fields: before.proving(key)).tokenResponse
        let token = try #require(issued.refreshToken)
        func refresh(_ token: RefreshToken, at test: TestServer) async throws -> Reply {
            let form = FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
            ])
            return await test.redeem(form, fields: try test.proving(key))
        }
        #expect(try await refresh(token, at: before).tokenResponse.refreshToken == nil)
        let changed = try await TestServer(store: store, serverKey: try Self.key(Self.current, Self.former))
        let moved = try #require(try await refresh(token, at: changed).tokenResponse.refreshToken)
        #expect(moved != token)
        #expect(try await refresh(moved, at: changed).tokenResponse.refreshToken == nil)
        #expect(try await refresh(token, at: changed).status == .ok)
    }

    @Test func `secrets of second factors move to the new key`() async throws {
        let store = TestStore()
        let before = try await TestServer(store: store, serverKey: try Self.key(Self.former))
        var browser = before.browser()
        try await browser.signInToConsole(username: "alice")
        let app = try await before.setUpSecondFactor(in: &browser).app
        let keys = try Self.key(Self.current, Self.former)
        #expect(try await store.secondFactorKeys() == [keys.fingerprints[1]: 1])
        let changed = try await TestServer(store: store, serverKey: keys)
        _ = try await changed.server.maintenance.runRound()
        #expect(try await store.secondFactorKeys() == [keys.fingerprints[0]: 1])
        guard case .active(let factor, _) = try await store.secondFactor(of: before.alice.id) else {
            Issue.record("the second factor is missing")
            return
        }
        let secret = try Self.key(Self.current).open(secondFactor: factor.sealedSecret, of: before.alice.id)
        #expect(secret == app.secret.bytes)
    }

    private static func subject(in store: TestStore, with key: ServerKey) async throws -> String {
        let test = try await TestServer(store: store, serverKey: key)
        var policy = ClientPolicy.standard(for: .native)
        policy.subjectType = .pairwise
        let client = try await test.register("Pairwise", under: policy)
        let token = try #require(try await Attempt(test, by: client, for: "openid").tokens().idToken)
        return try #require(try IssuedTokens.parts(of: token.exposed).claims["sub"] as? String)
    }

    // OpenID Connect Core §8.1: `sub` is never reassigned.
    @Test func `a pairwise subject stays the same when the server key changes, and after the former one is gone`()
        async throws
    {
        let store = TestStore()
        let first = try await Self.subject(in: store, with: Self.key(Self.former))
        #expect(try await Self.subject(in: store, with: Self.key(Self.current, Self.former)) == first)
        // The former key can go when no signing key needs it any more.
        for record in try await store.signingKeys() {
            let key = try await KeyRotation(store, serverKey: try Self.key(Self.current, Self.former))
                .rotate(record.algorithm, .atOnce, now: FixedClock().now)
            #expect(key != nil)
            _ = try await store.removeSigningKey(record.id)
        }
        #expect(try await Self.subject(in: store, with: Self.key(Self.current)) == first)
    }

    @Test func `a page that the former key made can be answered`() async throws {
        let store = TestStore()
        let before = try await TestServer(store: store, serverKey: try Self.key(Self.former))
        let changed = try await TestServer(store: store, serverKey: try Self.key(Self.current, Self.former))
        let attempt = Attempt(before)
        var browser = before.browser()
        let page = try await browser.open(attempt.url)
        var same = changed.browser()
        same.cookies = browser.cookies
        let reply = try await same.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.consentPage.userDisplayName.description == "Alice")
    }

    @Test func `the keys of the identifiers cannot be read with another server key`() async throws {
        let store = TestStore()
        _ = try await KeyRing.open(store, serverKey: try Self.key(Self.former), clock: { FixedClock().now })
        let sealed = try await store.identifierKeys(orStoring: [])
        let other = TestStore()
        #expect(try await other.identifierKeys(orStoring: sealed) == sealed)
        await #expect(throws: KeyRing.Refusal.self) {
            try await KeyRing.open(other, serverKey: try Self.key(Self.current), clock: { FixedClock().now })
        }
    }
}
