extension HelpText {
    /// The help of the commands for the settings.
    static let settings = [config, configCheck, configShow, configSchema, configExample]

    private static let config = HelpText(
        command: ["config"],
        text: #"""
            OVERVIEW: Check and show the settings of the server.

            A setting is an option of serve. Its name without dashes is the key in the
            settings file, and in upper case with COUNTERFOIL_ the environment variable:
            --trusted-proxy, trusted-proxy: and COUNTERFOIL_TRUSTED_PROXY. An option
            overrides the variable, and the variable overrides the file. An option that can
            be repeated is a list in the file, and has commas in the variable.

            Examples:
              counterfoil-server config check --config /etc/counterfoil/server.yaml
              counterfoil-server config example > server.yaml

            USAGE: counterfoil-server config <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              check                   Check the settings without starting the server.
              show                    Show each setting, and the place that sets it.
              schema                  Print a JSON Schema (draft 2020-12) of the settings
                                      file.
              example                 Print a settings file with every setting explained.

              See 'counterfoil-server help config <subcommand>' for detailed help.

            """#)

    private static let configCheck = HelpText(
        command: ["config", "check"],
        text: #"""
            OVERVIEW: Check the settings without starting the server.

            The command validates every setting, and reads the certificate, the server key
            and the other files that the settings name. It checks that the endings journal
            can be written. It opens no database, creates no file and listens on no port.
            It accepts every option of serve. Run it as the user of the server.

            Example:
              counterfoil-server config check --config /etc/counterfoil/server.yaml

            USAGE: counterfoil-server config check

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let configShow = HelpText(
        command: ["config", "show"],
        text: #"""
            OVERVIEW: Show each setting, and the place that sets it.

            The command validates the settings first. It accepts every option of serve. The
            server key is shown as (set) or (not set).

            Example:
              counterfoil-server config show --config /etc/counterfoil/server.yaml

            USAGE: counterfoil-server config show [--json]

            OPTIONS:
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let configSchema = HelpText(
        command: ["config", "schema"],
        text: #"""
            OVERVIEW: Print a JSON Schema (draft 2020-12) of the settings file.

            Editors use it to complete and check the file. The server itself accepts a
            value in quotes, too. The schema is the same for every file, so --config is
            accepted and the file is not read.

            Example:
              counterfoil-server config schema > server.schema.json

            USAGE: counterfoil-server config schema

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let configExample = HelpText(
        command: ["config", "example"],
        text: #"""
            OVERVIEW: Print a settings file with every setting explained.

            Each setting is a comment with its default. A setting without a default has an
            example.

            Example:
              counterfoil-server config example > server.yaml

            USAGE: counterfoil-server config example

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
