import ArgumentParser

/// The option `--config`, which names the settings file of the server.
enum SettingsFileOption {
    case shown
    /// The command accepts the option, so that it can be called with the arguments of others, and does not use it.
    case hidden
}

extension Option where Value == String? {
    /// Declares the option `--config`.
    init(_ file: SettingsFileOption) {
        self.init(
            name: .customLong("config"),
            help: ArgumentHelp(
                "The settings file of the server, in YAML. (default: $\(SettingSources.variable), "
                    + "or \(SettingSources.packaged.path) for the user \(SettingSources.packaged.user))",
                valueName: "file", visibility: file == .shown ? .default : .hidden))
    }
}
