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
        try SettingForm.check(codeLifetime.value, of: "code-lifetime")
        try SettingForm.check(accessTokenLifetime.value, of: "access-token-lifetime")
        try SettingForm.check(idTokenLifetime.value, of: "id-token-lifetime")
        try SettingForm.check(refreshIdleLifetime.value, of: "refresh-idle-lifetime")
        try SettingForm.check(refreshLifetime.value, of: "refresh-lifetime")
        try SettingForm.check(sessionIdleLifetime.value, of: "session-idle-lifetime")
        try SettingForm.check(sessionLifetime.value, of: "session-lifetime")
        try SettingForm.check(recentSignIn.value, of: "recent-sign-in")
        try SettingForm.check(pageLifetime.value, of: "page-lifetime")
        try SettingForm.check(pushedRequestLifetime.value, of: "pushed-request-lifetime")
        try SettingForm.check(deviceCodeLifetime.value, of: "device-code-lifetime")
        guard refreshIdleLifetime.value <= refreshLifetime.value else {
            throw ValidationError("--refresh-idle-lifetime cannot be longer than --refresh-lifetime.")
        }
        guard sessionIdleLifetime.value <= sessionLifetime.value else {
            throw ValidationError("--session-idle-lifetime cannot be longer than --session-lifetime.")
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
