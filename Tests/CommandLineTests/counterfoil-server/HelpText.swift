import Testing

/// The `--help` output of a command.
struct HelpText: Sendable, CustomTestStringConvertible {
    let command: [String]
    let text: String

    var testDescription: String { (["counterfoil-server"] + command).joined(separator: " ") }

    /// The help of every command, in a terminal of 80 columns.
    static let all =
        [whole, serve, demo, migrate] + settings + copies + users + applications + scopes + resources + unregisteredApps
        + registrationTokens + branding + operators + certificates

    private static let whole = HelpText(
        command: [],
        text: #"""
            OVERVIEW: An OAuth 2.0 and OpenID Connect server for native apps.

            Administration commands work on the data directory or the database directly,
            whether or not the server is running. A running server sees a change at its
            next request. The first command that writes creates the data directory.

            Example:
              counterfoil-server demo

            Exit codes: 0 success, 1 a check has found something, 3 refused, 6 temporary
            failure (try again), 64 usage error, 70 unexpected error.

            USAGE: counterfoil-server <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              serve                   Run the authorization server.
              demo                    Run a demo server with a sample user, app and API.
              user                    Manage the users who can sign in.
              app                     Manage the apps (clients) that users can sign in to.
              scope                   Manage the scopes that apps can request.
              resource                Manage the APIs that accept tokens of this server.
              unregistered            Manage unregistered apps, and the policy for them.
              registration-token      Manage the tokens with which apps may register
                                      themselves.
              branding                Manage the branding of pages and the service's text
                                      on the consent page.
              key                     Manage the keys that sign tokens.
              certificate             Show or renew the certificate that the server orders
                                      itself.
              audit                   Read, export, verify and delete the audit log.
              backup                  Copy the database while the server runs.
              restore                 Restore a copy into an empty data directory.
              after-restore           Finish a restore that another program has made.
              prune-journal           Delete the former files of an endings journal that no
                                      backup needs.
              migrate                 Create or upgrade the tables of a PostgreSQL
                                      database, or move into it.
              config                  Check and show the settings of the server.
              health                  Ask a running server whether it is alive or ready.
              doctor                  Check the installation of a server, and say how to
                                      fix its faults.

              See 'counterfoil-server help <subcommand>' for detailed help.

            """#)

    private static let migrate = HelpText(
        command: ["migrate"],
        text: #"""
            OVERVIEW: Create or upgrade the tables of a PostgreSQL database, or move into
            it.

            Run it before the first start of a server on a database, and before a server of
            a new version. All changes are one transaction. A data directory needs no such
            command: a server upgrades it when it starts.

            With --from, it also moves everything in a data directory into the database,
            which must be empty. Stop the server first. Afterwards no server starts on the
            directory. Use its server key for the database: users then stay signed in.

            With --check, the exit code is 0 if the tables are up to date, and 1 if there
            is something to do. The server key is needed with --from only.

            Examples:
              counterfoil-server migrate \
                --database postgresql://counterfoil@db.example.com/counterfoil
              counterfoil-server migrate --from sqlite:/var/lib/counterfoil \
                --database postgresql://counterfoil@db.example.com/counterfoil \
                --server-key-file /etc/counterfoil/server.key

            USAGE: counterfoil-server migrate [--check] [--from <sqlite:directory>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>]

            OPTIONS:
              --check                 Only check whether the tables are those of this
                                      version.
              --from <sqlite:directory>
                                      The data directory to move from: sqlite:DIRECTORY.
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

    private static let serve = HelpText(
        command: ["serve"],
        text: #"""
            OVERVIEW: Run the authorization server.

            A missing data directory is created. While there is no administrator, each
            start prints a link that creates one. SIGTERM and SIGINT stop the server after
            the requests that it is answering: /readyz fails at once, and a second signal
            ends the delay of --drain-delay.

            Example:
              counterfoil-server serve --data-dir ./data \
                --issuer http://localhost:8080 --listen 127.0.0.1:8080

            With a certificate, TCP ports speak TLS, and Unix sockets do not: they are for
            a proxy on this machine. --trusted-proxy unix believes the addresses that it
            forwards. The user and the group of the server can connect to a Unix socket.

            An https issuer needs TLS: by --tls-certificate and --tls-key, or by a reverse
            proxy. Name a proxy with --trusted-proxy, so that rate limits apply to client
            addresses. The two files are read again when they change, and on SIGHUP. No
            connection is lost. Files that fail the check change nothing.

            With --acme-contact and --acme-terms-agreed, the server orders its certificate
            from an authority such as Let's Encrypt, and renews it. The authority must
            reach --listen on port 443, or with --acme-challenge http-01 --redirect-listen
            on port 80. The certificate and its key are in the database, and the key is
            encrypted with the server key.

            Each option is a setting. --config names a YAML file in which its name without
            dashes is a key, such as listen: 127.0.0.1:8080. The environment variable has
            the same name, such as COUNTERFOIL_LISTEN. An option overrides the variable,
            and the variable overrides the file. --site-name and --unregistered-clients are
            options only. SIGHUP reads the file again; counterfoil-server config has more.

            --endpoint-alias supports clients with the hard-coded paths of another server.
            It adds a second path under the issuer for the same endpoint. The server
            metadata lists the first path only. The audience of a client assertion can name
            either.

            --callback-origin adds a second origin to this server. The proxy must forward
            its Host field. This origin serves the redirect URIs of native apps and the
            files that associate the apps with them. It has no sign-in pages. With this
            option, requests for any other host get status 421.

            --unregistered-clients overrides the policy for unregistered apps while this
            server runs, and the administration pages show it. Without it, the policy
            decides, which accepts none at first.

            The server key is a file in the data directory that only its owner can read. If
            the environment variable COUNTERFOIL_SERVER_KEY is set, it is used instead and
            no file is created. Its value is 32 bytes in base64url. With --database, the
            key comes from this variable or from --server-key-file.

            With --database, the tables must be those of this version: run
            counterfoil-server migrate first. A server that starts while the database does
            not answer waits for it.

            USAGE: counterfoil-server serve [<options>] --issuer <url> --listen <address> ...

            LISTENING AND STOPPING:
              --listen <address>      An address to listen on: HOST:PORT, unix:PATH, or
                                      systemd or systemd:NAME for sockets of systemd. Can
                                      be repeated.
              --drain-delay <time>    The time between SIGTERM and the end of listening, in
                                      which a load balancer notices that /readyz fails, 0s
                                      to 10m. (default: 0s)
              --stop-timeout <time>   The time in which the last requests are answered, 1s
                                      to 1h; then their connections are closed. (default:
                                      30s)

            APP REGISTRATION:
              --registration <who>    Who may register apps at /apps. (values: everyone,
                                      administrators; default: everyone)
              --applications-per-developer <n>
                                      The number of apps that one developer may register.
                                      (default: 50)
              --plain-scheme <scheme> A scheme without a period that redirect URIs may use,
                                      such as cursor or vscode. Can be repeated.
              --no-development-redirect-uris
                                      Refuse redirect URIs for development: http on
                                      loopback, of web and single-page apps.
              --unregistered-clients <kinds>
                                      The unregistered apps to accept, in place of what the
                                      policy at /admin/unregistered says. (values: none,
                                      documents, registration, both)
              --registrations-per-source <n>
                                      The number of apps that register themselves in an
                                      hour from one client address, changes included.
                                      (default: 50)
              --registrations-per-hour <n>
                                      The same number from all addresses together, 2 to
                                      1000000. The second half is for addresses with few.
                                      (default: 1000)

            REQUIREMENTS:
              --require-pushed-requests
                                      Refuse authorization requests that were not pushed
                                      (PAR, RFC 9126).
              --require-dpop-nonce    Refuse DPoP proofs without a nonce of this server
                                      (RFC 9449).
              --lowercase-token-type  Send token_type as bearer in lower case, for clients
                                      that compare it as text.

            LIFETIMES:
              --code-lifetime <time>  The lifetime of an authorization code, 10s to 10m.
                                      (default: 1m)
              --access-token-lifetime <time>
                                      The lifetime of an access token, 1m to 1d. (default:
                                      1h)
              --id-token-lifetime <time>
                                      The lifetime of an ID token, 1m to 1d. (default: 1h)
              --refresh-idle-lifetime <time>
                                      The lifetime of a refresh token since its last use,
                                      10m to 365d. A change counts for existing ones, too.
                                      (default: 30d)
              --refresh-lifetime <time>
                                      The total lifetime of refresh tokens, however often
                                      they are used, 10m to 730d. (default: 180d)
              --session-idle-lifetime <time>
                                      The lifetime of a session without a request from the
                                      browser, 5m to 30d. (default: 8h)
              --session-lifetime <time>
                                      The lifetime of a session, also if it is in use, 10m
                                      to 365d. (default: 7d)
              --recent-sign-in <time> The time after a sign-in in which forms that change a
                                      registration need no password, 1m to 1d. (default: 1h)
              --page-lifetime <time>  The lifetime of a form on a page, 5m to 1d. (default:
                                      30m)
              --pushed-request-lifetime <time>
                                      The lifetime of a pushed authorization request, 10s
                                      to 10m. (default: 1m)
              --device-code-lifetime <time>
                                      The lifetime of a device code with its user code, 1m
                                      to 30m. (default: 10m)

            LIMITS:
              --failures-per-person <n>
                                      The number of wrong passwords in --sign-in-window
                                      that blocks sign-in for one user. (default: 10)
              --failures-per-source <n>
                                      The number of wrong passwords in --sign-in-window
                                      that blocks sign-in from one client address.
                                      (default: 100)
              --approvals-per-user <n>
                                      The number of authorizations that one user may
                                      approve in a minute, and of sign-ins from one
                                      address. (default: 60)
              --connections <n>       The number of connections open at once. One client
                                      address may have a tenth of them. (default: 10000)
              --database-connections <n>
                                      The number of connections that this server opens to
                                      its PostgreSQL database at most, 1 to 200. (default:
                                      8)

            SIGN-IN:
              --sign-in-window <time> The time in which wrong passwords count together, 1m
                                      to 1d. (default: 15m)
              --sign-in-delay-from <n>
                                      The number of wrong passwords for one name after
                                      which each attempt must wait, 1 to 1000000. The first
                                      wait is one second, and each further one is twice as
                                      long. (default: 5)

            TLS:
              --tls-certificate <file>
                                      A PEM file with the certificate and its chain, for
                                      TLS without a proxy. (default: none)
              --tls-key <file>        The PEM file with the private key of the certificate.
              --redirect-listen <address>
                                      The address that redirects plain http to https:
                                      HOST:PORT, such as 0.0.0.0:80, or systemd:NAME.
                                      (default: none)
              --hsts-max-age <time>   The time for which browsers use only https, in
                                      Strict-Transport-Security of an https issuer, 0s to
                                      3650d. With 0, browsers forget it. (default: 730d)

            CERTIFICATE OF AN AUTHORITY (ACME):
              --acme-contact <email>  The email address for the account at the authority;
                                      the server then orders its certificate itself. The
                                      next order sends a changed address. (default: none)
              --acme-terms-agreed     Agree to the terms of service of the authority.
              --acme-directory <url>  The directory URL of the authority. (default:
                                      https://acme-v02.api.letsencrypt.org/directory)
              --acme-root <file>      A PEM file with the root certificate of a private
                                      authority. (default: those of the system)
              --acme-eab-kid <kid>    The identifier of the key that binds a new account to
                                      one of yours; an existing account stays as it is.
                                      (default: none)
              --acme-eab-key-file <file>
                                      The file with that key in base64url.
              --acme-challenge <challenge>
                                      How the authority validates the hosts: tls-alpn-01 at
                                      --listen, or http-01 at --redirect-listen. (values:
                                      tls-alpn-01, http-01; default: tls-alpn-01)

            NETWORK:
              --trusted-proxy <cidr>  A proxy whose X-Forwarded-For is trusted, such as
                                      127.0.0.1 or 10.0.0.0/8, or unix for Unix sockets.
                                      Can be repeated.
              --cors-header <name>    A header that scripts of other origins may send,
                                      besides those of the protocols and of tracing. Can be
                                      repeated.
              --outbound-network <cidr>
                                      A private network that outbound requests may reach,
                                      such as 10.20.0.0/16. Everyone who may register apps
                                      can make the server connect to it. Can be repeated.
              --outbound-ca <file>    A PEM file of certificate authorities that outbound
                                      requests trust in addition to those of the system.

            MONITORING:
              --metrics-listen <host:port>
                                      The host and port that serve /metrics for Prometheus.
                                      Allow access to the monitoring system only. (default:
                                      none)
              --log-level <level>     The log level on standard error: error, notice, info
                                      or debug. (default: notice)
              --log-format <format>   The log format: text for people, or json for one
                                      object on each line. (values: text, json; default:
                                      text)

            RESTORE:
              --endings-journal <file>
                                      The file to which each revocation and sign-out is
                                      appended, for a restore. Put it on another disk.
                                      (default: none)

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
              --issuer <url>          The public URL of this server, as browsers and
                                      clients use it.
              --site-name <name>      The service name shown on pages. (default: the host
                                      of the issuer)
              --default-audience <audience>
                                      The audience (aud) of access tokens that are for no
                                      registered API. (default: the issuer)
              --endpoint-alias <endpoint=path>
                                      A second path of an endpoint, such as
                                      token=/connect/token. The endpoint is authorization,
                                      token, revocation or userinfo. Can be repeated.
              --callback-origin <origin>
                                      A second https origin, only for redirect URIs of
                                      native apps. (default: none)
              --key-lifetime <days>   The age at which a signing key is rotated, 1 to 3650
                                      days. A number without a unit is in days. (default:
                                      90)
              --audit-retention <days>
                                      The time to keep audit log events, 1 to 36500 days,
                                      or forever. A number without a unit is in days.
                                      (default: 400)
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let demo = HelpText(
        command: ["demo"],
        text: #"""
            OVERVIEW: Run a demo server with a sample user, app and API.

            The data is in a new directory, which is deleted when the server stops. The
            password is random and printed. The server listens on this machine only. It
            accepts unregistered apps. The output says how to sign in and how to call the
            sample API, photo-library.

            Example:
              counterfoil-server demo

            USAGE: counterfoil-server demo [--port <port>]

            OPTIONS:
              --port <port>           The port to listen on. (default: 8080)
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
