import ArgumentParser
import Logging

extension Settings {
    static let metricsListen = Setting<HostAndPort?>(
        "metrics-listen", .address, value: "host:port", example: "127.0.0.1:9090",
        "The host and port that serve /metrics for Prometheus. Allow access to the monitoring system only. "
            + "(default: none)")
    static let logLevel = Setting(
        "log-level", .choice(among: [.error, .notice, .info, .debug]), default: Logger.Level.notice, value: "level",
        isLive: true, "The log level on standard error.")
    static let logFormat = Setting(
        "log-format", .choice(), default: LogFormat.text, value: "format",
        "The log format: text for people, or json for one object on each line.")
}

extension SettingForm<HostAndPort> {
    fileprivate static let address = SettingForm(
        .text("^.+:[0-9]{1,5}$"),
        read: { text throws(SettingRefusal) in
            do { return try HostAndPort(text) } catch { throw .text(text, "\(error)") }
        }, text: { "\(ListenOptions.Choice.address($0))" })
}

/// The options of `serve` for metrics and the log.
struct MonitoringOptions: SettingGroup {
    static let title = "Monitoring"

    @Option(Settings.metricsListen) var metricsListen: String?
    @Option(Settings.logLevel) var logLevel: String?
    @Option(Settings.logFormat) var logFormat: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.metricsListen, \.metricsListen), .init(Settings.logLevel, \.logLevel),
        .init(Settings.logFormat, \.logFormat),
    ]
}

extension SettingValues {
    /// The settings of `--log-format` and `--log-level`.
    var log: LogFormat.LoggerSettings {
        LogFormat.LoggerSettings(format: self[Settings.logFormat], level: self[Settings.logLevel])
    }
}
