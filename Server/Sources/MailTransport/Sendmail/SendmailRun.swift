import Foundation
import NIOConcurrencyHelpers

/// One run of a program, which another thread can cancel.
///
/// The status of a program that has exited counts, whatever the time and its own children. At the limit, its whole
/// process group is killed.
final class SendmailRun: Sendable {
    enum End {
        case notStarted
        case cancelled
        case late
        /// The status, or 128 plus the number of the signal that ended the program.
        case ended(status: Int32)
    }

    private struct State {
        var deadline: ContinuousClock.Instant
        var isFed = false
        var isCancelled = false
    }

    private let limits: SendmailProgram.Limits
    private let state: NIOLockedValueBox<State>

    init(_ limits: SendmailProgram.Limits) {
        self.limits = limits
        state = NIOLockedValueBox(State(deadline: .now + limits.whole))
    }

    /// Ends the program; if it has the whole message, only after ``SendmailProgram/Limits/stop``, because it may have
    /// accepted the mail.
    func cancel() {
        state.withLockedValue { state in
            state.isCancelled = true
            state.deadline = min(state.deadline, .now + limits.stop)
        }
    }

    /// Runs the program; the calling thread must end after it, because it blocks SIGPIPE.
    func run(_ path: String, _ arguments: [String], input: [UInt8]) -> End {
        guard interruption == nil else { return .cancelled }
        Self.ignoreBrokenPipes()
        guard var feed = ProgramFeed(input) else { return .notStarted }
        defer { feed.close() }
        guard let child = SpawnedProgram(path, arguments, standardInput: feed.readingEnd) else { return .notStarted }
        feed.closeReadingEnd()
        while true {
            let isFed = feed.write()
            state.withLockedValue { $0.isFed = isFed }
            // The status first: a program that has exited in time has exited, also if this thread is late.
            if let status = child.status() { return .ended(status: status) }
            if let interruption { return child.kill().map(End.ended) ?? interruption }
            usleep(5000)
        }
    }

    /// The reason to end the program now; nil if it may continue.
    private var interruption: End? {
        state.withLockedValue { state in
            if state.isCancelled && !state.isFed { return .cancelled }
            return ContinuousClock.now >= state.deadline ? .late : nil
        }
    }

    /// A program can end before it has read everything; its status says why.
    private static func ignoreBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// A pipe through which a program gets its input, and whose writer never blocks.
private struct ProgramFeed {
    private(set) var readingEnd: Int32
    private var writingEnd: Int32
    private var rest: ArraySlice<UInt8>

    /// Creates a pipe; nil if the system allows none.
    init?(_ input: [UInt8]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readingEnd, writingEnd) = (ends[0], ends[1])
        rest = input[...]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writingEnd, F_SETFL, O_NONBLOCK)
    }

    /// Writes as much as the pipe takes; returns true if the program has everything, or reads no more.
    mutating func write() -> Bool {
        while writingEnd >= 0 && !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(writingEnd, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                return false
            } else if errno != EINTR {
                break
            }
        }
        closeWritingEnd()
        return true
    }

    mutating func closeReadingEnd() {
        if readingEnd >= 0 { Foundation.close(readingEnd) }
        readingEnd = -1
    }

    mutating func close() {
        closeReadingEnd()
        closeWritingEnd()
    }

    private mutating func closeWritingEnd() {
        if writingEnd >= 0 { Foundation.close(writingEnd) }
        writingEnd = -1
    }
}
