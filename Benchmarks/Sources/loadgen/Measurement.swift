import Dispatch
import Foundation
import Synchronization

/// One run: warm-up, then every connection at work until the time is over.
struct Measurement {
    let options: Options
    let target: Target

    private struct Tally {
        var milliseconds: [Double] = []
        var errors = 0
        var firstError: String?
    }

    func run() -> Report {
        if options.warmup > 0 { _ = work(seconds: options.warmup) }
        let server = options.serverProcess.map { ServerProcess(root: $0) }
        let memory = MemoryWatch(server)
        let before = server?.processorSeconds ?? 0
        let start = DispatchTime.now()
        let tally = work(seconds: options.seconds)
        let seconds = start.seconds(until: .now())
        let used = (server?.processorSeconds ?? 0) - before
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

    /// One thread for each connection; a thread ends with the first answer after the time is over.
    private func work(seconds: Double) -> Tally {
        let whole = SharedTally()
        let group = DispatchGroup()
        let start = DispatchTime.now()
        for _ in 0..<options.connections {
            group.enter()
            Thread.detachNewThread { [mode = options.mode, target] in
                let operation = Operation(mode: mode, target: target)
                var own = Tally()
                while start.seconds(until: .now()) < seconds, own.errors < 100 {
                    let asked = DispatchTime.now()
                    do {
                        try operation()
                        own.milliseconds.append(asked.seconds(until: .now()) * 1000)
                    } catch {
                        own.errors += 1
                        own.firstError = own.firstError ?? "\(error)"
                    }
                }
                whole.add(own)
                group.leave()
            }
        }
        group.wait()
        return whole.value
    }

    private final class SharedTally: Sendable {
        private let sum = Mutex(Tally())

        var value: Tally { sum.withLock { $0 } }

        func add(_ own: Tally) {
            sum.withLock {
                $0.milliseconds += own.milliseconds
                $0.errors += own.errors
                $0.firstError = $0.firstError ?? own.firstError
            }
        }
    }
}

/// Reads the memory of the server twenty times a second and keeps the most.
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
    /// The value below which this share of a sorted array lies.
    fileprivate func percentile(_ share: Double) -> Double? {
        isEmpty ? nil : self[Int((share * Double(count - 1)).rounded())]
    }
}
