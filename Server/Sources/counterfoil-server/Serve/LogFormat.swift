import Foundation
import Logging

/// The format of the log on standard error.
enum LogFormat: String, CaseIterable, Sendable {
    /// The text format of swift-log.
    case text
    /// One JSON object on each line.
    case json

    /// The format and level of the log.
    struct LoggerSettings: Sendable {
        let format: LogFormat
        /// The level of all loggers of these settings, which can change while the server runs.
        let level: CurrentLogLevel

        init(format: LogFormat = .text, level: Logger.Level = .notice) {
            self.format = format
            self.level = CurrentLogLevel(level)
        }

        var logger: Logger {
            Logger(label: "counterfoil") { label in
                let handler: any LogHandler =
                    switch format {
                    case .text: StreamLogHandler.standardError(label: label)
                    case .json: JSONLogHandler()
                    }
                return CurrentLevelHandler(handler, level: level)
            }
        }

        /// Reports an event of the server's start, whatever the log level is.
        ///
        /// The report is a sentence in the text format, and an object in the JSON format.
        func report(_ event: Logger.Message, metadata: Logger.Metadata, sentence: String) {
            guard format == .json else { return Output.note(sentence) }
            var logger = logger
            logger.logLevel = .notice
            logger.notice(event, metadata: metadata)
        }
    }
}

/// A log handler that writes each event as one JSON object on its own line.
///
/// The object has the members `time`, `level` and `message`, and a member for each metadata value.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    /// The function that writes each complete line.
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
