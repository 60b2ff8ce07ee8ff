import ArgumentParser
import Logging

/// The options of `serve` for metrics and the log.
struct MonitoringOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The host and port that serve /metrics for Prometheus. Allow access to the monitoring system only. "
                + "(default: none)",
            valueName: "host:port"))
    var metricsListen: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The log level on standard error: error, notice, info or debug.", valueName: "level"))
    var logLevel = "notice"

    @Option(
        name: .long,
        help: ArgumentHelp("The log format: text for people, or json for one object on each line.", valueName: "format")
    )
    var logFormat = LogFormat.text

    /// The settings of `--log-format` and `--log-level`.
    var log: LogFormat.Settings {
        LogFormat.Settings(format: logFormat, level: Logger.Level(rawValue: logLevel) ?? .notice)
    }

    func validate() throws {
        if let metricsListen {
            do { _ = try ListenAddress(metricsListen) } catch {
                throw ValidationError("--metrics-listen \(metricsListen): \(error).")
            }
        }
        guard ["error", "notice", "info", "debug"].contains(logLevel) else {
            throw ValidationError("--log-level must be error, notice, info or debug.")
        }
    }
}
