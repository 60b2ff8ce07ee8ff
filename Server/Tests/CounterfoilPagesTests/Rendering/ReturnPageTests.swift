import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// The page that leads back to the client.
struct ReturnPageTests {
    @Test func `the page with a code says for how long its button works`() async throws {
        let test = try await TestServer { $0.codeLifetime = 45 }
        let allowed = try await Attempt(test).authorize().html()
        #expect(allowed.contains("If nothing happens, press the button. It works for <bdi>45 seconds</bdi>."))
        let denied = try await Attempt(test).authorize(decision: .deny).html()
        #expect(denied.contains("If nothing happens, press the button. You can close this tab when "))
    }
}
