import ArgumentParser
import CounterfoilServer

/// The options of `serve` for the time in which wrong passwords count, and for the delays between them.
struct SignInOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The time in which wrong passwords count together, 1m to 1d.", valueName: "time"))
    var signInWindow = Seconds(SignInLimits().window)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of wrong passwords for one name after which each attempt must wait, 1 to 1000000. The first "
                + "wait is one second, and each further one is twice as long.",
            valueName: "n"))
    var signInDelayFrom = SignInLimits().delayFromFailure

    func validate() throws {
        try SettingForm.check(signInWindow.value, of: "sign-in-window")
        try SettingForm.check(signInDelayFrom, of: "sign-in-delay-from")
    }

    func apply(to limits: inout SignInLimits) {
        limits.window = signInWindow.value
        limits.delayFromFailure = signInDelayFrom
    }
}
