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
}

/// The options of `serve` for the time in which wrong passwords count, and for the delays between them.
struct SignInLimitOptions: SettingGroup {
    static let title = "Sign-in"

    @Option(Settings.signInWindow) var window: String?
    @Option(Settings.signInDelayFrom) var delayFrom: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.signInWindow, \.window), .init(Settings.signInDelayFrom, \.delayFrom),
    ]
}
