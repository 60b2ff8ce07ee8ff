import ArgumentParser
import CounterfoilPostgreSQL
import CounterfoilServer
import CounterfoilWeb
import HTTPListener

extension Settings {
    static let failuresPerUser = Setting(
        "failures-per-person", .number(1...1_000_000), default: 10, to: \.signInLimits.failuresPerUser, value: "n",
        "The number of wrong passwords in --sign-in-window that blocks sign-in for one user.")
    static let failuresPerSource = Setting(
        "failures-per-source", .number(1...1_000_000), default: 100, to: \.signInLimits.failuresPerSource, value: "n",
        "The number of wrong passwords in --sign-in-window that blocks sign-in from one client address.")
    static let approvalsPerUser = Setting(
        "approvals-per-user", .number(1...1_000_000), default: 60, to: \.approvalsPerMinute, value: "n",
        "The number of authorizations that one user may approve in a minute, and of sign-ins from one address.")
    static let connections = Setting(
        "connections", .number(ConnectionLimits.minimum...1_000_000), default: ConnectionLimits.standard.total,
        value: "n", isLive: true,
        "The number of connections open at once. One client address may have a tenth of them.")
    static let databaseConnections = Setting(
        "database-connections", .number(1...200), default: PostgreSQLStore.standardConnections, value: "n",
        "The number of connections that this server opens to its PostgreSQL database at most, 1 to 200.")
}

/// The options of `serve` for rate limits and the connection limit.
struct LimitOptions: SettingGroup {
    static let title = "Limits"

    @Option(Settings.failuresPerUser) var failuresPerUser: String?
    @Option(Settings.failuresPerSource) var failuresPerSource: String?
    @Option(Settings.approvalsPerUser) var approvalsPerUser: String?
    @Option(Settings.connections) var connections: String?
    @Option(Settings.databaseConnections) var databaseConnections: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.failuresPerUser, \.failuresPerUser), .init(Settings.failuresPerSource, \.failuresPerSource),
        .init(Settings.approvalsPerUser, \.approvalsPerUser), .init(Settings.connections, \.connections),
        .init(Settings.databaseConnections, \.databaseConnections),
    ]
}
