import ArgumentParser

/// The command `config`, whose subcommands read the settings and start nothing.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check and show the settings of the server.",
        discussion: """
            A setting is an option of serve. Its name without dashes is the key in the settings file, and in upper case \
            with COUNTERFOIL_ the environment variable: --trusted-proxy, trusted-proxy: and \
            COUNTERFOIL_TRUSTED_PROXY. An option overrides the variable, and the variable overrides the file. An \
            option that can be repeated is a list in the file, and has commas in the variable.

            Examples:
              counterfoil-server config check --config /etc/counterfoil/server.yaml
              counterfoil-server config example > server.yaml
            """,
        subcommands: [ConfigCheck.self, ConfigShow.self, ConfigSchema.self, ConfigExample.self]
    )
}
