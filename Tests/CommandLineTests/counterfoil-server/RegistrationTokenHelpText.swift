/// The `--help` output of the commands for initial access tokens.
extension HelpText {
    static let registrationTokens = [
        registrationToken, registrationTokenAdd, registrationTokenList, registrationTokenRemove,
    ]

    private static let registrationToken = HelpText(
        command: ["registration-token"],
        text: #"""
            OVERVIEW: Manage the tokens with which apps may register themselves.

            An app sends such a token in the Authorization header when it registers itself
            (the initial access token of RFC 7591). The policy for unregistered apps says
            whether the server accepts registrations at all, and whether they need a token.
            A registration with a token is not limited by its source address.

            USAGE: counterfoil-server registration-token <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              add                     Add a token.
              list                    List the tokens, oldest first.
              remove                  Remove a token.

              See 'counterfoil-server help registration-token <subcommand>' for detailed help.

            """#)

    private static let registrationTokenAdd = HelpText(
        command: ["registration-token", "add"],
        text: #"""
            OVERVIEW: Add a token.

            The token is printed once and cannot be shown again. It permits any number of
            registrations until it expires or is removed. Registered apps stay registered
            then.

            Example:
              counterfoil-server registration-token add "Build system" --days 30 \
                --data-dir ./data

            USAGE: counterfoil-server registration-token add <name> [--days <days>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The name by which you recognize the token, 1 to 100
                                      characters.

            OPTIONS:
              --days <days>           The days until the token expires, 1 to 3650.
                                      (default: 90)
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let registrationTokenList = HelpText(
        command: ["registration-token", "list"],
        text: #"""
            OVERVIEW: List the tokens, oldest first.

            Example:
              counterfoil-server registration-token list --data-dir ./data

            USAGE: counterfoil-server registration-token list [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let registrationTokenRemove = HelpText(
        command: ["registration-token", "remove"],
        text: #"""
            OVERVIEW: Remove a token.

            No app can register itself with the token from then on. Registered apps stay
            registered.

            Example:
              counterfoil-server registration-token remove 3f9a1c04b7de --data-dir ./data

            USAGE: counterfoil-server registration-token remove <id> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <id>                    The id of the token as printed by list, or its first
                                      4 digits or more.

            OPTIONS:
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
