extension HelpText {
    /// The commands for signing keys and for the audit log.
    static let operators = [key, keyList, keyRotate, audit, auditList, auditExport, auditDelete]

    private static let key = HelpText(
        command: ["key"],
        text: #"""
            OVERVIEW: The keys with which tokens are signed.

            USAGE: counterfoil-server key <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              list                    List the keys, oldest first, and what each does.
              rotate                  Make the next key of an algorithm, or of every one.

              See 'counterfoil-server help key <subcommand>' for detailed help.

            """#)

    private static let keyList = HelpText(
        command: ["key", "list"],
        text: #"""
            OVERVIEW: List the keys, oldest first, and what each does.

            A key is published before it signs, so that everybody has it by then; it signs
            until its successor does; then it is retired, and stays published until
            everything that it signed has expired.

            Example:
              counterfoil-server key list --data-dir ./data

            USAGE: counterfoil-server key list --data-dir <data-dir> [--json]

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let keyRotate = HelpText(
        command: ["key", "rotate"],
        text: #"""
            OVERVIEW: Make the next key of an algorithm, or of every one.

            The server does this by itself when a key is old; see serve --key-lifetime. The
            new key is published at once and signs after 15 minutes, when everybody has
            fetched it. The former one stays published until everything that it signed has
            expired. No token is refused, and a running server needs no restart.

            With --now the new key signs as soon as the running server sees it, within a
            minute: an API that keeps the keys, and does not fetch them again for one that
            it does not know refuses tokens until it does.

            With --withdraw the former keys are taken away besides: every token that they
            signed is refused from then on, and applications have to refresh. That is for a
            key that has leaked.

            Example:
              counterfoil-server key rotate --algorithm ES256 --data-dir ./data

            USAGE: counterfoil-server key rotate [--algorithm <algorithm>] [--now] [--withdraw] --data-dir \#
            <data-dir> [--json]

            OPTIONS:
              --algorithm <algorithm> Only the key for this algorithm. (values: ES256,
                                      RS256, EdDSA)
              --now                   Sign with the new key at once.
              --withdraw              Sign with the new key at once, and refuse what the
                                      former ones signed.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let audit = HelpText(
        command: ["audit"],
        text: #"""
            OVERVIEW: The audit log: who did what to which application, from where, and how
            it ended.

            Events are never changed, and hold no secret. The server deletes an event when
            its retention has ended (serve --audit-retention); export it before, if it must
            be kept for longer. Only the beginning of the log can be deleted, and each
            deletion is an event.

            Without a subcommand, the events are listed.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data

            USAGE: counterfoil-server audit <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              list (default)          List events, newest first.
              export                  Write the events from before a time as JSON lines,
                                      oldest first.
              delete                  Delete the oldest events, up to one by its number.

              See 'counterfoil-server help audit <subcommand>' for detailed help.

            """#)

    private static let auditList = HelpText(
        command: ["audit", "list"],
        text: #"""
            OVERVIEW: List events, newest first.

            Examples:
              counterfoil-server audit list --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit list --client CLIENT_ID --since 2027-01-31 \
                --json --data-dir ./data

            USAGE: counterfoil-server audit list [--kind <kind>] [--person <name>] [--client <id>] [--since <time>] \#
            [--before <number>] [--limit <n>] --data-dir <data-dir> [--json]

            OPTIONS:
              --kind <kind>           Only events of this kind. (values: sign-in, sign-out,
                                      password-change, consent, pkce-exception,
                                      challenge-reuse, code-redemption, refresh-repeat,
                                      refresh-reuse, revocation, client-authentication,
                                      throttled, application, machine-access,
                                      application-secret, account, signing-key, setting,
                                      audit-removal)
              --person <name>         Only what concerns this person, by user name.
              --client <id>           Only what concerns this application, by client_id.
              --since <time>          Only from this moment on: 2027-01-31 or
                                      2027-01-31T09:30:00Z.
              --before <number>       Only what was noted before the event of this number,
                                      which --json shows.
              --limit <n>             How many at most, 1 to 1000. (default: 100)
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let auditExport = HelpText(
        command: ["audit", "export"],
        text: #"""
            OVERVIEW: Write the events from before a time as JSON lines, oldest first.

            Every event up to the first one from that time on is written, one JSON object a
            line, without a gap in their numbers. The numbers are printed on standard
            error; with them, "audit delete" deletes what was exported.

            Example:
              counterfoil-server audit export --before 2027-01-01 --data-dir ./data

            USAGE: counterfoil-server audit export --before <time> [--output <file>] --data-dir <data-dir>

            OPTIONS:
              --before <time>         The time of the first event that is not written:
                                      2027-01-31 or 2027-01-31T09:30:00Z.
              --output <file>         The file to write, which must not exist. (default:
                                      standard output)
              --data-dir <data-dir>   The data directory.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let auditDelete = HelpText(
        command: ["audit", "delete"],
        text: #"""
            OVERVIEW: Delete the oldest events, up to one by its number.

            Export them first: nothing brings them back. "audit export" prints the number.
            The deletion itself is recorded as an event.

            Example:
              counterfoil-server audit delete --through 1234 --data-dir ./data

            USAGE: counterfoil-server audit delete --through <number> --data-dir <data-dir> [--json]

            OPTIONS:
              --through <number>      The number of the last event that is deleted.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
