import ArgumentParser

/// The option that names the settings file.
///
/// The file is read before the command line is parsed (see ``CommandInvocation``), so nothing reads the value.
struct SettingsFileOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The settings file of the server, in YAML. (default: $\(CommandInvocation.variable), "
                + "or \(CommandInvocation.packaged.path) for the user \(CommandInvocation.packaged.user))",
            valueName: "file"))
    var path: String?
}
