import ArgumentParser
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

    func validate() throws {
        try Self.check(failuresPerPerson, of: "--failures-per-person")
        try Self.check(failuresPerSource, of: "--failures-per-source")
        try Self.check(approvalsPerUser, of: "--approvals-per-user")
        guard (ConnectionLimits.minimum...1_000_000).contains(connections) else {
            throw ValidationError("--connections must be a number from \(ConnectionLimits.minimum) to 1000000.")
        }
    }

    static func check(_ number: Int, of option: String) throws {
        guard (1...1_000_000).contains(number) else {
            throw ValidationError("\(option) must be a number from 1 to 1000000.")
        }
    }
}
