import Testing

/// The `--help` output of a command.
struct HelpText: Sendable, CustomTestStringConvertible {
    let command: [String]
    let text: String

    var testDescription: String { (["counterfoil-server"] + command).joined(separator: " ") }

    /// The help of every command, in a terminal of 80 columns.
    static let all =
        [whole, serve, demo, user, userCreate] + applications + scopes + resources + branding + operators

    private static let whole = HelpText(
        command: [],
        text: #"""
            OVERVIEW: Sign-in for native apps: the authorization server and its
            administration.

            Administration works on the data directory directly, whether the server runs or
            not; a running server sees a change at its next request.

            Exit codes: 0 done, 3 refused, 6 a failure that may pass, 64 wrong usage.

            USAGE: counterfoil-server <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              serve                   Run the authorization server.
              demo                    Run a server to look at, with a person and an
                                      application in it.
              user                    The people who can sign in.
              app                     The applications that may ask people to sign in.
              scope                   The permissions that applications can ask for.
              resource                The APIs that accept the tokens of this server.
              branding                How the pages look, and what the service itself says
                                      on the consent page.
              key                     The keys with which tokens are signed.
              audit                   The audit log: who did what to which application,
                                      from where, and how it ended.

              See 'counterfoil-server help <subcommand>' for detailed help.

            """#)

    private static let serve = HelpText(
        command: ["serve"],
        text: #"""
            OVERVIEW: Run the authorization server.

            The first start prints a link that makes the administrator, once. SIGTERM and
            SIGINT end the server after the requests that it is answering.

            Example:
              counterfoil-server serve --data-dir ./data \
                --issuer http://localhost:8080 --listen 127.0.0.1:8080

            With an https issuer a proxy in front of the server ends TLS; name it with
            --trusted-proxy, so that the addresses of people count and not its own.

            --endpoint-alias lets clients that have the paths of another server built in go
            on as they are. A second path is under the issuer and leads to the same
            endpoint. The metadata name the first path, and a client assertion may name
            either.

            --callback-origin is a second origin of this server, which the proxy passes on
            with its Host field. It has the callback addresses of native applications and
            the files that associate apps with them, and nobody signs in there. A request
            for any other host is then answered with 421.

            The server key lies in the data directory, in a file that only this user reads.
            Where COUNTERFOIL_SERVER_KEY is in the environment, 32 bytes in base64url, that
            is the server key and no file is made.

            USAGE: counterfoil-server serve [<options>] --data-dir <data-dir> --issuer <issuer> --listen <listen>

            OPTIONS:
              --data-dir <data-dir>   The data directory; made when it is missing.
              --issuer <issuer>       The URL of this server as browsers and applications
                                      see it.
              --listen <listen>       The address to listen on, HOST:PORT.
              --site-name <site-name> The name that pages show. (default: the host of the
                                      issuer)
              --default-audience <default-audience>
                                      aud of access tokens. (default: the issuer)
              --registration <who>    Who registers applications at /apps. (values:
                                      everyone, administrators; default: everyone)
              --applications-per-developer <n>
                                      How many applications one developer may register.
                                      (default: 50)
              --plain-scheme <scheme> A scheme without a period that redirect URIs may have
                                      beside cursor and vscode; repeat for more than one.
              --endpoint-alias <endpoint=path>
                                      A second path of an endpoint, such as
                                      token=/connect/token, for authorization, token,
                                      revocation or userinfo; repeat for more than one.
              --callback-origin <origin>
                                      A second https origin, for callback addresses of
                                      native applications and nothing else. (default: none)
              --failures-per-person <n>
                                      How many wrong passwords within 15 minutes stop the
                                      sign-in of one person. (default: 10)
              --failures-per-source <n>
                                      How many wrong passwords within 15 minutes stop the
                                      sign-in from one address. (default: 100)
              --approvals-per-user <n>
                                      How many authorizations one user may approve in a
                                      minute. (default: 60)
              --key-lifetime <days>   How old a signing key becomes before the next one
                                      takes over. (default: 90)
              --audit-retention <days>
                                      How long the audit log keeps an event before it is
                                      deleted: a number of days, or forever. (default: 400)
              --trusted-proxy <cidr>  A proxy whose X-Forwarded-For is believed, such as
                                      127.0.0.1 or 10.0.0.0/8; repeat for more than one.
              --outbound-network <cidr>
                                      A private network that outbound requests may reach
                                      beside the public internet, such as 10.20.0.0/16;
                                      repeat for more than one. Every developer can make
                                      the server connect to it.
              --outbound-ca <file>    A file with certificate authorities in PEM form that
                                      outbound requests trust beside those of the system.
              --connections <n>       How many connections may be open at once; one address
                                      may have a tenth. (default: 10000)
              --metrics-listen <host:port>
                                      Where Prometheus finds /metrics, HOST:PORT; nobody
                                      else should reach it. (default: nowhere)
              --log-level <log-level> How much is logged on standard error: error, notice,
                                      info or debug. (default: notice)
              --log-format <log-format>
                                      How it is logged: text for people, or json, an object
                                      on each line. (values: text, json; default: text)
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let demo = HelpText(
        command: ["demo"],
        text: #"""
            OVERVIEW: Run a server to look at, with a person and an application in it.

            Everything is made anew in a directory that is removed at the end; the password
            is random and printed. It listens on this computer only.

            Example:
              counterfoil-server demo

            USAGE: counterfoil-server demo [--port <port>]

            OPTIONS:
              --port <port>           The port to listen on. (default: 8080)
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let user = HelpText(
        command: ["user"],
        text: #"""
            OVERVIEW: The people who can sign in.

            USAGE: counterfoil-server user <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Make an account.
              edit                    Change what is known of a person, or switch the
                                      account off or on.
              list                    List the people who have an account.
              show                    Show everything that is known of a person.
              disable                 Switch an account off.
              password                Give a person a new password.

              See 'counterfoil-server help user <subcommand>' for detailed help.

            """#)

    private static let userCreate = HelpText(
        command: ["user", "create"],
        text: #"""
            OVERVIEW: Make an account.

            The password is read from standard input, one line, so that it stands neither
            in the arguments nor in the history of the shell.

            Example:
              counterfoil-server user create alice --email alice@example.com \
                --password-stdin --data-dir ./data < password.txt

            USAGE: counterfoil-server user create <name> [--email <email>] [--display-name <display-name>] \#
            [--password-stdin] [--administrator] --data-dir <data-dir> [--json]

            ARGUMENTS:
              <name>                  The user name: 1 to 64 letters, digits and . _ -

            OPTIONS:
              --email <email>         The e-mail address, which also works for signing in.
              --display-name <display-name>
                                      The name that pages show. (default: the user name)
              --password-stdin        Read the password from standard input, one line.
                                      Required.
              --administrator         The person administers this server.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
