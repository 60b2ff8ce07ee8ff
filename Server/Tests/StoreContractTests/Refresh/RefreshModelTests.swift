@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Rotation with acknowledgement, on every store, compared with its model.
@Suite("The contract: refresh tokens")
struct RefreshModelTests {
    /// The number of runs of a seed: fewer on PostgreSQL, where a run takes far longer than on a file.
    ///
    /// With the variable `COUNTERFOIL_ALL_RUNS`, there are 10,000 runs on each store.
    private static func runs(on kind: StoreKind) -> Int {
        switch kind {
        case .sqlite: 625
        case .postgreSQL, .twoNodes: ProcessInfo.processInfo.environment["COUNTERFOIL_ALL_RUNS"] == nil ? 25 : 625
        }
    }

    // 10,000 random runs on each store.
    @Test(arguments: StoreKind.allCases, Array(UInt64(1)...16))
    func `any sequence of events changes a token family as in the model`(
        _ kind: StoreKind, seed: UInt64
    ) async throws {
        try await kind.withStorage { storage in
            let server = try await RestartingServer(on: storage)
            let client = try await server.test.register(
                "Model", redirectURIs: ["http://127.0.0.1/callback"], scope: "offline_access photos.read")
            var random = SeededGenerator(seed: seed)
            for _ in 0..<Self.runs(on: kind) {
                server.test.clock.set(server.test.clock.now + 1)
                var line = try await TokenFamilyUnderTest(of: client, at: server)
                for _ in 0..<Int.random(in: 3...10, using: &random) {
                    let event: TokenFamilyUnderTest.Event =
                        Bool.random(using: &random)
                        ? .refresh : TokenFamilyUnderTest.Event.allCases.randomElement(using: &random) ?? .refresh
                    try await line.happen(event, &random)
                }
            }
        }
    }

    // One of fifty refreshes with the same token rotates it, and every response contains the same successor.
    @Test(arguments: StoreKind.allCases)
    func `fifty concurrent refreshes with one token have one successor`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let test = try await TestServer(store: store)
            let client = try await test.register(
                "Crowd", redirectURIs: ["http://127.0.0.1/callback"], scope: "offline_access photos.read")
            var browser = test.browser()
            let tokens = try await RefreshAttempt(test, client).tokens(with: &browser)
            let form = RefreshAttempt.form(try #require(tokens.refreshToken), of: client)
            let answers = try await outcomes(of: 50) { _ in
                let reply = await test.redeem(form)
                return reply.status == .ok ? try reply.tokenResponse.refreshToken?.exposed : reply.status.description
            }
            #expect(answers.values.map(\.self) == [50])
            let successor = try #require(answers.keys.first.flatMap(\.self).flatMap(RefreshToken.init))
            // The concurrent requests revoked nothing.
            #expect(await test.redeem(RefreshAttempt.form(successor, of: client)).status == .ok)
            #expect(try await store.refreshStatistics(of: client.id).reuses == 0)
        }
    }
}
