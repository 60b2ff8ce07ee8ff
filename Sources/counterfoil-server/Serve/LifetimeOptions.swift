import ArgumentParser
import CounterfoilServer

/// The options of `serve` for the lifetimes of codes, tokens, sessions and pages.
///
/// The policy of an app can have other lifetimes of its tokens.
struct LifetimeOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The lifetime of an authorization code, 10s to 10m.", valueName: "time"))
    var codeLifetime = Seconds(60)

    @Option(name: .long, help: ArgumentHelp("The lifetime of an access token, 1m to 1d.", valueName: "time"))
    var accessTokenLifetime = Seconds(3600)

    @Option(name: .long, help: ArgumentHelp("The lifetime of an ID token, 1m to 1d.", valueName: "time"))
    var idTokenLifetime = Seconds(3600)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lifetime of a refresh token since its last use, 10m to 365d. A change counts for existing ones, too.",
            valueName: "time"))
    var refreshIdleLifetime = Seconds(30 * 86_400)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The total lifetime of refresh tokens, however often they are used, 10m to 730d.", valueName: "time"))
    var refreshLifetime = Seconds(180 * 86_400)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lifetime of a session without a request from the browser, 5m to 30d.", valueName: "time"))
    var sessionIdleLifetime = Seconds(8 * 3600)

    @Option(
        name: .long,
        help: ArgumentHelp("The lifetime of a session, also if it is in use, 10m to 365d.", valueName: "time"))
    var sessionLifetime = Seconds(7 * 86_400)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time after a sign-in in which forms that change a registration need no password, 1m to 1d.",
            valueName: "time"))
    var recentSignIn = Seconds(3600)

    @Option(name: .long, help: ArgumentHelp("The lifetime of a form on a page, 5m to 1d.", valueName: "time"))
    var pageLifetime = Seconds(30 * 60)

    @Option(
        name: .long,
        help: ArgumentHelp("The lifetime of a pushed authorization request, 10s to 10m.", valueName: "time"))
    var pushedRequestLifetime = Seconds(60)

    @Option(
        name: .long,
        help: ArgumentHelp("The lifetime of a device code with its user code, 1m to 30m.", valueName: "time"))
    var deviceCodeLifetime = Seconds(600)

    func validate() throws {
        let (minute, hour, day) = (60, 3600, 86_400)
        try Self.check(codeLifetime, 10...10 * minute, of: "--code-lifetime")
        try Self.check(accessTokenLifetime, minute...day, of: "--access-token-lifetime")
        try Self.check(idTokenLifetime, minute...day, of: "--id-token-lifetime")
        try Self.check(refreshIdleLifetime, 10 * minute...365 * day, of: "--refresh-idle-lifetime")
        try Self.check(refreshLifetime, 10 * minute...730 * day, of: "--refresh-lifetime")
        try Self.check(sessionIdleLifetime, 5 * minute...30 * day, of: "--session-idle-lifetime")
        try Self.check(sessionLifetime, 10 * minute...365 * day, of: "--session-lifetime")
        try Self.check(recentSignIn, minute...24 * hour, of: "--recent-sign-in")
        try Self.check(pageLifetime, 5 * minute...day, of: "--page-lifetime")
        try Self.check(pushedRequestLifetime, 10...10 * minute, of: "--pushed-request-lifetime")
        try Self.check(deviceCodeLifetime, minute...30 * minute, of: "--device-code-lifetime")
        guard refreshIdleLifetime.value <= refreshLifetime.value else {
            throw ValidationError("--refresh-idle-lifetime cannot be longer than --refresh-lifetime.")
        }
        guard sessionIdleLifetime.value <= sessionLifetime.value else {
            throw ValidationError("--session-idle-lifetime cannot be longer than --session-lifetime.")
        }
    }

    static func check(_ time: Seconds, _ range: ClosedRange<Int>, of option: String) throws {
        guard range.contains(time.value) else {
            throw ValidationError(
                "\(option) must be a time from \(Seconds(range.lowerBound)) to \(Seconds(range.upperBound)), such as "
                    + "90s, 10m, 8h or 30d.")
        }
    }

    func apply(to settings: inout ServerSettings) {
        settings.codeLifetime = codeLifetime.value
        settings.accessTokenLifetime = accessTokenLifetime.value
        settings.idTokenLifetime = idTokenLifetime.value
        settings.refreshTokenIdleLifetime = refreshIdleLifetime.value
        settings.refreshTokenLifetime = refreshLifetime.value
        settings.sessionIdleLifetime = sessionIdleLifetime.value
        settings.sessionLifetime = sessionLifetime.value
        settings.recentSignInAge = recentSignIn.value
        settings.pageLifetime = pageLifetime.value
        settings.pushedRequestLifetime = pushedRequestLifetime.value
        settings.deviceCodeLifetime = deviceCodeLifetime.value
    }
}
