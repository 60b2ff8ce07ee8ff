@_spi(Counterfoil) import CounterfoilProtocol
public import Logging

/// A log that records the entries of every level as text, so that a test can search them.
public final class RecordedLog: Sendable {
    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = metadata.merging(event.metadata ?? [:]) { _, latest in latest }
            let line = "\(event.level) \(event.message) \(fields)"
            log.recorded.withLock { $0.append(line) }
        }
    }

    private let recorded = Mutex<[String]>([])

    /// Creates an empty log.
    public init() {}

    /// The entries, oldest first, each with level, message and metadata.
    public var lines: [String] { recorded.withLock { $0 } }

    /// A logger that writes into this log.
    public var logger: Logger { Logger(label: "counterfoil.test") { _ in Handler(log: self) } }
}
