import ArgumentParser
import Foundation
import Logging

/// How the log is written on standard error.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    /// For people, as swift-log writes it.
    case text
    /// For programs: one JSON object on a line.
    case json

    /// What is logged, and how.
    struct Settings {
        var format = LogFormat.text
        var level = Logger.Level.notice

        /// A logger that writes so.
        var logger: Logger {
            var logger = Logger(label: "counterfoil") { label in
                switch format {
                case .text: StreamLogHandler.standardError(label: label)
                case .json: JSONLogHandler()
                }
            }
            logger.logLevel = level
            return logger
        }
    }
}

/// Writes each event as one JSON object on a line of its own: `time`, `level`, `message`, and its metadata beside.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    /// Where lines go, each at once.
    var write: @Sendable (Data) -> Void = { FileHandle.standardError.write($0) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members = metadata.merging(event.metadata ?? [:]) { _, latest in latest }.mapValues { "\($0)" }
        members["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["message"] = "\(event.message)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(members) else { return }
        write(line + Data("\n".utf8))
    }
}
