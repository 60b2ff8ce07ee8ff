import Testing

@testable import CounterfoilClient

/// Tests of the codes of URLSession, which exists on Apple platforms only.
struct URLErrorCodeTests {
    private static let origin = "https://id.example.com"

    @Test func `only certificate errors are unsafe, and a broken handshake may be retried`() {
        let untrusted = TransportFailure.untrusted(origin: Self.origin, reason: "why")
        let unreachable = TransportFailure.unreachable(origin: Self.origin, reason: "why")
        for (code, failure) in [
            (-999, TransportFailure.cancelled), (-1001, .timedOut(origin: Self.origin)), (-1201, untrusted),
            (-1202, untrusted), (-1203, untrusted), (-1204, untrusted), (-1200, unreachable), (-1004, unreachable),
            (-1005, unreachable), (-1009, unreachable), (-1022, unreachable), (1, unreachable),
        ] {
            #expect(TransportFailure(urlErrorCode: code, reason: "why", origin: Self.origin) == failure, "\(code)")
        }
    }
}
