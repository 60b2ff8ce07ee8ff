import Dispatch
import Foundation
import Synchronization

/// One run: every connection gets its tokens, warms up, and repeats the operation until the time has elapsed.
struct Measurement {
    let options: Options
    let target: Target

    private struct Tally {
        var milliseconds: [Double] = []
        var errors = 0
        var firstError: String?
        var checkSeconds = 0.0

        mutating func note(_ error: any Error) {
            errors += 1
            firstError = firstError ?? "\(error)"
        }
    }

    /// A failure to get the tokens that a mode needs.
    private struct PreparationFailed: Error, CustomStringConvertible {
        let description: String
    }

    func run() throws -> Report {
        let workers = (0..<options.connections).map { _ in Worker(Operation(mode: options.mode, target: target)) }
        let tokens = (options.tokens + options.connections - 1) / options.connections
        let prepared = each(of: workers) { operation in
            try operation.prepare(tokens: tokens)
            return Tally()
        }
        if let failure = prepared.firstError { throw PreparationFailed(description: failure) }
        if options.warmup > 0 { _ = work(workers, seconds: options.warmup) }
        let server = options.serverProcess.map { ServerProcess(root: $0) }
        let memory = MemoryWatch(server)
        let before = server?.processorSeconds ?? 0
        let start = DispatchTime.now()
        let tally = work(workers, seconds: options.seconds)
        let seconds = start.seconds(until: .now())
        let used = options.mode == .verify ? tally.checkSeconds : (server?.processorSeconds ?? 0) - before
        let sorted = tally.milliseconds.sorted()
        return Report(
            mode: options.mode.rawValue,
            connections: options.connections,
            operations: sorted.count,
            errors: tally.errors,
            firstError: tally.firstError,
            seconds: seconds,
            rate: Double(sorted.count) / seconds,
            median: sorted.percentile(0.5),
            percentile99: sorted.percentile(0.99),
            serverMillisecondsPerOperation: server == nil || sorted.isEmpty ? nil : used * 1000 / Double(sorted.count),
            memoryMiB: server == nil ? nil : memory.stop()
        )
    }

    /// Repeats the operation on every connection, and stops at the first response after the time has elapsed.
    private func work(_ workers: [Worker], seconds: Double) -> Tally {
        let start = DispatchTime.now()
        return each(of: workers) { operation in
            var own = Tally()
            let checked = operation.checkSeconds
            while start.seconds(until: .now()) < seconds, own.errors < 100 {
                let asked = DispatchTime.now()
                do {
                    try operation()
                    own.milliseconds.append(asked.seconds(until: .now()) * 1000)
                } catch {
                    own.note(error)
                }
            }
            own.checkSeconds = operation.checkSeconds - checked
            return own
        }
    }

    /// Runs a task on one thread for each connection, and returns the sum of the results.
    private func each(of workers: [Worker], _ task: @escaping @Sendable (Operation) throws -> Tally) -> Tally {
        let whole = SharedTally()
        let group = DispatchGroup()
        for worker in workers {
            group.enter()
            Thread.detachNewThread {
                whole.add(worker.use(task))
                group.leave()
            }
        }
        group.wait()
        return whole.value
    }

    /// An operation with its connection, used by one thread at a time.
    private final class Worker: Sendable {
        private let operation: Mutex<Operation>

        init(_ operation: sending Operation) { self.operation = Mutex(operation) }

        func use(_ task: (Operation) throws -> Tally) -> Tally {
            operation.withLock { operation in
                do { return try task(operation) } catch {
                    var failed = Tally()
                    failed.note(error)
                    return failed
                }
            }
        }
    }

    private final class SharedTally: Sendable {
        private let sum = Mutex(Tally())

        var value: Tally { sum.withLock { $0 } }

        func add(_ own: Tally) {
            sum.withLock {
                $0.milliseconds += own.milliseconds
                $0.errors += own.errors
                $0.checkSeconds += own.checkSeconds
                $0.firstError = $0.firstError ?? own.firstError
            }
        }
    }
}

/// Samples the memory of the server twenty times a second and keeps the maximum.
private final class MemoryWatch: Sendable {
    private let most = Mutex(0.0)
    private let isOver = Mutex(false)

    init(_ server: ServerProcess?) {
        guard let server else { return }
        Thread.detachNewThread { [self] in
            while !isOver.withLock({ $0 }) {
                let now = server.residentMiB
                most.withLock { $0 = max($0, now) }
                usleep(50_000)
            }
        }
    }

    func stop() -> Double {
        isOver.withLock { $0 = true }
        return most.withLock { $0 }
    }
}

extension DispatchTime {
    fileprivate func seconds(until later: DispatchTime) -> Double {
        Double(later.uptimeNanoseconds - uptimeNanoseconds) / 1e9
    }
}

extension [Double] {
    /// Returns the value below which this share of a sorted array lies.
    fileprivate func percentile(_ share: Double) -> Double? {
        isEmpty ? nil : self[Int((share * Double(count - 1)).rounded())]
    }
}
