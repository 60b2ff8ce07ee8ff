import Dispatch
import Foundation
import Synchronization

/// A task executor with one thread, so a blocking task delays all others.
final class OneThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
        var thread: ObjectIdentifier?
    }

    private let state = Mutex(State())
    private let coming = DispatchSemaphore(value: 0)

    init() { Thread { [self] in run() }.start() }

    /// Whether the current thread is the one of this executor.
    var isCurrent: Bool {
        let current = ObjectIdentifier(Thread.current)
        return state.withLock { $0.thread == current }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        coming.signal()
    }

    /// Ends the thread after the queued tasks.
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
