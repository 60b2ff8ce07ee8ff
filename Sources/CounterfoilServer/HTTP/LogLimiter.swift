import CounterfoilProtocol
import Foundation

/// The rate limit of one kind of log line that unauthenticated requests can cause, for each process.
///
/// Lines above the limit are counted. The next line that is written says how many were left out.
final class LogLimiter: Sendable {
    private struct State {
        var minute = 0
        var written = 0
        var leftOut = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a limit of a number of lines in a minute.
    init(linesPerMinute limit: Int) { self.limit = limit }

    /// Returns the number of lines that were left out since the last written one; nil if this line is left out too.
    func admit(now: Date) -> Int? {
        let minute = Int(now.timeIntervalSince1970 / 60)
        return state.withLock { state in
            if minute != state.minute { (state.minute, state.written) = (minute, 0) }
            guard state.written < limit else {
                state.leftOut += 1
                return nil
            }
            state.written += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
