/// The `--help` output of the commands for operators, word for word and in one file, as that of the client commands.
extension HelpText {
    /// The commands for signing keys and the audit log, and those that examine a server.
    static let operators = [
        key, keyList, keyRotate, audit, auditList, auditFollow, auditExport, auditVerify, auditDelete, health, doctor,
    ]

    private static let key = HelpText(
        command: ["key"],
        text: #"""
            OVERVIEW: Manage the keys that sign tokens.

            USAGE: counterfoil-server key <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              list                    List the signing keys, and what still needs each
                                      server key.
              rotate                  Rotate the signing key of one algorithm, or of all.

              See 'counterfoil-server help key <subcommand>' for detailed help.

            """#)

    private static let keyList = HelpText(
        command: ["key", "list"],
        text: #"""
            OVERVIEW: List the signing keys, and what still needs each server key.

            A new key is published before it signs, so that APIs and clients can fetch it
            in time. It signs until its successor does. Then it is retired, and stays
            published until all tokens that it signed have expired. The list begins with
            the oldest one.

            The server keys follow, each by a fingerprint that tells nothing about the key.
            The first one makes everything. A former one is needed until its signing keys
            are deleted and its refresh tokens were used or have expired. It counts as used
            by every server from the last time at which it was the first key of one.

            Example:
              counterfoil-server key list --data-dir ./data

            USAGE: counterfoil-server key list [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] \#
            [--config <file>] [--json]

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

    private static let keyRotate = HelpText(
        command: ["key", "rotate"],
        text: #"""
            OVERVIEW: Rotate the signing key of one algorithm, or of all.

            The server rotates keys by itself at the age set with serve --key-lifetime. The
            new key is published immediately and signs after 15 minutes, so that APIs and
            clients can fetch it. The previous key stays published until all tokens that it
            signed have expired. No token is refused, and no restart is needed.

            With --now, the new key signs from the next request on, in every process that
            uses the database. An API that caches the keys and does not fetch them again
            for an unknown key refuses new tokens until its next fetch.

            With --withdraw, the new key signs in the same way, and the previous keys are
            deleted. Every token that they signed is refused from then on, and clients must
            refresh. Use it if a key has leaked.

            Example:
              counterfoil-server key rotate --algorithm ES256 --data-dir ./data

            USAGE: counterfoil-server key rotate [--algorithm <algorithm>] [--now] [--withdraw] \#
            [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --algorithm <algorithm> Rotate only the key of this algorithm. (values:
                                      ES256, RS256, Ed25519, EdDSA)
              --now                   Sign with the new key immediately.
              --withdraw              Sign with the new key immediately, and delete the
                                      previous keys.
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

    private static let audit = HelpText(
        command: ["audit"],
        text: #"""
            OVERVIEW: Read, export, verify and delete the audit log.

            An event has a time, kind, outcome, user, app and client address, and that of a
            refusal its reason. Events contain no secrets, and never change, except that a
            pseudonym replaces a deleted user. The server deletes an event when its
            retention ends (serve --audit-retention); export it before if you need it for
            longer. Only the oldest events can be deleted, and each deletion is recorded as
            an event.

            Without a subcommand, events are listed.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit --request 6f1f0c1f9b7d4c0e --data-dir ./data
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data

            USAGE: counterfoil-server audit <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              list (default)          List events, newest first.
              follow                  Print events as they are recorded.
              export                  Export events as JSON lines, oldest first.
              verify                  Find events that were changed, removed or inserted.
              delete                  Delete the oldest events, up to the position of an
                                      event.

              See 'counterfoil-server help audit <subcommand>' for detailed help.

            """#)

    private static let auditList = HelpText(
        command: ["audit", "list"],
        text: #"""
            OVERVIEW: List events, newest first.

            An event must satisfy every given condition. A time is a day, which begins at
            00:00 UTC, or a time such as 2027-01-31T03:12, in the time zone of this
            machine, 2027-01-31T02:12Z or 2027-01-31T03:12+01:00. The command prints the
            searched period on standard error, in UTC and in that time zone.

            A line has the names of fields in the log of the server; "request" is the
            reference of a refusal.

            Examples:
              counterfoil-server audit list --request 6f1f0c1f9b7d4c0e --data-dir ./data
              counterfoil-server audit list --person alice --outcome refused \
                --since 2027-01-31T03:00 --until 2027-01-31T03:30 --data-dir ./data

            USAGE: counterfoil-server audit list <options>

            OPTIONS:
              --kind <kind>           Only events of this kind. (values: sign-in, sign-out,
                                      password-change, consent, browser-request,
                                      client-request, pkce-exception, challenge-reuse,
                                      code-redemption, user-code, refresh-repeat,
                                      refresh-reuse, revocation, client-authentication,
                                      throttled, application, machine-access,
                                      application-secret, account, signing-key, setting,
                                      audit-removal)
              --person <name>         Only events of this user, by user name, or by the
                                      pseudonym of a deleted user.
              --client <id>           Only events of this app, by client_id.
              --outcome <outcome>     Only events with this outcome. (values: done, refused)
              --source <address>      Only events from this IP address; an IPv6 address
                                      stands for its network of 64 bits.
              --request <reference>   Only events of the request with this reference.
              --since <time>          Only events at this time or later.
              --until <time>          Only events before this time.
              --before <position>     Only events before this position of an event, which
                                      --json shows.
              --limit <n>             The number of events to list, 1 to 1000. (default:
                                      100)
              --local-time            Show times in the time zone of this machine instead
                                      of UTC; --json keeps UTC.
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

    private static let auditFollow = HelpText(
        command: ["audit", "follow"],
        text: #"""
            OVERVIEW: Print events as they are recorded.

            The command prints each new event, on every server of the store, within about a
            second. It ends on SIGINT and SIGTERM, or when its output is closed. With
            --json, each line is one JSON object, as in an export.

            To continue after an interruption, pass the position of the last printed event
            to --after. The events of the 10 minutes before that position are printed
            again, because some may have been recorded since then; "number" identifies an
            event.

            Examples:
              counterfoil-server audit follow --data-dir ./data
              counterfoil-server audit follow --json --after 1801387800123456.1234 \
                --data-dir ./data

            USAGE: counterfoil-server audit follow [--after <position>] [--local-time] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --after <position>      Begin with the events after this position of an
                                      event. (default: new events only)
              --local-time            Show times in the time zone of this machine instead
                                      of UTC; --json keeps UTC.
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

    private static let auditExport = HelpText(
        command: ["audit", "export"],
        text: #"""
            OVERVIEW: Export events as JSON lines, oldest first.

            Each line is one JSON object. The events are in the order of their times, and
            events with the same time in the order of their numbers. Events of the last 10
            minutes are not exported, because earlier ones may still be recorded. Without
            --since, the export begins with the oldest event, and the command prints on
            standard error how to delete the exported events with "audit delete". A time is
            a day, which begins at 00:00 UTC, or a time such as 2027-01-31T03:12, in the
            time zone of this machine, 2027-01-31T02:12Z or 2027-01-31T03:12+01:00. The
            command prints the period in UTC and in that time zone.

            Examples:
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data
              counterfoil-server audit export --since 2027-01-31 --data-dir ./data

            USAGE: counterfoil-server audit export [--since <time>] [--before <time>] [--output <file>] \#
            [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] [--config <file>]

            OPTIONS:
              --since <time>          Export events at this time or later. (default: all)
              --before <time>         Export events before this time. (default: 10 minutes
                                      ago)
              --output <file>         The new file to write; it must not exist. (default:
                                      standard output)
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

    private static let auditVerify = HelpText(
        command: ["audit", "verify"],
        text: #"""
            OVERVIEW: Find events that were changed, removed or inserted.

            A server seals each event within seconds, with a key that is not in the
            database. The command finds what an attacker with access to the database alone
            has changed since then, and changes nothing. It works while the server runs.

            The command prints the head of the log. Note it at another place: with --head,
            a later run also finds that the end of the log was cut, or that all of it was
            replaced with the help of the server key. The server writes the head to its log
            once a day.

            The exit code is 0 if nothing was found, and 1 otherwise.

            Examples:
              counterfoil-server audit verify --data-dir ./data
              counterfoil-server audit verify --head 1234:5f0c… --json --data-dir ./data

            USAGE: counterfoil-server audit verify [--head <head>] [--after <seal>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --head <head>           The head that an earlier run or the log of the server
                                      has shown.
              --after <seal>          Leave out findings up to this seal, which were
                                      examined before. (default: 0)
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

    private static let auditDelete = HelpText(
        command: ["audit", "delete"],
        text: #"""
            OVERVIEW: Delete the oldest events, up to the position of an event.

            The deletion cannot be undone, so export the events first. "audit export"
            prints the position to use. Events of the last 10 minutes are kept. The
            deletion is recorded as an event.

            Example:
              counterfoil-server audit delete --through 1801387800123456.1234 \
                --data-dir ./data

            USAGE: counterfoil-server audit delete --through <position> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --through <position>    The position of the last event to delete.
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

    private static let health = HelpText(
        command: ["health"],
        text: #"""
            OVERVIEW: Ask a running server whether it is alive or ready.

            Sends one GET request, and succeeds if the status is 200. It is meant for
            health checks of containers. The certificate of a loopback address is not
            verified, because it names the host of the issuer.

            A check after which a server is restarted must ask /livez: a restart does not
            bring back a database. /readyz also fails while the server cannot serve
            sign-ins because of its database.

            Example:
              counterfoil-server health http://127.0.0.1:8080/livez

            USAGE: counterfoil-server health <url> [--timeout <seconds>]

            ARGUMENTS:
              <url>                   The URL of /livez or /readyz.

            OPTIONS:
              --timeout <seconds>     The number of seconds to wait for the answer.
                                      (default: 5)
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let doctor = HelpText(
        command: ["doctor"],
        text: #"""
            OVERVIEW: Check the installation of a server, and say how to fix its faults.

            It checks the data directory or the database, the disk, the keys, the clock,
            and the server as clients reach it at its issuer. Run it on the machine of the
            server, as the user of the server, while the server runs. It changes nothing.

            With a settings file, it checks the file and the files that it names, and
            compares it with the settings in use. Without one, it checks the settings of
            the server that last started or reloaded.

            With --tls-authority, the certificate of the server can come from a private
            authority.

            Example:
              sudo -u counterfoil counterfoil-server doctor --data-dir /var/lib/counterfoil

            The exit code is 0 if there is no fault, and 1 if there is one. Notes do not
            count.

            USAGE: counterfoil-server doctor [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] \#
            [--config <file>] [--json] [--tls-authority <file>] [--clock-from <url>]

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
              --tls-authority <file>  The certificate of a private authority, in PEM
                                      format, which clients of the server trust.
              --clock-from <url>      An https URL of another organization; its time is
                                      compared with the clock of this machine.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
