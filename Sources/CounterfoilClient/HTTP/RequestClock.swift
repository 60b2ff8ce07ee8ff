@_spi(Counterfoil) import CounterfoilProtocol

/// The time limit of a request, which starts again with each part of a body that is read from a file.
///
/// It does not run while the file is read, because a pipe may stay silent for as long as it likes.
final class RequestClock: Sendable {
    private let limit: Duration
    /// The end of the time; nil while the clock does not run.
    private let end: Mutex<ContinuousClock.Instant?>

    /// Starts the clock.
    init(limit: Duration) {
        self.limit = limit
        end = Mutex(ContinuousClock.now + limit)
    }

    /// Stops the clock until ``restart()``.
    func pause() { end.withLock { $0 = nil } }

    /// Starts the clock again with its whole limit.
    func restart() { end.withLock { $0 = ContinuousClock.now + limit } }

    /// Returns at the end of the time; throws if the task is cancelled.
    func expiration() async throws {
        while true {
            let next = end.withLock { $0 } ?? ContinuousClock.now + limit
            guard next > .now else { return }
            try await Task.sleep(until: next, clock: .continuous)
            guard ContinuousClock.now > next + Self.lateness else { continue }
            // The process was stopped (SIGSTOP), or the device slept. What has arrived meanwhile is read first.
            end.withLock { end in if end == next { end = .now + Self.extraTime } }
        }
    }

    /// The lateness from which a wait shows that the process did not run, even on a device with much to do.
    private static let lateness = Duration.seconds(1)
    private static let extraTime = Duration.seconds(2)
}
