/// The `--help` output of the API commands.
extension HelpText {
    static let resources = [resource, resourceCreate, resourceList, resourceSecret, resourceDelete]

    private static let resource = HelpText(
        command: ["resource"],
        text: #"""
            OVERVIEW: The APIs that accept the tokens of this server.

            USAGE: counterfoil-server resource <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Register an API.
              list                    List the APIs, by their indicators.
              secret                  Give an API a new secret, which ends the former one.
              delete                  Remove an API.

              See 'counterfoil-server help resource <subcommand>' for detailed help.

            """#)

    private static let resourceCreate = HelpText(
        command: ["resource", "create"],
        text: #"""
            OVERVIEW: Register an API.

            Applications ask for tokens for it with the parameter resource (RFC 8707), and
            its URI is the aud of those tokens. With the client_id and the client_secret
            that are printed it can ask what a token is worth (RFC 7662); the secret is
            printed once.

            Example:
              counterfoil-server resource create https://api.example.com \
                --name "Photo library" --scope photos.read --data-dir ./data

            USAGE: counterfoil-server resource create <uri> --name <name> [--scope <scope> ...] --data-dir \#
            <data-dir> [--json]

            ARGUMENTS:
              <uri>                   Its indicator: an absolute URI without a fragment.

            OPTIONS:
              --name <name>           The name that people read, 1 to 100 characters.
              --scope <scope>         A scope that means something to it; repeat for more
                                      than one.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let resourceList = HelpText(
        command: ["resource", "list"],
        text: #"""
            OVERVIEW: List the APIs, by their indicators.

            Example:
              counterfoil-server resource list --data-dir ./data

            USAGE: counterfoil-server resource list --data-dir <data-dir> [--json]

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let resourceSecret = HelpText(
        command: ["resource", "secret"],
        text: #"""
            OVERVIEW: Give an API a new secret, which ends the former one.

            The new secret is printed once and is nowhere else. The former one counts for
            nothing from then on.

            Example:
              counterfoil-server resource secret https://api.example.com --data-dir ./data

            USAGE: counterfoil-server resource secret <uri> --data-dir <data-dir> [--json]

            ARGUMENTS:
              <uri>                   The indicator of the API.

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let resourceDelete = HelpText(
        command: ["resource", "delete"],
        text: #"""
            OVERVIEW: Remove an API.

            It cannot ask about tokens any more, and no application can ask for tokens for
            it. Tokens that are out stay what they are until they end.

            Example:
              counterfoil-server resource delete https://api.example.com --data-dir ./data

            USAGE: counterfoil-server resource delete <uri> --data-dir <data-dir> [--json]

            ARGUMENTS:
              <uri>                   The indicator of the API.

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
