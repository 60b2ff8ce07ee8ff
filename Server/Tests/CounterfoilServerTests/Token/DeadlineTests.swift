import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Token requests that are judged after their deadline, as when the process was paused after it had read them.
///
/// Meanwhile their clients may have sent them to another server, and used the tokens.
@Suite(.timeLimit(.minutes(2)))
struct DeadlineTests {
    private let store = TestStore()

    @Test func `a replaced refresh token revokes nothing after the deadline of its request`() async throws {
        let test = try await TestServer(store: store)
        let stayed = try await RefreshTokenGrantTests.Stayed(test)
        let next = try await stayed.refresh().tokenResponse.refreshToken
        let latest = try await stayed.refresh(next).tokenResponse.refreshToken
        store.delay(.refreshFacts)
        let late = try await stayed.refresh()
        #expect(late.status == .serviceUnavailable)
        #expect(late.fields[.retryAfter] == "5")
        // The store answers, so it is not checked for a fault.
        #expect(test.server.metrics.snapshot.events[.storeError] == nil)
        let newest = try await stayed.refresh(latest).tokenResponse.refreshToken
        // In time, it is the token of a thief.
        #expect(try await stayed.refresh().tokenError.error == "invalid_grant")
        #expect(try await stayed.refresh(newest).tokenError.error == "invalid_grant")
    }

    @Test func `a second redemption revokes nothing after the deadline of its request`() async throws {
        let test = try await TestServer(store: store)
        let api = try await test.addAPI()
        let attempt = Attempt(test, for: "openid photos.read").with("resource", "https://photos.example.com")
        let form = attempt.exchange(try await attempt.authorize().code)
        let token = try await test.redeem(form).tokenResponse.accessToken.exposed
        store.delay(.code)
        #expect(await test.redeem(form).status == .serviceUnavailable)
        #expect(try await api.sees(token))
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await !api.sees(token))
    }
}
