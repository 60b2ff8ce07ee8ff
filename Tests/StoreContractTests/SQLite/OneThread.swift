import Dispatch
import Foundation
import Synchronization

/// A thread of its own on which tasks take turns, so that one that stands still keeps the others waiting.
final class OneThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
        var thread: ObjectIdentifier?
    }

    private let state = Mutex(State())
    private let coming = DispatchSemaphore(value: 0)

    init() { Thread { [self] in run() }.start() }

    /// Whether this is the thread.
    var isCurrent: Bool {
        let current = ObjectIdentifier(Thread.current)
        return state.withLock { $0.thread == current }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        coming.signal()
    }

    /// Ends the thread when what has come is done.
    func stop() {
        state.withLock { $0.isStopped = true }
        coming.signal()
    }

    private func run() {
        let current = ObjectIdentifier(Thread.current)
        state.withLock { $0.thread = current }
        while true {
            coming.wait()
            let job = state.withLock { state in state.jobs.isEmpty ? nil : state.jobs.removeFirst() }
            if let job {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if state.withLock({ $0.isStopped }) {
                return
            }
        }
    }
}
