import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The grace period of a refresh token across outages of the store.
struct RefreshOutageTests {
    /// A single-page app, whose grace period is 10 seconds, and the lost response to a refresh.
    private struct Lost {
        let stayed: RefreshTokenGrantTests.Stayed
        let store: TestStore
        let successor: RefreshToken?

        init() async throws {
            store = TestStore()
            stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer(store: store), type: .singlePage)
            try await stayed.test.server.heartbeat.beat()
            successor = try await stayed.refresh().tokenResponse.refreshToken
        }

        var test: TestServer { stayed.test }

        /// Advances the clock while a server is available.
        func serve(for seconds: Int, by server: AuthorizationServer? = nil) async throws {
            for _ in 0..<seconds {
                test.clock.advance(by: 1)
                try await (server ?? test.server).heartbeat.beat()
            }
        }

        /// Advances the clock while the store refuses every commit and every read.
        func fail(for seconds: Int) async throws {
            store.failEverything()
            for _ in 0..<seconds {
                test.clock.advance(by: 1)
                await #expect(throws: StoreFault.self) { try await test.server.heartbeat.beat() }
            }
            #expect(try await stayed.refresh().status == .serviceUnavailable)
            store.recover()
        }

        /// Expects that a retry gets the same successor, or that the grant is revoked.
        func expectRetry(isAnswered: Bool, by other: TestServer? = nil) async throws {
            let reply = await (other ?? test).redeem(try stayed.form())
            if isAnswered {
                #expect(try reply.tokenResponse.refreshToken == successor)
            } else {
                #expect(try reply.tokenError.error == "invalid_grant")
            }
            #expect(try await stayed.refresh(successor).status == (isAnswered ? .ok : .badRequest))
        }
    }

    @Test(arguments: [true, false])
    func `a response that was lost before an outage of the store is repeated after it`(
        isRecordedFirst: Bool
    ) async throws {
        let lost = try await Lost()
        try await lost.serve(for: 1)
        try await lost.fail(for: 40)
        if isRecordedFirst { try await lost.serve(for: 8) }
        try await lost.expectRetry(isAnswered: true)
    }

    @Test func `two outages do not count toward the grace period`() async throws {
        let lost = try await Lost()
        for _ in 0..<2 {
            try await lost.serve(for: 2)
            try await lost.fail(for: 20)
        }
        try await lost.serve(for: 4)
        try await lost.expectRetry(isAnswered: true)
    }

    @Test func `after an outage the rest of the grace period counts`() async throws {
        let lost = try await Lost()
        try await lost.serve(for: 5)
        try await lost.fail(for: 40)
        try await lost.serve(for: 7)
        try await lost.expectRetry(isAnswered: false)
    }

    @Test func `an outage does not reopen an expired grace period`() async throws {
        let lost = try await Lost()
        try await lost.serve(for: 12)
        try await lost.fail(for: 40)
        try await lost.expectRetry(isAnswered: false)
    }

    // An outage without end would also end no grace period.
    @Test func `a store without space is no outage while it takes heartbeats`() async throws {
        let lost = try await Lost()
        lost.store.fail(.recordService)
        await #expect(throws: StoreFault.self) { try await lost.test.server.heartbeat.beat() }
        lost.store.recover()
        lost.store.fail(.takeUpSpace)
        for _ in 0..<40 {
            lost.test.clock.advance(by: 1)
            await #expect(throws: StoreFault.self) { try await lost.test.server.heartbeat.beat() }
        }
        try await lost.expectRetry(isAnswered: false)
    }

    // An outage would be recorded after five seconds.
    @Test(.timeLimit(.minutes(1))) func `heartbeats continue while a check of the space hangs`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        store.before(.takeUpSpace) { for await _ in gate {} }
        let heartbeat = Task { await test.server.heartbeat.run() }
        try await Waiting.until("the second heartbeat") { store.calls(of: .recordService) > 1 ? () : nil }
        #expect(store.calls(of: .takeUpSpace) == 1)
        opening.finish()
        heartbeat.cancel()
        await heartbeat.value
    }

    @Test func `a restart of the only process is an outage`() async throws {
        let lost = try await Lost()
        try await lost.serve(for: 1)
        lost.test.clock.advance(by: 30)
        let again = try await TestServer(store: lost.store, clock: lost.test.clock)
        try await lost.serve(for: 2, by: again.server)
        try await lost.expectRetry(isAnswered: true, by: again)
    }

    @Test func `a process that starts beside a running one reopens no grace period`() async throws {
        let lost = try await Lost()
        try await lost.serve(for: 11)
        let second = try await TestServer(store: lost.store, clock: lost.test.clock)
        try await second.server.heartbeat.beat()
        try await lost.expectRetry(isAnswered: false, by: second)
    }
}
