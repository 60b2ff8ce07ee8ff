import ArgumentParser

/// The options of `serve`, which `config check` and `config show` accept, too; ``ServeCommand`` declares them again.
struct ServeOptions: ParsableArguments {
    @OptionGroup var location: InstallationOption
    @OptionGroup var service: ServiceOptions
    @OptionGroup(title: ListenOptions.title) var listening: ListenOptions
    @OptionGroup(title: RegistrationOptions.title) var registration: RegistrationOptions
    @OptionGroup(title: RequirementOptions.title) var requirements: RequirementOptions
    @OptionGroup(title: LifetimeOptions.title) var lifetimes: LifetimeOptions
    @OptionGroup(title: LimitOptions.title) var limits: LimitOptions
    @OptionGroup(title: SignInLimitOptions.title) var signIn: SignInLimitOptions
    @OptionGroup(title: SignUpOptions.title) var signUp: SignUpOptions
    @OptionGroup(title: ExternalSignInOptions.title) var externalSignIn: ExternalSignInOptions
    @OptionGroup(title: TLSOptions.title) var tls: TLSOptions
    @OptionGroup(title: ACMEOptions.title) var acme: ACMEOptions
    @OptionGroup(title: NetworkOptions.title) var network: NetworkOptions
    @OptionGroup(title: MailOptions.title) var mail: MailOptions
    @OptionGroup(title: MonitoringOptions.title) var monitoring: MonitoringOptions
    @OptionGroup(title: EndingsOptions.title) var endings: EndingsOptions

    /// The groups of settings, in the order of the help.
    static let groups: [SettingSection<Self>] = [
        .init(\.location), .init(\.service), .init(\.listening), .init(\.registration), .init(\.requirements),
        .init(\.lifetimes), .init(\.limits), .init(\.signIn), .init(\.signUp), .init(\.externalSignIn), .init(\.tls),
        .init(\.acme), .init(\.network), .init(\.mail), .init(\.monitoring), .init(\.endings),
    ]

    /// The texts of the options in the command line, by the names of the settings.
    var texts: [String: [String]] {
        Self.groups.reduce(into: [:]) { $0.merge($1.texts(self)) { first, _ in first } }
    }

    /// Reads all settings, from the command line, the environment and the settings file.
    func configuration(_ environment: [String: String]) throws(CommandFailure) -> ServeConfiguration {
        try ServeConfiguration(texts, SettingSources(naming: location.settingsFile, environment: environment))
    }
}
