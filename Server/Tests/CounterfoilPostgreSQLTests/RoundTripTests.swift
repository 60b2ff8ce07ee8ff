import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

/// The distance to the database counts once for each round trip.
@Suite("PostgreSQL: round trips of requests", .timeLimit(.minutes(2)))
struct RoundTripTests {
    private struct Site {
        let proxy: CuttingProxy
        let store: PostgreSQLStore
        let test: TestServer

        init(_ server: PostgreSQLServer, _ database: String) async throws {
            proxy = try CuttingProxy(to: server.port.number)
            // A request that follows another at once can find its connection not yet free, and open a second one.
            store = try await PostgreSQLStore.open(server.uri(database: database, port: proxy.port), connections: 1)
            test = try await TestServer(store: store)
        }

        /// Returns the number of round trips of a request that was sent before, so that its statements are prepared.
        func count(_ request: () async throws -> Void) async throws -> Int {
            let before = proxy.chunks
            try await request()
            return proxy.chunks - before
        }

        static let scope = "openid offline_access photos.read"

        /// Registers a client that gets refresh tokens.
        func offlineClient() async throws -> RegisteredClient {
            try await test.register("Offline", redirectURIs: ["http://127.0.0.1/callback"], scope: Self.scope)
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
        try await TestDatabase.withServerAlone { server, database in
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
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            let client = try await site.offlineClient()
            var tokens = try await Attempt(site.test, by: client, for: Site.scope).tokens()
            tokens = try await site.refresh(tokens, of: client)
            let count = try await site.count { _ = try await site.refresh(tokens, of: client) }
            #expect(count == 3)
            await site.close()
        }
    }

    // The use of the grant and of its consent is noted with the next generation.
    @Test func `a refresh after an hour is three round trips, too`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            let client = try await site.offlineClient()
            var tokens = try await Attempt(site.test, by: client, for: Site.scope).tokens()
            for _ in 1...2 {
                site.test.clock.advance(by: 3600)
                tokens = try await site.refresh(tokens, of: client)
            }
            site.test.clock.advance(by: 3600)
            let count = try await site.count { _ = try await site.refresh(tokens, of: client) }
            #expect(count == 3)
            let used = try server.sql(
                "SELECT grants.last_used_at, consents.last_used_at, resting_since FROM grants, consents, refresh_tokens",
                database: database)
            let now = "\(Int64((site.test.clock.now.timeIntervalSince1970 * 1_000_000).rounded()))"
            #expect(used == [[now, now, now].joined(separator: "|")])
            await site.close()
        }
    }

    // What the approval depends on, and the records with the commit.
    @Test func `an approval is two round trips`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            let world = try await World(in: site.store)
            for _ in 1...2 { try await world.approve(world.grant()) }
            let count = try await site.count { _ = try await world.approve(world.grant()) }
            #expect(count == 2)
            await site.close()
        }
    }

    @Test func `the read of a session is one round trip`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            let world = try await World(in: site.store)
            _ = try await site.store.session(world.session.digest)
            var facts: SessionFacts?
            let count = try await site.count { facts = try await site.store.session(world.session.digest) }
            #expect(count == 1)
            #expect(facts?.user == world.user)
            await site.close()
        }
    }

    @Test func `the note of a client assertion is one round trip`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            func note() async throws {
                let digest = ArtefactDigest(of: SessionToken())
                let isNew = try await site.store.noteAssertion(
                    digest, expires: World.now + 60, attempt: CommitAttempt(), now: World.now)
                #expect(isNew)
            }
            try await note()
            let count = try await site.count { try await note() }
            #expect(count == 1)
            await site.close()
        }
    }

    // The statements with the deletion of the sessions, and the commit.
    @Test func `the end of fifty sessions is two round trips, as is the end of one`() async throws {
        try await TestDatabase.withServerAlone { server, database in
            let site = try await Site(server, database)
            let store = site.store
            let former = try await World(in: store, signedIn: false)
            var client = try RegisteredClient.named("app-told")
            client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://told.example.com/logout")
            #expect(try await store.addClient(client) == .added)

            /// Ends a number of sessions, each with a grant, and returns the number of round trips.
            func endSessions(_ number: Int) async throws -> Int {
                for _ in 1...number {
                    let world = World(
                        store, user: former.user, client: client, session: .lasting(of: former.user))
                    try await world.begin(world.session)
                    try await world.approve(world.grant())
                }
                var ended = 0
                let count = try await site.count {
                    ended = try await store.signOutEverywhere(
                        former.user.id, except: nil, at: World.now, recording: [])
                }
                #expect(ended == number)
                return count
            }
            _ = try await endSessions(1)
            let (one, fifty) = (try await endSessions(1), try await endSessions(Session.limitPerUser))
            #expect(one == 2)
            #expect(fifty == 2)
            #expect(Session.limitPerUser == 50)
            #expect(try await store.logoutBacklog().count == 52)
            #expect(try await store.refreshStatistics(of: client.id).revocations == 52)
            await site.close()
        }
    }
}
