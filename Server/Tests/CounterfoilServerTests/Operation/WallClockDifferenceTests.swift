import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Two servers with one store, whose wall clocks differ by ten minutes.
///
/// Decision 53: what the servers have stored, and what only they make and read, is judged by the clock of the store.
struct WallClockDifferenceTests {
    private static let differences: [TimeInterval] = [600, -600]

    /// The servers; the wall clock of the second one is ahead of the first one.
    private struct Pair {
        let first: TestServer
        let second: TestServer
        var clock: FixedClock { first.clock }

        init(ahead seconds: TimeInterval, configure: (inout ServerSettings) -> Void = { _ in }) async throws {
            first = try await TestServer(configure: configure)
            second = try await TestServer(
                store: first.store, clock: first.clock.ofAnotherServer(wallAhead: seconds), configure: configure)
        }

        /// Returns whether introspection at a server says that a token is active.
        func isActive(_ token: AccessToken, at server: TestServer, for api: TestAPI) async throws -> Bool {
            let form = FormParameters(["token": token.exposed])
            let reply = await server.post(form, to: .introspection, fields: api.fields)
            return try reply.members["active"] as? Bool == true
        }
    }

    @Test(arguments: differences)
    func `a code of one server expires at the other after its lifetime`(ahead: TimeInterval) async throws {
        let pair = try await Pair(ahead: ahead)
        let attempt = Attempt(pair.first)
        let (early, late) = (try await attempt.authorize().code, try await attempt.authorize().code)
        pair.clock.advance(by: 59)
        #expect(await pair.second.redeem(attempt.exchange(early)).status == .ok)
        pair.clock.advance(by: 1)
        #expect(try await pair.second.redeem(attempt.exchange(late)).tokenError.error == "invalid_grant")
    }

    @Test(arguments: differences)
    func `a session of one server lasts at the other for its idle lifetime`(ahead: TimeInterval) async throws {
        let pair = try await Pair(ahead: ahead) { $0.sessionIdleLifetime = 1000 }
        let client = try await pair.first.register(
            "Own", type: .web, redirectURIs: ["https://own.example/cb"], isFirstParty: true)
        let attempt = Attempt(pair.first, by: client, at: "https://own.example/cb")
        var browser = pair.first.browser()
        _ = try await attempt.authorize(with: &browser)
        var other = pair.second.browser()
        other.cookies = browser.cookies
        let silent = attempt.with("prompt", "none").url
        pair.clock.advance(by: 999)
        #expect(try await other.open(silent).code.exposed.isEmpty == false)
        pair.clock.advance(by: 1001)
        #expect(try await other.open(silent).redirectedError.code == .loginRequired)
    }

    @Test(arguments: differences)
    func `a refresh at one server can be retried at the other within the grace period`(
        ahead: TimeInterval
    ) async throws {
        let pair = try await Pair(ahead: ahead)
        let stayed = try await RefreshTokenGrantTests.Stayed(pair.first, life: RefreshTokenLife(gracePeriod: 30))
        let successor = try await stayed.refresh().tokenResponse.refreshToken
        pair.clock.advance(by: 30)
        let retried = try await pair.second.redeem(try stayed.form()).tokenResponse
        #expect(retried.refreshToken?.exposed == successor?.exposed)
        pair.clock.advance(by: 1)
        #expect(try await pair.second.redeem(try stayed.form()).tokenError.error == "invalid_grant")
        #expect(try await stayed.refresh(successor).tokenError.error == "invalid_grant")
    }

    // One server makes the nonces that the other one judges.
    @Test(arguments: differences)
    func `a nonce of one server is accepted by the other for its lifetime`(ahead: TimeInterval) async throws {
        let pair = try await Pair(ahead: ahead) { $0.requiresProofNonce = true }
        let key = try TestProofKey()
        func redeem(at server: TestServer, nonce: String?) async throws -> Reply {
            let attempt = Attempt(pair.first)
            let form = attempt.exchange(try await attempt.authorize().code)
            return await server.redeem(form, fields: try server.proving(key, nonce: nonce))
        }
        let asked = try await redeem(at: pair.first, nonce: nil)
        #expect(try asked.tokenError.error == "use_dpop_nonce")
        let nonce = try #require(asked.proofNonce)
        #expect(try await redeem(at: pair.second, nonce: nonce).tokenResponse.tokenType == "DPoP")
        pair.clock.advance(by: 331)
        #expect(try await redeem(at: pair.second, nonce: nonce).tokenError.error == "use_dpop_nonce")
    }

    // A client takes the time of a proof from the wall clock of the world.
    @Test(arguments: differences)
    func `the time of a proof is compared with the wall clock of the server`(ahead: TimeInterval) async throws {
        let pair = try await Pair(ahead: ahead)
        let attempt = Attempt(pair.first)
        let form = attempt.exchange(try await attempt.authorize().code)
        let proof = try pair.first.proving(try TestProofKey())
        #expect(try await pair.second.redeem(form, fields: proof).tokenError.error == "invalid_dpop_proof")
        #expect(try await pair.first.redeem(form, fields: proof).tokenResponse.tokenType == "DPoP")
    }

    // APIs judge the times in a token by their wall clocks, and introspection agrees with those APIs whose clock is
    // that of the server.
    @Test(arguments: differences)
    func `an access token expires by the wall clock of the server that is asked`(ahead: TimeInterval) async throws {
        let pair = try await Pair(ahead: ahead)
        let api = try await pair.first.addAPI("https://id.example.com")
        let token = try await Attempt(pair.first, for: "openid photos.read").tokens().accessToken
        func isAccepted(at server: TestServer) async throws -> Bool {
            let fields: HTTPFields = [.authorization: "Bearer \(token.exposed)"]
            let isActive = try await pair.isActive(token, at: server, for: api)
            #expect(await server.send(.get, to: .userInfo, fields: fields).status == (isActive ? .ok : .unauthorized))
            return isActive
        }
        #expect(try await isAccepted(at: pair.first))
        #expect(try await isAccepted(at: pair.second))
        pair.clock.advance(by: 3600 - max(0, ahead) - 1)
        #expect(try await isAccepted(at: pair.second))
        pair.clock.advance(by: 2)
        #expect(try await isAccepted(at: pair.second) == (ahead < 0))
        #expect(try await isAccepted(at: pair.first) == (ahead > 0))
    }
}
