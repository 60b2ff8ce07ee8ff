import ArgumentParser
import CounterfoilServer

struct UserImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the users of another server, with their identifiers and password hashes.",
        discussion: """
            Each line of the file is a user, as a JSON object: username, and if they are known sub, name, email, \
            email_verified, profile, groups, attributes, identities, role, disabled, external_id, created_at, \
            password_hash and must_change_password. The documentation has the forms of the hashes: \
            docs/guide/move-users.md.

            A line that is refused is named, and the others are imported. An import that was interrupted can be \
            started again with the same file: users who exist already are counted, and not changed. If a line was \
            refused, the exit code is 3.

            Examples:
              counterfoil-server user import users.jsonl --dry-run --data-dir ./data
              counterfoil-server user import users.jsonl --token-file token.txt \\
                --remote https://id.example.com
            """
    )

    @Argument(help: "The file with one JSON object on each line, or - for standard input.")
    var file: String

    @Flag(name: .long, help: "Check every line, and add no user.")
    var dryRun = false

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard file != "-" || options.remote.tokenFile != "-" else {
            throw ValidationError("Standard input can be the file or the token. Name a file for one of them.")
        }
    }

    func run() async throws {
        var lines = try LineReader(at: file)
        try await options.withServer(creating: !dryRun) { server in
            var importer = UserImporter(server, isTrial: dryRun, printsJSON: options.json)
            do {
                while let line = try lines.next() { try await importer.add(line) }
                try await importer.send()
            } catch {
                Output.note(
                    "The import stopped before line \(importer.firstUnsent). The lines before it are done. Start the "
                        + "command again with the same file.")
                throw error
            }
            try importer.finish()
        }
    }
}
