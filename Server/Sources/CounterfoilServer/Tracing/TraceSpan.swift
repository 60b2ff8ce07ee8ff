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

/// The span of the request that the current task handles.
///
/// The task-local value is set only for a sampled request. All others read it, which costs some nanoseconds.
package enum CurrentSpan {
    /// The span; nil if the request is not sampled.
    @TaskLocal package static var value: (any TraceSpan)?

    /// Begins a span in that of the request; returns nil if the request is not sampled.
    package static func begin(_ start: @autoclosure () -> SpanStart) -> (any TraceSpan)? { value?.child(start()) }

    /// Runs work that does not wait, in a span of its own.
    static func during<Value>(_ start: @autoclosure () -> SpanStart, _ work: () throws -> Value) rethrows -> Value {
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
