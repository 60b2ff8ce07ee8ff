@_spi(Counterfoil) import CounterfoilProtocol

/// The durations, faults and batches of a store in this process, which the metrics show.
///
/// A read by key takes some 20 µs, so noting it must cost little: two readings of the monotonic clock and one short
/// critical section, without an allocation. Reads and commits have a lock each.
package final class StoreMeter: Sendable {
    /// A kind of access to the store.
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        case read, commit
    }

    /// The kinds of ``StoreFault``; the raw value is their name in the metrics.
    package enum Fault: String, Sendable, Hashable, CaseIterable {
        case unavailable, unconfirmed, damaged, unsupported

        package init(_ fault: StoreFault) {
            switch fault {
            case .unavailable: self = .unavailable
            case .unconfirmed: self = .unconfirmed
            case .damaged: self = .damaged
            case .unsupported: self = .unsupported
            }
        }
    }

    /// The reads or the commits of a store.
    package struct Uses: Sendable, Hashable {
        /// The upper bounds of the buckets of durations, in seconds.
        package static let bounds = [
            0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
            10,
        ]

        /// The durations in seconds, with the time of waiting, also of those that failed.
        package fileprivate(set) var durations = Histogram(bounds: bounds)
        package fileprivate(set) var faults: [Fault: Int] = [:]
    }

    /// The upper bounds of the buckets of batch sizes.
    static let batchBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

    private let reads = Mutex(Uses())
    private let commits = Mutex(Uses())
    private let batches = Mutex(Histogram(bounds: batchBounds))

    package init() {}

    /// Notes the end of a read or a commit, with its fault if it failed.
    package func note(_ operation: Operation, since start: ContinuousClock.Instant, fault: StoreFault? = nil) {
        let duration = (ContinuousClock.now - start).components
        let seconds = Double(duration.seconds) + Double(duration.attoseconds) * 1e-18
        withUses(operation) { uses in
            uses.durations.note(seconds)
            if let fault { uses.faults[Fault(fault), default: 0] += 1 }
        }
    }

    /// Notes that a transaction with a number of commits was tried.
    package func noteBatch(of commits: Int) { batches.withLock { $0.note(Double(commits)) } }

    /// A copy of the reads or the commits at one time.
    package func snapshot(of operation: Operation) -> Uses { withUses(operation) { $0 } }

    /// A copy of the sizes of the transactions at one time.
    package var batchSizes: Histogram { batches.withLock { $0 } }

    private func withUses<Value: Sendable>(_ operation: Operation, _ body: (inout Uses) -> Value) -> Value {
        switch operation {
        case .read: reads.withLock { body(&$0) }
        case .commit: commits.withLock { body(&$0) }
        }
    }
}

/// The measurements of a store at one time, for the metrics of this process.
package struct StoreMeasurements: Sendable {
    /// The database of a store; the raw value is its name in the metrics.
    package enum Kind: String, Sendable {
        case sqlite, postgresql
    }

    /// The connections to a database server.
    package struct Connections: Sendable {
        package let open: Int
        package let limit: Int

        package init(open: Int, limit: Int) {
            self.open = open
            self.limit = limit
        }
    }

    /// The sizes in bytes of the files of a database.
    package struct Files: Sendable {
        package let database: Int
        package let writeAheadLog: Int

        package init(database: Int, writeAheadLog: Int) {
            self.database = database
            self.writeAheadLog = writeAheadLog
        }
    }

    package let kind: Kind
    package let uses: [StoreMeter.Operation: StoreMeter.Uses]
    /// The numbers of commits in the transactions; nil for a database in which each commit is a transaction.
    package let batchSizes: Histogram?
    /// The number of commits that wait for the writer, or of requests that wait for a connection.
    package let waiting: Int
    /// The connections to the server of the database; nil for a file.
    package let connections: Connections?
    /// The files of the database; nil for a database server.
    package let files: Files?

    package init(
        _ kind: Kind, _ meter: StoreMeter, waiting: Int, connections: Connections? = nil, files: Files? = nil
    ) {
        self.kind = kind
        uses = Dictionary(
            uniqueKeysWithValues: StoreMeter.Operation.allCases.map { ($0, meter.snapshot(of: $0)) })
        batchSizes = kind == .sqlite ? meter.batchSizes : nil
        self.waiting = waiting
        self.connections = connections
        self.files = files
    }
}
