extension MetricsText {
    /// Writes the number of spans that were dropped.
    mutating func write(droppedSpans count: Int) {
        single(
            "counterfoil_trace_spans_dropped_total",
            "Spans that the collector did not get, because it did not accept them or the queue was full.", count)
    }
}
