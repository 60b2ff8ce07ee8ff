import CounterfoilServer
import Testing

@testable import counterfoil_server

/// The slow checks of the page of the server, of which one runs at a time.
struct OneCheckTests {
    @Test func `the result of a check for which no request has waited is that of the next request, once`() async {
        let (check, gate) = (OneCheck(), LaterValue<Bool>())
        let (slow, other) = (ServerFinding(.fault, "slow", "Slow"), ServerFinding(.sound, "other", "Other"))
        let first = await check.findings(within: .milliseconds(1)) {
            _ = await gate.wait()
            return [slow]
        }
        #expect(first == nil)
        gate.set(true)
        // The check ends meanwhile, as a rule; or else the next request waits for it.
        try? await Task.sleep(for: .milliseconds(50))
        let second = await check.findings(within: .seconds(60)) { Array(repeating: other, count: 1) }
        let third = await check.findings(within: .seconds(60)) { Array(repeating: other, count: 1) }
        #expect(second == [slow] && third == [other])
    }
}
