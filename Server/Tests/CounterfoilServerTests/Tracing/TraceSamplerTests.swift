import CounterfoilServer
import CounterfoilStore
import Testing

/// The decision which requests are traced, and what a span can contain.
struct TraceSamplerTests {
    private static func parent(_ end: String, isSampled: Bool) -> TraceParent {
        TraceParent(
            traceID: String(repeating: "0", count: 31 - end.count) + "a" + end, spanID: "00f067aa0ba902b7",
            isSampled: isSampled)
    }

    @Test(arguments: [(0.0, 0), (0.01, 1), (0.5, 50), (1.0, 100)])
    func `without a parent, the ratio decides`(ratio: Double, expected: Int) {
        let sampler = TraceSampler(ratio: ratio, followsParent: true)
        let count = (0..<100).count { step in sampler.samples(after: nil, random: UInt64(step) * (.max / 100)) }
        #expect(count == expected)
        #expect(sampler.samples(after: nil, random: .max) == (ratio == 1))
    }

    @Test(arguments: [0.0, 1.0], [false, true])
    func `a sampler that follows its parent does what the parent does`(ratio: Double, isSampled: Bool) {
        let sampler = TraceSampler(ratio: ratio, followsParent: true)
        #expect(sampler.samples(after: Self.parent("1", isSampled: isSampled), random: 0) == isSampled)
    }

    @Test func `the identifier of a trace decides alike in every process, whatever the parent does`() {
        let sampler = TraceSampler(ratio: 0.5, followsParent: false)
        for isSampled in [false, true] {
            let low = Self.parent("7fffffff00000000", isSampled: isSampled)
            let high = Self.parent("8000000000000000", isSampled: isSampled)
            #expect(sampler.samples(after: low, random: .max))
            #expect(!sampler.samples(after: high, random: 0))
        }
    }

    // A method is chosen by the client.
    @Test func `a method that is not standard is in no span`() {
        #expect(TraceAttribute.method("SECRET").value == .text("_OTHER"))
        #expect(TraceAttribute.method("POST").value == .text("POST"))
    }
}
