import Logging
import Synchronization

/// Everything that was logged, at whatever level.
final class LogLines: Sendable {
    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.all.withLock { $0 += "\(event.message) \(event.metadata ?? [:]) \(metadata)\n" }
        }
    }

    private let all = Mutex("")

    var text: String { all.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
