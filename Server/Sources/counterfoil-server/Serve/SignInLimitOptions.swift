import ArgumentParser
import CounterfoilServer

extension Settings {
    static let signInWindow = Setting(
        "sign-in-window", .time(60...86_400), default: SignInLimits().window, to: \.signInLimits.window, value: "time",
        "The time in which wrong passwords count together, 1m to 1d.")
    static let signInDelayFrom = Setting(
        "sign-in-delay-from", .number(1...1_000_000), default: SignInLimits().delayFromFailure,
        to: \.signInLimits.delayFromFailure, value: "n",
        "The number of wrong passwords for one name after which each attempt must wait, 1 to 1000000. The first wait is "
            + "one second, and each further one is twice as long.")
    static let secondFactor = Setting(
        "second-factor", .choice(), default: SecondFactorPolicy.offered, to: \.secondFactor, value: "choice",
        "The users who enter a code of an authenticator app after the password: no user can set one up, every user can, "
            + "users with rights of the administration must, or every user must. A passkey needs no code.")
    static let secondFactorMemory = Setting(
        "second-factor-memory", .days(0...365), default: 30, to: \.secondFactorMemory, value: "days",
        "The time for which users can have a browser remembered that needs no code, 0 to 365 days; 0 is never.")
}

/// The options of `serve` for the time in which wrong passwords count, the delays between them, and the second factor.
struct SignInLimitOptions: SettingGroup {
    static let title = "Sign-in"

    @Option(Settings.signInWindow) var window: String?
    @Option(Settings.signInDelayFrom) var delayFrom: String?
    @Option(Settings.secondFactor) var secondFactor: String?
    @Option(Settings.secondFactorMemory) var secondFactorMemory: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.signInWindow, \.window), .init(Settings.signInDelayFrom, \.delayFrom),
        .init(Settings.secondFactor, \.secondFactor), .init(Settings.secondFactorMemory, \.secondFactorMemory),
    ]
}
