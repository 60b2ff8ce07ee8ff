/// The `--help` output of the commands for unregistered apps.
extension HelpText {
    static let unregisteredApps = [
        unregistered, unregisteredList, unregisteredShow, unregisteredEdit, unregisteredAdopt,
        unregisteredDelete, unregisteredDeleteHost,
    ]

    private static let unregistered = HelpText(
        command: ["unregistered"],
        text: #"""
            OVERVIEW: Manage unregistered apps, and the policy for them.

            An unregistered app describes itself in a document, whose URL is its client_id,
            or registers itself at the registration endpoint. The server accepts none until
            the policy does.

            USAGE: counterfoil-server unregistered <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              show                    Show the policy for unregistered apps.
              edit                    Change the policy for unregistered apps.
              list                    List unregistered apps, or their hosts.
              adopt                   Make an app with a document a registered app.
              delete                  Delete an unregistered app, with all consent that
                                      users gave to it.
              delete-host             Delete every unregistered app whose document is at a
                                      host.

              See 'counterfoil-server help unregistered <subcommand>' for detailed help.

            """#)

    private static let unregisteredList = HelpText(
        command: ["unregistered", "list"],
        text: #"""
            OVERVIEW: List unregistered apps, or their hosts.

            Without --host and --registrations, the command lists the hosts and the number
            of their apps. Apps are listed newest first. An app with a document is stored
            when a user first allows it something.

            Examples:
              counterfoil-server unregistered list --data-dir ./data
              counterfoil-server unregistered list --host app.example.com --data-dir ./data

            USAGE: counterfoil-server unregistered list [--host <host>] [--registrations] [--after <client_id>] \#
            [--limit <n>] [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] [--config <file>] \#
            [--json]

            OPTIONS:
              --host <host>           List the apps whose documents are at this host.
              --registrations         List the apps that registered themselves.
              --after <client_id>     Only apps older than this one.
              --limit <n>             The number of apps to list, 1 to 1000. (default: 100)
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

    private static let unregisteredShow = HelpText(
        command: ["unregistered", "show"],
        text: #"""
            OVERVIEW: Show the policy for unregistered apps.

            The option --unregistered-clients of serve replaces the accepted kinds while
            that server runs.

            Example:
              counterfoil-server unregistered show --data-dir ./data

            USAGE: counterfoil-server unregistered show [--data-dir <directory>] [--database <uri>] \#
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

    private static let unregisteredEdit = HelpText(
        command: ["unregistered", "edit"],
        text: #"""
            OVERVIEW: Change the policy for unregistered apps.

            Only the given options change. A list replaces the whole list, and an empty
            value clears: --maximum-scope "" lets apps request every scope in the metadata.
            A change applies from the next request.

            Example:
              counterfoil-server unregistered edit --accept documents \
                --allowed-host '*.example.com' --approvers administrators \
                --data-dir ./data

            USAGE: counterfoil-server unregistered edit <options>

            OPTIONS:
              --accept <kinds>        The accepted apps: none, documents, registration or
                                      both.
              --allowed-host <host>   A host whose apps are accepted, such as example.com
                                      or '*.example.com'. Can be repeated. Without any,
                                      every host.
              --refused-host <host>   A host whose apps are refused. Can be repeated.
              --default-scope <scope> A scope of an app whose request names none. Can be
                                      repeated.
              --maximum-scope <scope> A scope that apps can request. Can be repeated.
                                      Without any, every scope in the metadata.
              --api <uri>             The URI of an API that apps can request. Can be
                                      repeated. Without any, every API.
              --access-token-lifetime <seconds>
                                      The lifetime of access tokens, 60 to 86400.
              --refresh-tokens <when> When to issue refresh tokens: offline-access, always
                                      or never.
              --refresh-idle-lifetime <seconds>
                                      The lifetime of a refresh token since its last use,
                                      600 to 31536000.
              --refresh-lifetime <seconds>
                                      The total lifetime of refresh tokens, 600 to 63072000.
              --approvers <who>       Who may allow something to an app: everyone or
                                      administrators.
              --require-initial-access-token <bool>
                                      Refuse registrations without an initial access token:
                                      true or false.
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

    private static let unregisteredAdopt = HelpText(
        command: ["unregistered", "adopt"],
        text: #"""
            OVERVIEW: Make an app with a document a registered app.

            The server keeps the app as its document describes it now, and never reads the
            document or its keys again. The app gets the scopes and lifetimes that the
            policy allows now. Users keep what they have allowed. Edit the app with: app
            edit. To register an app that no user has allowed anything yet, use: app create
            --client-id URL.

            Example:
              counterfoil-server unregistered adopt https://app.example.com/client.json \
                --data-dir ./data

            USAGE: counterfoil-server unregistered adopt <client-id> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.

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

    private static let unregisteredDelete = HelpText(
        command: ["unregistered", "delete"],
        text: #"""
            OVERVIEW: Delete an unregistered app, with all consent that users gave to it.

            There is no confirmation, and the deletion cannot be undone. All consent and
            every token of the app end at once. Users can allow an app with a document
            something again, unless the policy refuses it.

            Example:
              counterfoil-server unregistered delete https://app.example.com/client.json \
                --data-dir ./data

            USAGE: counterfoil-server unregistered delete <client-id> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.

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

    private static let unregisteredDeleteHost = HelpText(
        command: ["unregistered", "delete-host"],
        text: #"""
            OVERVIEW: Delete every unregistered app whose document is at a host.

            There is no confirmation, and the deletion cannot be undone. With --refuse, the
            policy also refuses the host from now on.

            Example:
              counterfoil-server unregistered delete-host app.example.com --refuse \
                --data-dir ./data

            USAGE: counterfoil-server unregistered delete-host <host> [--refuse] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <host>                  The name of the host.

            OPTIONS:
              --refuse                Also refuse the host from now on.
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
