import ArgumentParser

/// The option that names the settings file.
struct SettingsFileOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The settings file of the server, in YAML. (default: $\(SettingSources.variable), "
                + "or \(SettingSources.packaged.path) for the user \(SettingSources.packaged.user))",
            valueName: "file"))
    var path: String?
}
