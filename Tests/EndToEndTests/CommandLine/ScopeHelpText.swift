/// The `--help` output of the scope commands.
extension HelpText {
    static let scopes = [scope, scopeCreate, scopeList, scopeEdit, scopeDelete]

    private static let scope = HelpText(
        command: ["scope"],
        text: #"""
            OVERVIEW: The permissions that applications can ask for.

            USAGE: counterfoil-server scope <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Make a permission, in words that people read before
                                      they allow it.
              list                    List the permissions, by name.
              edit                    Change the description of a permission, or how it is
                                      shown.
              delete                  Remove a permission, and take it from everything that
                                      people have allowed.

              See 'counterfoil-server help scope <subcommand>' for detailed help.

            """#)

    private static let scopeCreate = HelpText(
        command: ["scope", "create"],
        text: #"""
            OVERVIEW: Make a permission, in words that people read before they allow it.

            Example:
              counterfoil-server scope create photos.read \
                --description "See your photos and albums" --data-dir ./data

            USAGE: counterfoil-server scope create <name> --description <description> [--listed] [--no-listed] \#
            [--starts-ticked] [--no-starts-ticked] --data-dir <data-dir> [--json]

            ARGUMENTS:
              <name>                  The name on the wire, without spaces, such as
                                      photos.read.

            OPTIONS:
              --description <description>
                                      What it allows, as the consent page says it; 1 to 200
                                      characters.
              --listed/--no-listed    Whether the metadata of the server list it
                                      (scopes_supported). Those of OpenID Connect always
                                      are.
              --starts-ticked/--no-starts-ticked
                                      Whether its box on the consent page starts ticked
                                      where it is optional. In the EU that is no consent.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let scopeList = HelpText(
        command: ["scope", "list"],
        text: #"""
            OVERVIEW: List the permissions, by name.

            Each line has the name, whether the metadata list it, the initial state of its
            box on the consent page where it is optional, and the description.

            Example:
              counterfoil-server scope list --data-dir ./data

            USAGE: counterfoil-server scope list --data-dir <data-dir> [--json]

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let scopeEdit = HelpText(
        command: ["scope", "edit"],
        text: #"""
            OVERVIEW: Change the description of a permission, or how it is shown.

            Only what is given changes, and a running server shows it on its next page.
            What people have allowed stays allowed, so give another meaning another name.

            Example:
              counterfoil-server scope edit photos.read --listed --data-dir ./data

            USAGE: counterfoil-server scope edit <name> [--description <description>] [--listed] [--no-listed] \#
            [--starts-ticked] [--no-starts-ticked] --data-dir <data-dir> [--json]

            ARGUMENTS:
              <name>                  The name of the scope.

            OPTIONS:
              --description <description>
                                      What it allows, as the consent page says it; 1 to 200
                                      characters.
              --listed/--no-listed    Whether the metadata of the server list it
                                      (scopes_supported). Those of OpenID Connect always
                                      are.
              --starts-ticked/--no-starts-ticked
                                      Whether its box on the consent page starts ticked
                                      where it is optional. In the EU that is no consent.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let scopeDelete = HelpText(
        command: ["scope", "delete"],
        text: #"""
            OVERVIEW: Remove a permission, and take it from everything that people have
            allowed.

            While applications or APIs are registered for it, nothing happens but that they
            are named. With --remove-from-all it is taken from them as well. Access tokens
            that are out keep it until they expire, where an API does not ask the server.

            Example:
              counterfoil-server scope delete photos.read --remove-from-all \
                --data-dir ./data

            USAGE: counterfoil-server scope delete <name> [--remove-from-all] --data-dir <data-dir> [--json]

            ARGUMENTS:
              <name>                  The name of the scope.

            OPTIONS:
              --remove-from-all       Take it from the applications and APIs that are
                                      registered for it.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
