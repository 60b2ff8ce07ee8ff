import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

/// The distance to the database counts once for each round trip.
@Suite("PostgreSQL: round trips of requests", .timeLimit(.minutes(2)))
struct RoundTripTests {
    private struct Site {
        let proxy: CuttingProxy
        let store: PostgreSQLStore
        let test: TestServer

        init(_ server: PostgreSQLServer, _ database: String) async throws {
            proxy = try CuttingProxy(to: server.port.number)
            store = try await PostgreSQLStore.open(server.uri(database: database, port: proxy.port))
            test = try await TestServer(store: store)
        }

        /// Returns the number of round trips of a request that was sent before, so that its statements are prepared.
        func count(_ request: () async throws -> Void) async throws -> Int {
            let before = proxy.chunks
            try await request()
            return proxy.chunks - before
        }

        func refresh(_ tokens: TokenResponse, of client: RegisteredClient) async throws -> TokenResponse {
            let form = FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue,
                "refresh_token": try #require(tokens.refreshToken).exposed,
            ])
            return try await test.redeem(form).tokenResponse
        }

        func close() async {
            await store.close()
            proxy.close()
        }
    }

    // The revision of the registry, the code with its grant, and the redemption.
    @Test func `a redemption is three round trips`() async throws {
        try await TestDatabase.withServer { server, database in
            let site = try await Site(server, database)
            _ = try await Attempt(site.test).tokens()
            let attempt = Attempt(site.test)
            let code = try await attempt.authorize().code
            let count = try await site.count {
                _ = try await site.test.redeem(attempt.exchange(code)).tokenResponse
            }
            #expect(count == 3)
            await site.close()
        }
    }

    // The revision of the registry, the token family with its grant, and the next generation.
    @Test func `a refresh is three round trips`() async throws {
        try await TestDatabase.withServer { server, database in
            let site = try await Site(server, database)
            let client = try await site.test.register(
                "Offline", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid offline_access photos.read")
            var tokens = try await Attempt(
                site.test, by: client, for: "openid offline_access photos.read"
            ).tokens()
            tokens = try await site.refresh(tokens, of: client)
            let count = try await site.count { _ = try await site.refresh(tokens, of: client) }
            #expect(count == 3)
            await site.close()
        }
    }
}
