/// A span of a trace: work of a sampled request that is being measured.
///
/// A span must be ended once. Its name and its attributes come from ``SpanStart`` and ``TraceAttribute`` only, so that
/// no secret and no name of a user can get into a trace.
package protocol TraceSpan: Sendable {
    /// The identifier of the trace: 32 hexadecimal digits.
    var traceID: String { get }

    /// Begins the span of a part of this work.
    func child(_ start: SpanStart) -> any TraceSpan

    /// Adds an attribute, or replaces the attribute of the same name.
    func note(_ attribute: TraceAttribute)

    /// Ends the span.
    func end(isError: Bool)
}

extension TraceSpan {
    /// Ends the span of work that succeeded.
    package func end() { end(isError: false) }

    /// Ends the span of work that failed, with the type of the error.
    package func end(failing error: String) {
        note(.errorType(error))
        end(isError: true)
    }
}

/// The span of a request, which is nil if the request is not sampled.
extension Optional where Wrapped == any TraceSpan {
    /// Begins a span in this one; returns nil if the request is not sampled.
    package func begin(_ start: @autoclosure () -> SpanStart) -> (any TraceSpan)? { self?.child(start()) }

    /// Runs work that does not wait, in a span of its own.
    package func during<Value>(_ start: @autoclosure () -> SpanStart, _ work: () throws -> Value) rethrows -> Value {
        guard let span = begin(start()) else { return try work() }
        do {
            let value = try work()
            span.end()
            return value
        } catch {
            span.end(failing: TraceAttribute.unspecifiedError)
            throw error
        }
    }
}
