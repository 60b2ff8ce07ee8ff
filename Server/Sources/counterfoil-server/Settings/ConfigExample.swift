import ArgumentParser

/// The command `config example`, which prints a settings file that explains every setting.
struct ConfigExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example",
        abstract: "Print a settings file with every setting explained.",
        discussion: """
            Each setting is a comment with its default. A setting without a default has an example.

            Example:
              counterfoil-server config example > server.yaml
            """
    )

    // Accepted as by every command, and not read.
    @Option(SettingsFileOption.hidden) var settingsFile: String?

    func run() throws { Output.line(Self.text) }

    private static let head = """
        # The settings of counterfoil-server.
        #
        # Check them with: counterfoil-server config check --config FILE
        # A running server reads this file again on SIGHUP (systemctl reload). A file with a mistake changes nothing.
        # Settings marked [restart] count from the next start on.
        # This file must not contain a secret. An option of serve and an environment variable such as
        # COUNTERFOIL_LISTEN override it.
        """

    static var text: String {
        var lines = [head]
        // The options of a section are not all beside each other.
        var sections: [String] = []
        for group in ServeOptions.groups where !sections.contains(group.title) { sections.append(group.title) }
        for section in sections {
            lines += ["", "## \(section)"]
            for group in ServeOptions.groups where group.title == section {
                for setting in group.settings where setting.administration == nil {
                    lines += [""] + Self.lines(of: setting)
                }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(of setting: any AnySetting) -> [String] {
        let choices = setting.choices.isEmpty ? "" : " One of: \(setting.choices.joined(separator: ", "))."
        let restart = setting.isLive ? "" : " [restart]"
        let value = setting.standardTexts.first ?? setting.example ?? setting.valueName
        return wrapped(setting.explanation + choices + restart)
            + (setting.kind == .list ? ["#\(setting.name):", "#  - \(value)"] : ["#\(setting.name): \(value)"])
    }

    /// Breaks a text into comment lines of at most 100 characters.
    private static func wrapped(_ text: String) -> [String] {
        var lines = ["#"]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count + 1 > 100, lines[lines.count - 1] != "#" { lines.append("#") }
            lines[lines.count - 1] += " " + word
        }
        return lines
    }
}
