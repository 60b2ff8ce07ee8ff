/// The `--help` output of the user commands.
extension HelpText {
    static let users = [
        user, userCreate, userEdit, userList, userShow, userDisable, userEnable, userPassword, userExport,
        userDelete,
    ]

    private static let user = HelpText(
        command: ["user"],
        text: #"""
            OVERVIEW: Manage the users who can sign in.

            USAGE: counterfoil-server user <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Create a user.
              edit                    Change the claims of a user.
              list                    List the users, sorted by user name.
              show                    Show a user.
              disable                 Disable a user.
              enable                  Enable a disabled user again.
              password                Set a new password for a user.
              export                  Export everything that the server stores about a
                                      user, as JSON.
              delete                  Delete a user, with everything that the server stores
                                      about the user.

              See 'counterfoil-server help user <subcommand>' for detailed help.

            """#)

    private static let userCreate = HelpText(
        command: ["user", "create"],
        text: #"""
            OVERVIEW: Create a user.

            At a terminal, the command asks for the password and does not show it. A script
            writes the password as one line to standard input, with --password-stdin.
            Either way, the password is neither in the arguments nor in the shell history.

            Examples:
              counterfoil-server user create alice --email alice@example.com \
                --data-dir ./data
              counterfoil-server user create bob --password-stdin --data-dir ./data \
                < password.txt

            USAGE: counterfoil-server user create <name> [--email <email>] [--email-verified] [--display-name <name>] \#
            [--password-stdin] [--administrator] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name: 1 to 64 letters, digits and . _ -

            OPTIONS:
              --email <email>         The email address, which also works for sign-in.
              --email-verified        Mark the email address as verified (email_verified).
              --display-name <name>   The name shown on pages. (default: the user name)
              --password-stdin        Read the password from standard input (one line).
                                      Required where standard input is no terminal.
              --administrator         Make the user an administrator of this server.
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

    private static let userEdit = HelpText(
        command: ["user", "edit"],
        text: #"""
            OVERVIEW: Change the claims of a user.

            Only the given options change, and an empty value clears: --nickname "".
            Clients get the new values with their next request.

            Example:
              counterfoil-server user edit alice --given-name Alice \
                --zoneinfo Europe/Oslo --email-verified true --data-dir ./data

            USAGE: counterfoil-server user edit [<options>] <name>

            ARGUMENTS:
              <name>                  The user name.

            CLAIMS:
              --display-name <name>   The name shown on pages.
              --email <email>         The email address, which also works for sign-in.
              --email-verified <bool> Whether the email address is verified: true or false.
              --given-name <name>     The given name.
              --family-name <name>    The family name.
              --middle-name <name>    The middle name.
              --nickname <name>       The nickname.
              --profile <url>         The https URL of the profile page.
              --picture <url>         The https URL of a picture of the user.
              --website <url>         The https URL of the user's website.
              --gender <gender>       The gender.
              --birthdate <date>      The birthday: 1990-01-31, 0000-01-31 without the
                                      year, or 1990.
              --zoneinfo <zone>       The time zone, such as Europe/Oslo.
              --locale <language>     The language, such as nb-NO.
              --phone <number>        The phone number with its country code, such as
                                      +4722225555.
              --phone-verified <bool> Whether the phone number is verified: true or false.
              --address-formatted <text>
                                      The complete postal address, as on an envelope.
              --address-street <street>
                                      The street and house number.
              --address-locality <city>
                                      The city.
              --address-region <region>
                                      The state or region.
              --address-postal-code <code>
                                      The postal code.
              --address-country <country>
                                      The country.

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

    private static let userList = HelpText(
        command: ["user", "list"],
        text: #"""
            OVERVIEW: List the users, sorted by user name.

            Example:
              counterfoil-server user list --data-dir ./data

            USAGE: counterfoil-server user list [--data-dir <directory>] [--database <uri>] \#
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

    private static let userShow = HelpText(
        command: ["user", "show"],
        text: #"""
            OVERVIEW: Show a user.

            Example:
              counterfoil-server user show alice --data-dir ./data

            USAGE: counterfoil-server user show <name> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name.

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

    private static let userDisable = HelpText(
        command: ["user", "disable"],
        text: #"""
            OVERVIEW: Disable a user.

            All sessions of the user end, and introspection reports the tokens of the user
            as inactive. The user cannot sign in until you enable the account again with:
            user enable NAME.

            Example:
              counterfoil-server user disable alice --data-dir ./data

            USAGE: counterfoil-server user disable <name> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name.

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

    private static let userEnable = HelpText(
        command: ["user", "enable"],
        text: #"""
            OVERVIEW: Enable a disabled user again.

            The user can sign in again, and tokens that apps had before are valid again
            until they expire.

            Example:
              counterfoil-server user enable alice --data-dir ./data

            USAGE: counterfoil-server user enable <name> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name.

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

    private static let userPassword = HelpText(
        command: ["user", "password"],
        text: #"""
            OVERVIEW: Set a new password for a user.

            At a terminal, the command asks for the password and does not show it. A script
            writes the password as one line to standard input, with --password-stdin. All
            sessions of the user end.

            Examples:
              counterfoil-server user password alice --data-dir ./data
              counterfoil-server user password alice --password-stdin \
                --data-dir ./data < password.txt

            USAGE: counterfoil-server user password <name> [--password-stdin] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name.

            OPTIONS:
              --password-stdin        Read the password from standard input (one line).
                                      Required where standard input is no terminal.
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

    private static let userExport = HelpText(
        command: ["user", "export"],
        text: #"""
            OVERVIEW: Export everything that the server stores about a user, as JSON.

            The export contains the account with its profile, sessions, grants, consents,
            apps and audit events. It contains no password hash, no secret and no token. A
            record that this version cannot read is named in the member "unreadable" and in
            a warning.

            Example:
              counterfoil-server user export alice --output alice.json --data-dir ./data

            USAGE: counterfoil-server user export <name> --output <file> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>]

            ARGUMENTS:
              <name>                  The user name.

            OPTIONS:
              --output <file>         The new file to write; it must not exist. - is
                                      standard output.
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
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let userDelete = HelpText(
        command: ["user", "delete"],
        text: #"""
            OVERVIEW: Delete a user, with everything that the server stores about the user.

            The deletion cannot be undone. All sessions, consents and tokens of the user
            end at once, and the user name and the email address are free again. The audit
            log keeps its events, with a pseudonym in place of the user. To keep a copy of
            the data, run "user export" first.

            At a terminal, the command asks you to type the user name. Elsewhere it needs
            --yes. If the user owns apps, say what happens to them: --delete-apps or
            --transfer-apps.

            Examples:
              counterfoil-server user delete alice --data-dir ./data
              counterfoil-server user delete alice --transfer-apps bob --yes \
                --data-dir ./data

            USAGE: counterfoil-server user delete <name> [--delete-apps] [--transfer-apps <user-name>] [--yes] \#
            [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The user name.

            OPTIONS:
              --delete-apps           Delete the apps of the user too, with all consent
                                      that users gave to them.
              --transfer-apps <user-name>
                                      The user who gets the apps of the deleted user.
              --yes                   Do not ask for confirmation.
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
