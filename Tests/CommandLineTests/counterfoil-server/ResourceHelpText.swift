/// The `--help` output of the API commands.
extension HelpText {
    static let resources = [
        resource, resourceCreate, resourceList, resourceEdit, resourceSecret, resourceDelete,
    ]

    private static let resource = HelpText(
        command: ["resource"],
        text: #"""
            OVERVIEW: Manage the APIs that accept tokens of this server.

            USAGE: counterfoil-server resource <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Register an API.
              list                    List the APIs, sorted by URI.
              edit                    Change the name, scopes or access tokens of an API.
              secret                  Replace the client secret of an API.
              delete                  Delete an API.

              See 'counterfoil-server help resource <subcommand>' for detailed help.

            """#)

    private static let resourceCreate = HelpText(
        command: ["resource", "create"],
        text: #"""
            OVERVIEW: Register an API.

            Clients request tokens for the API with the resource parameter (RFC 8707). Its
            URI is the audience (aud) of those tokens. The API uses the printed client_id
            and client_secret to introspect tokens (RFC 7662). The secret is printed only
            once.

            The type of access tokens is at+jwt (RFC 9068). If the library of the API
            refuses that type, register the API with --jwt-type jwt.

            Example:
              counterfoil-server resource create https://api.example.com \
                --name "Photo library" --scope photos.read --data-dir ./data

            USAGE: counterfoil-server resource create <uri> --name <name> [--scope <scope> ...] [--jwt-type <type>] \#
            [--bound-tokens-only] [--no-bound-tokens-only] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <uri>                   The URI of the API, absolute and without a fragment.

            OPTIONS:
              --name <name>           The name shown to users, 1 to 100 characters.
              --scope <scope>         A scope that the API uses. Can be repeated.
              --jwt-type <type>       The type (typ) of its access tokens: at+jwt, or jwt
                                      for libraries that refuse at+jwt. (values: at+jwt,
                                      jwt)
              --bound-tokens-only/--no-bound-tokens-only
                                      Whether the API accepts only access tokens that are
                                      bound to a key (DPoP).
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

    private static let resourceList = HelpText(
        command: ["resource", "list"],
        text: #"""
            OVERVIEW: List the APIs, sorted by URI.

            Example:
              counterfoil-server resource list --data-dir ./data

            USAGE: counterfoil-server resource list [--data-dir <directory>] [--database <uri>] \#
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

    private static let resourceEdit = HelpText(
        command: ["resource", "edit"],
        text: #"""
            OVERVIEW: Change the name, scopes or access tokens of an API.

            Only the given options change, and --scope replaces the whole list. The next
            tokens for the API follow the change. Tokens that are already issued keep their
            type until they expire, so the API must accept both types until then.

            Example:
              counterfoil-server resource edit https://api.example.com --jwt-type jwt \
                --data-dir ./data

            USAGE: counterfoil-server resource edit <uri> [--name <name>] [--scope <scope> ...] [--jwt-type <type>] \#
            [--bound-tokens-only] [--no-bound-tokens-only] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <uri>                   The URI of the API.

            OPTIONS:
              --name <name>           The name shown to users, 1 to 100 characters.
              --scope <scope>         A scope that the API uses. Can be repeated.
              --jwt-type <type>       The type (typ) of its access tokens: at+jwt, or jwt
                                      for libraries that refuse at+jwt. (values: at+jwt,
                                      jwt)
              --bound-tokens-only/--no-bound-tokens-only
                                      Whether the API accepts only access tokens that are
                                      bound to a key (DPoP).
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

    private static let resourceSecret = HelpText(
        command: ["resource", "secret"],
        text: #"""
            OVERVIEW: Replace the client secret of an API.

            The new secret is printed once and cannot be shown again. The previous secret
            is invalid from then on.

            Example:
              counterfoil-server resource secret https://api.example.com --data-dir ./data

            USAGE: counterfoil-server resource secret <uri> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <uri>                   The URI of the API.

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

    private static let resourceDelete = HelpText(
        command: ["resource", "delete"],
        text: #"""
            OVERVIEW: Delete an API.

            The API can no longer introspect tokens, and clients can no longer request
            tokens for it. Tokens that are already issued stay valid until they expire.

            Example:
              counterfoil-server resource delete https://api.example.com --data-dir ./data

            USAGE: counterfoil-server resource delete <uri> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <uri>                   The URI of the API.

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
