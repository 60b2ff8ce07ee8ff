package import CounterfoilStore
package import Logging

extension Logger {
    /// Returns a logger that adds the identifier of the trace to every line, if the request is traced.
    package func serving(_ request: RequestContext) -> Logger {
        guard let span = request.span else { return self }
        var logger = self
        logger[metadataKey: "trace_id"] = "\(span.traceID)"
        return logger
    }
}
