@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// The rate limit of one kind of log line that unauthenticated requests can cause, for each process.
///
/// Lines above the limit are counted. The next line that is written says how many were left out.
final class LogLimiter: Sendable {
    private struct State {
        var written = RateLimiter<Line>(window: 60)
        var leftOut = 0
    }

    /// All lines of one kind count together.
    private enum Line { case any }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a limit of a number of lines in a minute.
    init(linesPerMinute limit: Int) { self.limit = limit }

    /// Returns the number of lines that were left out since the last written one; nil if this line is left out too.
    func admit(now: Date) -> Int? {
        state.withLock { state in
            guard state.written.admit([.init(.any, limit)], at: now) == nil else {
                state.leftOut += 1
                return nil
            }
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
