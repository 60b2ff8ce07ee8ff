import ArgumentParser
import CounterfoilServer

extension Settings {
    static let codeLifetime = Setting(
        "code-lifetime", .time(10...10 * 60), default: 60, to: \.codeLifetime, value: "time",
        "The lifetime of an authorization code, 10s to 10m.")
    static let accessTokenLifetime = Setting(
        "access-token-lifetime", .time(60...86_400), default: 3600, to: \.accessTokenLifetime, value: "time",
        "The lifetime of an access token, 1m to 1d.")
    static let idTokenLifetime = Setting(
        "id-token-lifetime", .time(60...86_400), default: 3600, to: \.idTokenLifetime, value: "time",
        "The lifetime of an ID token, 1m to 1d.")
    static let refreshIdleLifetime = Setting(
        "refresh-idle-lifetime", .time(600...365 * 86_400), default: 30 * 86_400, to: \.refreshTokenIdleLifetime,
        value: "time",
        "The lifetime of a refresh token since its last use, 10m to 365d. A change counts for existing ones, too.")
    static let refreshLifetime = Setting(
        "refresh-lifetime", .time(600...730 * 86_400), default: 180 * 86_400, to: \.refreshTokenLifetime,
        value: "time", "The total lifetime of refresh tokens, however often they are used, 10m to 730d.")
    static let sessionIdleLifetime = Setting(
        "session-idle-lifetime", .time(300...30 * 86_400), default: 8 * 3600, to: \.sessionIdleLifetime, value: "time",
        "The lifetime of a session without a request from the browser, 5m to 30d.")
    static let sessionLifetime = Setting(
        "session-lifetime", .time(600...365 * 86_400), default: 7 * 86_400, to: \.sessionLifetime, value: "time",
        "The lifetime of a session, also if it is in use, 10m to 365d.")
    static let sessionPersistence = Setting(
        "session-persistence", .choice(), default: SessionPersistence.offered, to: \.sessionPersistence,
        value: "choice",
        "The box on the sign-in page to stay signed in when the browser is closed: none, one that is not ticked, or one "
            + "that is ticked.")
    static let recentSignIn = Setting(
        "recent-sign-in", .time(60...86_400), default: 3600, to: \.recentSignInAge, value: "time",
        "The time after a sign-in in which forms that change a registration need no password, 1m to 1d.")
    static let pageLifetime = Setting(
        "page-lifetime", .time(300...86_400), default: 30 * 60, to: \.pageLifetime, value: "time",
        "The lifetime of a form on a page, 5m to 1d.")
    static let pushedRequestLifetime = Setting(
        "pushed-request-lifetime", .time(10...10 * 60), default: 60, to: \.pushedRequestLifetime, value: "time",
        "The lifetime of a pushed authorization request, 10s to 10m.")
    static let deviceCodeLifetime = Setting(
        "device-code-lifetime", .time(60...30 * 60), default: 600, to: \.deviceCodeLifetime, value: "time",
        "The lifetime of a device code with its user code, 1m to 30m.")
}

/// The options of `serve` for the lifetimes of codes, tokens, sessions and pages.
///
/// The policy of an app can have other lifetimes of its tokens.
struct LifetimeOptions: SettingGroup {
    static let title = "Lifetimes"

    @Option(Settings.codeLifetime) var codeLifetime: String?
    @Option(Settings.accessTokenLifetime) var accessTokenLifetime: String?
    @Option(Settings.idTokenLifetime) var idTokenLifetime: String?
    @Option(Settings.refreshIdleLifetime) var refreshIdleLifetime: String?
    @Option(Settings.refreshLifetime) var refreshLifetime: String?
    @Option(Settings.sessionIdleLifetime) var sessionIdleLifetime: String?
    @Option(Settings.sessionLifetime) var sessionLifetime: String?
    @Option(Settings.sessionPersistence) var sessionPersistence: String?
    @Option(Settings.recentSignIn) var recentSignIn: String?
    @Option(Settings.pageLifetime) var pageLifetime: String?
    @Option(Settings.pushedRequestLifetime) var pushedRequestLifetime: String?
    @Option(Settings.deviceCodeLifetime) var deviceCodeLifetime: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.codeLifetime, \.codeLifetime), .init(Settings.accessTokenLifetime, \.accessTokenLifetime),
        .init(Settings.idTokenLifetime, \.idTokenLifetime),
        .init(Settings.refreshIdleLifetime, \.refreshIdleLifetime),
        .init(Settings.refreshLifetime, \.refreshLifetime),
        .init(Settings.sessionIdleLifetime, \.sessionIdleLifetime),
        .init(Settings.sessionLifetime, \.sessionLifetime),
        .init(Settings.sessionPersistence, \.sessionPersistence), .init(Settings.recentSignIn, \.recentSignIn),
        .init(Settings.pageLifetime, \.pageLifetime), .init(Settings.pushedRequestLifetime, \.pushedRequestLifetime),
        .init(Settings.deviceCodeLifetime, \.deviceCodeLifetime),
    ]
}

extension ServeConfiguration {
    /// Throws if an idle lifetime is longer than the total one.
    func checkLifetimes() throws(SettingMistake) {
        guard self[Settings.refreshIdleLifetime] <= self[Settings.refreshLifetime] else {
            throw SettingMistake("\(Settings.refreshIdleLifetime) cannot be longer than \(Settings.refreshLifetime).")
        }
        guard self[Settings.sessionIdleLifetime] <= self[Settings.sessionLifetime] else {
            throw SettingMistake("\(Settings.sessionIdleLifetime) cannot be longer than \(Settings.sessionLifetime).")
        }
    }
}
