import ArgumentParser
import CounterfoilPostgreSQL
import CounterfoilWeb

/// The options of `serve` for rate limits and the connection limit.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of wrong passwords in --sign-in-window that blocks sign-in for one user.", valueName: "n"))
    var failuresPerPerson = 10

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of wrong passwords in --sign-in-window that blocks sign-in from one client address.",
            valueName: "n"))
    var failuresPerSource = 100

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of authorizations that one user may approve in a minute, and of sign-ins from one address.",
            valueName: "n"))
    var approvalsPerUser = 60

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of connections open at once. One client address may have a tenth of them.", valueName: "n"))
    var connections = ConnectionLimits.standard.total

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of connections that this server opens to its PostgreSQL database at most, 1 to 200.",
            valueName: "n"))
    var databaseConnections = PostgreSQLStore.standardConnections

    func validate() throws {
        try SettingForm.check(failuresPerPerson, of: "failures-per-person")
        try SettingForm.check(failuresPerSource, of: "failures-per-source")
        try SettingForm.check(approvalsPerUser, of: "approvals-per-user")
        try SettingForm.check(connections, of: "connections")
        try SettingForm.check(databaseConnections, of: "database-connections")
    }
}
