import InMemoryLogging
import Logging
import Testing

@testable import HTTPListener

/// The judgement whether the process was paused, from the times of its signs.
struct PauseWatchTests {
    private let start = ContinuousClock.now
    private let log = InMemoryLogHandler()
    private let watch: PauseWatch

    init() {
        let log = log
        watch = PauseWatch(logger: Logger(label: "test") { _ in log }, at: start)
    }

    /// Leaves a sign every half second, as the thread does.
    private func run(from begin: Duration, to end: Duration) {
        for step in stride(from: begin / .seconds(1), through: end / .seconds(1), by: 0.5) {
            watch.sign(at: start + .seconds(step))
        }
    }

    private func mayHaveWaited(at time: Duration) -> Bool {
        watch.mayHaveWaited(watch.begin(at: start + time), at: start + time)
    }

    @Test func `a request of a running process has not waited`() {
        run(from: .zero, to: .seconds(30))
        #expect(!mayHaveWaited(at: .seconds(30.4)))
        #expect(log.entries.isEmpty)
    }

    @Test(arguments: [3.1, 600, 86_400])
    func `requests that begin soon after a pause may have waited`(seconds: Double) {
        run(from: .zero, to: .seconds(10))
        let end = Duration.seconds(10 + seconds)
        // The event loop can come before the thread.
        #expect(mayHaveWaited(at: end))
        run(from: end + .milliseconds(1), to: end + .seconds(1.5))
        #expect(mayHaveWaited(at: end + .seconds(1.9)))
        #expect(!mayHaveWaited(at: end + .seconds(2.1)))
        #expect(log.entries.count == 1)
    }

    @Test func `the thread can notice the pause first`() {
        watch.sign(at: start + .seconds(5))
        #expect(mayHaveWaited(at: .seconds(5.01)))
    }

    @Test func `a request that was read before a pause may have waited until its end`() {
        run(from: .zero, to: .seconds(3))
        let request = watch.begin(at: start + .seconds(3))
        #expect(!watch.mayHaveWaited(request, at: start + .seconds(4)))
        run(from: .seconds(60), to: .seconds(90))
        #expect(watch.mayHaveWaited(request, at: start + .seconds(90)))
        #expect(!mayHaveWaited(at: .seconds(90.1)))
    }

    // A machine with much to do: the thread gets no processor, but requests are answered.
    @Test func `a process without its thread is not paused while it answers requests`() {
        for tenth in 0..<300 { #expect(!mayHaveWaited(at: .milliseconds(100 * tenth))) }
        #expect(log.entries.isEmpty)
    }

    // The event loops are blocked, and the thread runs.
    @Test func `a process whose event loops are blocked is not paused`() {
        let request = watch.begin(at: start)
        run(from: .zero, to: .seconds(20))
        #expect(!watch.mayHaveWaited(request, at: start + .seconds(20)))
        #expect(!mayHaveWaited(at: .seconds(20)))
    }

    @Test func `signs can arrive in another order than their times`() {
        watch.sign(at: start + .seconds(1.9))
        watch.sign(at: start + .seconds(0.5))
        #expect(!mayHaveWaited(at: .seconds(3.5)))
    }

    @Test func `what happened before the server listens is no pause`() {
        let run = watch.start(at: start + .seconds(60))
        run.stop()
        #expect(!mayHaveWaited(at: .seconds(60.1)))
    }
}
