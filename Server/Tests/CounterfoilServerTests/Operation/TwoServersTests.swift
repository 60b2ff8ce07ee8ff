import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Two servers with one store, behind a load balancer that sends each request to either of them.
struct TwoServersTests {
    private let store = TestStore()
    private let clock = FixedClock()
    private let first: TestServer
    private let second: TestServer

    init() async throws {
        first = try await TestServer(store: store, clock: clock)
        second = try await TestServer(store: store, clock: clock)
    }

    private func signIn(at server: TestServer, name: String = "alice", password: String) async throws -> Reply {
        var browser = server.browser()
        return try await browser.signIn(
            on: try await browser.open(Attempt(server).url), username: name, password: password)
    }

    @Test func `wrong passwords are counted for both servers together`() async throws {
        for number in 0..<5 {
            let server = number.isMultiple(of: 2) ? first : second
            #expect(try await signIn(at: server, password: "wrong").status == .badRequest)
        }
        for server in [first, second] {
            #expect(try await signIn(at: server, password: TestServer.password).status == .tooManyRequests)
        }
        clock.advance(by: 1)
        let reply = try await signIn(at: second, password: TestServer.password)
        #expect(try reply.consentPage.userDisplayName.description == "Alice")
        // The success of one server clears the failures for the other.
        for _ in 0..<5 { #expect(try await signIn(at: first, password: "wrong").status == .badRequest) }
    }

    @Test func `a server that cannot count in the store counts by itself`() async throws {
        store.fail(.admitAttempt, .settleAttempt)
        for _ in 0..<5 { #expect(try await signIn(at: first, password: "wrong").status == .badRequest) }
        #expect(try await signIn(at: first, password: "wrong").status == .tooManyRequests)
        #expect(try await signIn(at: second, password: "wrong").status == .badRequest)
        store.recover()
        #expect(try await signIn(at: first, password: "wrong").status == .badRequest)
    }

    @Test func `the link for the first administrator works at each server, until one has made the account`()
        async throws
    {
        let link = try #require(try await first.server.openSetup(keepingFor: 3600))
        clock.advance(by: 3599)
        #expect(try await second.server.openSetup(keepingFor: 3600) == link)
        var browser = second.browser()
        #expect(try await browser.open(link).status == .ok)
        clock.advance(by: 1)
        let later = try #require(try await second.server.openSetup(keepingFor: 3600))
        #expect(later != link)
        #expect(try await browser.open(link).status == .notFound)
        let form = FormParameters([
            "token": String(later.split(separator: "=").last ?? ""), "username": "root", "email": "",
            "password": "a good long password",
        ])
        #expect(try await browser.submit(form, to: "/setup").status == .ok)
        var other = first.browser()
        #expect(try await other.open(later).status == .notFound)
        #expect(try await first.server.openSetup(keepingFor: 3600) == nil)
    }

    // A reader of the database cannot make the link.
    @Test func `the link of a server is worth nothing at one with another server key`() async throws {
        // It makes links with the key 8, which the other servers do not have.
        let key = try #require(ServerKey(bytes: [8, 7].flatMap { [UInt8](repeating: $0, count: 32) }))
        let stranger = try await TestServer(store: store, clock: clock, serverKey: key)
        let link = try #require(try await stranger.server.openSetup())
        var own = stranger.browser()
        #expect(try await own.open(link).status == .ok)
        var browser = first.browser()
        #expect(try await browser.open(link).status == .notFound)
        let nonce = try #require(try await store.setupNonce())
        #expect(!link.contains(Base64URL.encode(nonce.bytes)))
    }

    // A reader of the database cannot test a name without the server key.
    @Test func `failures under one server key are none under another`() async throws {
        for _ in 0..<5 { #expect(try await signIn(at: first, password: "wrong").status == .badRequest) }
        #expect(try await signIn(at: second, password: "wrong").status == .tooManyRequests)
        let key = try #require(ServerKey(bytes: [7, 8].flatMap { [UInt8](repeating: $0, count: 32) }))
        let other = try #require(ServerKey(bytes: [8, 7].flatMap { [UInt8](repeating: $0, count: 32) }))
        let same = try await TestServer(store: store, clock: clock, serverKey: key)
        #expect(try await signIn(at: same, password: "wrong").status == .tooManyRequests)
        let stranger = try await TestServer(store: store, clock: clock, serverKey: other)
        #expect(try await signIn(at: stranger, password: "wrong").status == .badRequest)
    }

    @Test func `a proof that one server has accepted is refused by the other`() async throws {
        let proof = try TestProofKey().proof(first.issuer.endpoint("/oauth2/token"), at: clock.wall)
        let name = try #require(HTTPField.Name("DPoP"))
        let attempts = (Attempt(first), Attempt(second))
        let accepted = attempts.0.exchange(try await attempts.0.authorize().code)
        let replayed = attempts.1.exchange(try await attempts.1.authorize().code)
        #expect(try await first.redeem(accepted, fields: [name: proof]).tokenResponse.tokenType == "DPoP")
        let reply = await second.redeem(replayed, fields: [name: proof])
        #expect(try reply.tokenError.error == "invalid_dpop_proof")
    }

    // A request is refused if it is unknown whether its proof was used before.
    @Test func `without the store a proof is not accepted`() async throws {
        store.fail(.noteProof)
        let attempt = Attempt(first)
        let form = attempt.exchange(try await attempt.authorize().code)
        let fields = try first.proving(try TestProofKey())
        let reply = await first.redeem(form, fields: fields)
        #expect(reply.status == .serviceUnavailable)
        store.recover()
        #expect(try await first.redeem(form, fields: fields).tokenResponse.tokenType == "DPoP")
    }

    @Test func `one server deletes what has expired, and the other one after its lease`() async throws {
        _ = try await Attempt(first).tokens()
        clock.advance(by: 3 * 86_400)
        _ = try await second.server.maintenance.runRound()
        #expect(second.server.metrics.snapshot.events[.rowRemoved] ?? 0 > 0)
        _ = try await Attempt(first).tokens()
        clock.advance(by: 100)
        _ = try await second.server.maintenance.runRound()
        clock.advance(by: 149)
        _ = try await first.server.maintenance.runRound()
        #expect(first.server.metrics.snapshot.events[.rowRemoved] ?? 0 == 0)
        clock.advance(by: 1 + 3 * 86_400)
        _ = try await first.server.maintenance.runRound()
        #expect(first.server.metrics.snapshot.events[.rowRemoved] ?? 0 > 0)
    }
}
