import ArgumentParser
import CounterfoilServer

struct KeyWithdraw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Delete one signing key, and refuse every token that it signed.",
        discussion: """
            The key is in no key set from then on, and every process that uses the database refuses its tokens. An API \
            that caches the key set accepts them until its next fetch. Clients must refresh. Use it if the key has \
            leaked.

            A key that signs, or will sign next, is replaced first: its successor signs immediately, in every process \
            that uses the database.

            Example:
              counterfoil-server key withdraw 5zXqk0eM --data-dir ./data
            """
    )

    @Argument(help: "The key identifier as printed by list, or its first 4 characters or more.")
    var id: String

    @OptionGroup var options: OperationOptions

    /// The output of the command.
    private struct Report: Encodable {
        let withdrawn: AdministrationRecord
        /// The key that signs in its place; nil if another one did already.
        let successor: AdministrationRecord?
    }

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The identifier must have at least the first 4 characters that list prints.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let former = try await server.signingKeys()
            let (id, key) = try chosen(among: former)
            guard try await server.withdrawSigningKey(id) else {
                throw CommandFailure.temporary("another command has just deleted this key")
            }
            let known = Set(former.compactMap { $0.text("kid") })
            // The key can have signed the access token of this command, which then reads nothing more.
            let left = try? await server.signingKeys()
            let successor = left?.last {
                $0.text("algorithm") == key.text("algorithm") && !known.contains($0.text("kid") ?? "")
            }
            if options.json { return try Output.json(Report(withdrawn: key, successor: successor)) }
            Output.line("Withdrew the key \(KeyOutput.line(key)).")
            if left == nil {
                Output.note("note: the key that signs now could not be read; see it with: counterfoil-server key list")
            }
            if let successor { Output.line("The new key signs: \(KeyOutput.line(successor))") }
            if let seconds = key.integer("access_token_seconds"), seconds > 0 {
                Output.note(
                    "Access tokens that would have been valid for up to \(seconds) seconds more are refused now. Clients "
                        + "must refresh.")
            }
        }
    }

    private func chosen(among keys: [AdministrationRecord]) throws -> (id: String, key: AdministrationRecord) {
        let chosen = keys.compactMap { key in key.text("kid").map { (id: $0, key: key) } }
            .filter { $0.id.hasPrefix(id) }
        guard let first = chosen.first else {
            throw CommandFailure.refused(
                "there is no signing key with an identifier that starts with \(EscapedText(id)); see: counterfoil-server "
                    + "key list")
        }
        guard chosen.count == 1 else {
            throw CommandFailure.refused(
                "more than one signing key has an identifier that starts with \(EscapedText(id)); give more characters")
        }
        return first
    }
}
