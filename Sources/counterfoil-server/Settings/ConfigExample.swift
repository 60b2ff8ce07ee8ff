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
    @OptionGroup(visibility: .hidden) var settingsFile: SettingsFileOption

    func run() throws { Output.line(Self.text) }

    /// Examples of settings that have no default.
    private static let examples = [
        "acme-contact": "owner@example.com",
        "acme-eab-key-file": "/etc/counterfoil/eab.key",
        "acme-eab-kid": "kid-1",
        "acme-root": "/etc/counterfoil/acme-root.pem",
        "callback-origin": "https://apps.example.com",
        "cors-header": "X-Datadog-Trace-Id",
        "data-dir": "/var/lib/counterfoil",
        "database": "postgresql://counterfoil@db.example.com/counterfoil?passfile=/var/lib/counterfoil/pgpass",
        "default-audience": "https://api.example.com",
        "endings-journal": "/var/lib/counterfoil-journal/endings",
        "endpoint-alias": "token=/connect/token",
        "issuer": "https://id.example.com",
        "listen": "127.0.0.1:8080",
        "metrics-listen": "127.0.0.1:9090",
        "outbound-ca": "/etc/counterfoil/authorities.pem",
        "outbound-network": "10.20.0.0/16",
        "plain-scheme": "cursor",
        "redirect-listen": "0.0.0.0:80",
        "server-key-file": "/etc/counterfoil/server.key",
        "tls-certificate": "/etc/counterfoil/fullchain.pem",
        "tls-key": "/etc/counterfoil/privkey.pem",
        "trusted-proxy": "127.0.0.1",
    ]

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
        for setting in Setting.all where !sections.contains(setting.section) { sections.append(setting.section) }
        for section in sections {
            lines += ["", "## \(section)"]
            for setting in Setting.all where setting.section == section { lines += [""] + Self.lines(of: setting) }
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(of setting: Setting) -> [String] {
        let restart = setting.isLive ? "" : " [restart]"
        let explanation = wrapped(setting.description + choices(of: setting) + restart)
        let example = examples[setting.name] ?? setting.valueName
        return switch setting.kind {
        case .flag: explanation + ["#\(setting.name): false"]
        case .list: explanation + ["#\(setting.name):", "#  - \(example)"]
        case .value: explanation + ["#\(setting.name): \(setting.defaultValue ?? example)"]
        }
    }

    private static func choices(of setting: Setting) -> String {
        setting.choices.isEmpty ? "" : " One of: \(setting.choices.joined(separator: ", "))."
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
