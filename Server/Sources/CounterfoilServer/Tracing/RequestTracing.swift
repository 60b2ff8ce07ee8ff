package import CounterfoilStore
package import Logging

/// The span of another program in which a request was sent (W3C Trace Context §3.2).
package struct TraceParent: Sendable, Hashable {
    /// The identifier of the trace: 32 hexadecimal digits.
    package let traceID: String
    /// The identifier of the span: 16 hexadecimal digits.
    package let spanID: String
    /// Whether the other program records the trace.
    package let isSampled: Bool

    /// Creates a parent from identifiers that were checked.
    package init(traceID: String, spanID: String, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// The value of `traceparent`.
    package var header: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

/// The decision which requests are traced.
package struct TraceSampler: Sendable, Hashable {
    /// The share of traces that are recorded, from 0 to 1.
    package let ratio: Double
    /// Whether the parent of a request decides, if there is one.
    package let followsParent: Bool

    /// Creates a sampler; a ratio outside of 0 to 1 counts as the nearest of the two.
    package init(ratio: Double, followsParent: Bool) {
        self.ratio = min(1, max(0, ratio))
        self.followsParent = followsParent
    }

    /// Returns whether a request is traced.
    ///
    /// - Parameters:
    ///   - parent: The span in which the request was sent; nil without one.
    ///   - random: A random number, which decides without a parent.
    package func samples(after parent: TraceParent?, random: @autoclosure () -> UInt64) -> Bool {
        guard let parent else { return isBelowRatio(random()) }
        if followsParent { return parent.isSampled }
        // All programs that use the same ratio decide alike on one trace.
        return isBelowRatio(UInt64(parent.traceID.suffix(16), radix: 16) ?? .max)
    }

    private func isBelowRatio(_ number: UInt64) -> Bool {
        ratio >= 1 || Double(number) < ratio * 0x1p64
    }
}

/// The tracing of requests: which ones are sampled, and how their spans begin.
///
/// A server without it has no cost for tracing but the comparison with nil.
package struct RequestTracing: Sendable {
    private let sampler: TraceSampler
    private let start: @Sendable (SpanStart, TraceParent?) -> any TraceSpan

    /// Creates the tracing of requests.
    ///
    /// - Parameters:
    ///   - sampler: The decision which requests are traced.
    ///   - start: A function that begins the first span of a request.
    package init(_ sampler: TraceSampler, start: @escaping @Sendable (SpanStart, TraceParent?) -> any TraceSpan) {
        self.sampler = sampler
        self.start = start
    }

    /// Begins the span of a request; returns nil if it is not sampled.
    package func begin(_ start: @autoclosure () -> SpanStart, after parent: TraceParent?) -> (any TraceSpan)? {
        guard sampler.samples(after: parent, random: .random(in: .min ... .max)) else { return nil }
        return self.start(start(), parent)
    }
}

extension Logger {
    /// Returns a logger that adds the identifier of the trace to every line, if the request is traced.
    package func serving(_ request: RequestContext) -> Logger {
        guard let span = request.span else { return self }
        var logger = self
        logger[metadataKey: "trace_id"] = "\(span.traceID)"
        return logger
    }
}
