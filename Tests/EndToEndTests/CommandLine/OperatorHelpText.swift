extension HelpText {
    /// The commands with which an operator looks after keys and sees what happened.
    static let operators = [key, keyList, keyRotate, audit]

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
            OVERVIEW: Say what happened: who did what to which application, from where, and
            how it ended.

            The newest comes first. Nothing in this log is ever changed, and no secret
            stands in it.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit --client CLIENT_ID --since 2027-01-31 \
                --json --data-dir ./data

            USAGE: counterfoil-server audit [--kind <kind>] [--person <name>] [--client <id>] [--since <time>] \#
            [--before <number>] [--limit <n>] --data-dir <data-dir> [--json]

            OPTIONS:
              --kind <kind>           Only events of this kind. (values: sign-in, sign-out,
                                      password-change, consent, pkce-exception,
                                      challenge-reuse, code-redemption, refresh-repeat,
                                      refresh-reuse, revocation, client-authentication,
                                      throttled, application, machine-access,
                                      application-secret, account, signing-key, setting)
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
}
