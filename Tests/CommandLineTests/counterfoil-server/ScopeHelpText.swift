/// The `--help` output of the scope commands.
extension HelpText {
    static let scopes = [scope, scopeCreate, scopeList, scopeEdit, scopeDelete]

    private static let scope = HelpText(
        command: ["scope"],
        text: #"""
            OVERVIEW: Manage the scopes that apps can request.

            USAGE: counterfoil-server scope <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Create a scope.
              list                    List the scopes, sorted by name.
              edit                    Change the description or options of a scope.
              delete                  Delete a scope, and remove it from all consent.

              See 'counterfoil-server help scope <subcommand>' for detailed help.

            """#)

    private static let scopeCreate = HelpText(
        command: ["scope", "create"],
        text: #"""
            OVERVIEW: Create a scope.

            Example:
              counterfoil-server scope create photos.read \
                --description "See your photos and albums" --data-dir ./data

            USAGE: counterfoil-server scope create <name> --description <text> [--listed] [--no-listed] \#
            [--starts-ticked] [--no-starts-ticked] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The name, without spaces, such as photos.read.

            OPTIONS:
              --description <text>    What the scope permits, shown on the consent page; 1
                                      to 200 characters.
              --listed/--no-listed    Whether the server metadata lists it in
                                      scopes_supported. Scopes of OpenID Connect are always
                                      listed.
              --starts-ticked/--no-starts-ticked
                                      Whether its checkbox is initially ticked where it is
                                      optional. EU law does not accept that as consent.
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

    private static let scopeList = HelpText(
        command: ["scope", "list"],
        text: #"""
            OVERVIEW: List the scopes, sorted by name.

            Each line has the name, whether the server metadata lists the scope, the
            initial state of its checkbox where it is optional, and the description.

            Example:
              counterfoil-server scope list --data-dir ./data

            USAGE: counterfoil-server scope list [--data-dir <directory>] [--database <uri>] \#
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

    private static let scopeEdit = HelpText(
        command: ["scope", "edit"],
        text: #"""
            OVERVIEW: Change the description or options of a scope.

            Only the given options change. A running server shows the change on its next
            page. Existing consent stays valid, so create a new scope for a different
            permission.

            Example:
              counterfoil-server scope edit photos.read --listed --data-dir ./data

            USAGE: counterfoil-server scope edit <name> [--description <text>] [--listed] [--no-listed] \#
            [--starts-ticked] [--no-starts-ticked] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The name of the scope.

            OPTIONS:
              --description <text>    What the scope permits, shown on the consent page; 1
                                      to 200 characters.
              --listed/--no-listed    Whether the server metadata lists it in
                                      scopes_supported. Scopes of OpenID Connect are always
                                      listed.
              --starts-ticked/--no-starts-ticked
                                      Whether its checkbox is initially ticked where it is
                                      optional. EU law does not accept that as consent.
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

    private static let scopeDelete = HelpText(
        command: ["scope", "delete"],
        text: #"""
            OVERVIEW: Delete a scope, and remove it from all consent.

            If apps or APIs are registered for the scope, the command lists them and
            deletes nothing. With --remove-from-all it also removes the scope from them.
            Issued access tokens keep the scope until they expire, for APIs that do not
            introspect them.

            Example:
              counterfoil-server scope delete photos.read --remove-from-all \
                --data-dir ./data

            USAGE: counterfoil-server scope delete <name> [--remove-from-all] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <name>                  The name of the scope.

            OPTIONS:
              --remove-from-all       Also remove it from the apps and APIs that are
                                      registered for it.
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
