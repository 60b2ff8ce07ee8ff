/// The settings of `serve`, whose options `config check` and `config show` accept, too.
extension ServeCommand {
    /// The groups of settings, in the order of the help.
    static let groups: [SettingSection<Self>] = [
        .init(\.location), .init(\.service), .init(\.listening), .init(\.registration), .init(\.requirements),
        .init(\.lifetimes), .init(\.limits), .init(\.signIn), .init(\.tls), .init(\.acme), .init(\.network),
        .init(\.monitoring), .init(\.endings),
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
