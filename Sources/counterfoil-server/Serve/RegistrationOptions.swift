public import ArgumentParser
public import CounterfoilServer

/// The options of `serve` for the registration of clients by developers.
struct RegistrationOptions: ParsableArguments {
    @Option(
        name: .customLong("registration"), help: ArgumentHelp("Who may register apps at /apps.", valueName: "who"))
    var policy = RegistrationPolicy.everyone

    @Option(name: .long, help: ArgumentHelp("The number of apps that one developer may register.", valueName: "n"))
    var applicationsPerDeveloper = 50

    @Option(
        name: .customLong("plain-scheme"),
        help: ArgumentHelp(
            "A scheme without a period that redirect URIs may use, such as cursor or vscode. Can be repeated.",
            valueName: "scheme"))
    var plainSchemes: [String] = []

    @Flag(
        name: .customLong("no-development-redirect-uris"),
        help: "Refuse redirect URIs for development: http on loopback, of web and single-page apps.")
    var refusesDevelopmentRedirectURIs = false

    @Option(
        name: .customLong("unregistered-clients"),
        help: ArgumentHelp(
            "The unregistered apps to accept, in place of what the policy at /admin/unregistered says.",
            valueName: "kinds"))
    var unregisteredClients: UnregisteredClientSwitch?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of apps that register themselves in an hour from one client address, changes included.",
            valueName: "n"))
    var registrationsPerSource = 50

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The same number from all addresses together, 2 to 1000000. The second half is for addresses with few.",
            valueName: "n"))
    var registrationsPerHour = 1000

    func validate() throws {
        try SettingForm.check(applicationsPerDeveloper, of: "applications-per-developer")
        try SettingForm.check(registrationsPerSource, of: "registrations-per-source")
        try SettingForm.check(registrationsPerHour, of: "registrations-per-hour")
        for scheme in plainSchemes where !PlainSchemes.isOne(scheme) {
            throw ValidationError(
                "--plain-scheme \(scheme): a plain scheme has 2 to 64 lowercase letters, digits, + and -, starts with "
                    + "a letter, and must not be one that browsers handle themselves.")
        }
    }
}

extension RegistrationPolicy: ExpressibleByArgument {}
extension UnregisteredClientSwitch: ExpressibleByArgument {}
