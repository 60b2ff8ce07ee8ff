import Dispatch
import Foundation

/// Runs work until it ends, or SIGINT (Control-C) or SIGTERM arrives.
///
/// The first signal cancels the task, so that the program can still send the browser a response. A second signal of
/// the same kind ends the program immediately.
func runUntilInterrupted<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task { try await work() }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler {
            task.cancel()
            signal(number, SIG_DFL)
        }
        source.activate()
        return source
    }
    defer {
        for (number, source) in zip([SIGINT, SIGTERM], sources) {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }
    return try await task.value
}
