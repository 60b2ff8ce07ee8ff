extension HelpText {
    /// The commands that make and restore copies.
    static let copies = [backup, restore, afterRestore, pruneJournal]

    private static let backup = HelpText(
        command: ["backup"],
        text: #"""
            OVERVIEW: Copy the database while the server runs.

            The copy is one file with the state at one point in time, and a digest by which
            restore recognizes a damaged one. It contains password hashes and personal
            data, but not the server key: copy server.key once, and keep it elsewhere. The
            output - is for programs that encrypt or store the copy.

            For a PostgreSQL database, use its own tools and after-restore.

            Examples:
              counterfoil-server backup --output /backup/counterfoil.copy --data-dir ./data
              counterfoil-server backup --output - --data-dir ./data | \
                age --recipients-file operators.txt >counterfoil.copy.age

            USAGE: counterfoil-server backup --output <file> [--replace] [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>]

            OPTIONS:
              --output <file>         The new file to write, or - for standard output.
              --replace               Replace the file, if it is another copy, when the new
                                      one is complete.
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

    private static let restore = HelpText(
        command: ["restore"],
        text: #"""
            OVERVIEW: Restore a copy into an empty data directory.

            The directory must be empty, except for server.key: put the key of the server
            there first, with mode 0600, or set COUNTERFOIL_SERVER_KEY. The copy is checked
            before anything else, and the database appears in the directory when everything
            is done. Until then, no server starts on it. The command can be repeated if it
            is interrupted.

            A copy knows nothing of what was revoked later. Choose what happens with it:
              --endings-journal ends again what the journal of the server names (serve
            --endings-journal). Name each file that was written since the copy.
              --end-sign-ins ends every session and revokes every token, so users sign in
            again.

            Codes and requests that wait for an answer are never restored.

            Examples:
              counterfoil-server restore counterfoil.copy --data-dir ./data \
                --endings-journal /journal/endings*
              age --decrypt --identity key.txt counterfoil.copy.age | \
                counterfoil-server restore - --data-dir ./data --end-sign-ins

            USAGE: counterfoil-server restore <file> --data-dir <directory> [--endings-journal <file> ...] \#
            [--end-sign-ins] [--config <file>]

            ARGUMENTS:
              <file>                  The copy, or - for standard input.

            OPTIONS:
              --data-dir <directory>  The data directory to make. It is created if it is
                                      missing.
              --endings-journal <file>
                                      The files of the endings journal since the copy. What
                                      they name ends again.
              --end-sign-ins          End every session and revoke every token. Users sign
                                      in again.
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let afterRestore = HelpText(
        command: ["after-restore"],
        text: #"""
            OVERVIEW: Finish a restore that another program has made.

            Run it after a PostgreSQL database was restored, or a data directory from a
            snapshot of the disk or by Litestream, and before a server starts on it.
            Upgrade the tables of a database first, with migrate. The command can be
            repeated if it is interrupted.

            What was revoked after the copy is valid in it. Choose what happens with it:
              --endings-journal ends again what the journal of the server names (serve
            --endings-journal). Name each file that was written since the copy.
              --end-sign-ins ends every session and revokes every token, so users sign in
            again.

            Codes and requests that wait for an answer are ended in any case.

            Examples:
              counterfoil-server after-restore --data-dir ./data \
                --endings-journal /journal/endings*
              counterfoil-server after-restore --end-sign-ins \
                --database postgresql://counterfoil@db.example.com/counterfoil

            USAGE: counterfoil-server after-restore [--endings-journal <file> ...] [--end-sign-ins] \#
            [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] [--config <file>]

            OPTIONS:
              --endings-journal <file>
                                      The files of the endings journal since the copy. What
                                      they name ends again.
              --end-sign-ins          End every session and revoke every token. Users sign
                                      in again.
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

    private static let pruneJournal = HelpText(
        command: ["prune-journal"],
        text: #"""
            OVERVIEW: Delete the former files of an endings journal that no backup needs.

            The server renames a full journal to FILE.NUMBER, and deletes none. A restore
            needs what ended after its backup. So a file can go when each backup that is
            kept, here or elsewhere, was made after its last line.

            --keep names each kept copy of a data directory, and compares the numbers of
            the endings. --before is for backups of a PostgreSQL database: the time at
            which the oldest kept one began. A file stays if it ends less than an hour
            before. The current file always stays.

            Examples:
              counterfoil-server prune-journal /var/lib/counterfoil-journal/endings \
                --keep /var/backups/counterfoil/*.backup
              counterfoil-server prune-journal /srv/journal/endings --before 2026-11-30

            The exit code is 3 if something named cannot be read. No file is then deleted.

            USAGE: counterfoil-server prune-journal <file> [--keep <copy> ...] [--before <time>]

            ARGUMENTS:
              <file>                  The path of the journal, as in endings-journal.

            OPTIONS:
              --keep <copy>           The kept copies of the data directory.
              --before <time>         The time at which the oldest kept backup began, or a
                                      day.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
