import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens

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

    @OptionGroup var options: AdministrationOptions

    /// The output of the command.
    private struct Report: Encodable {
        let withdrawn: KeyDocument
        /// The key that signs in its place; nil if another one did already.
        let successor: KeyDocument?
    }

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The identifier must have at least the first 4 characters that list prints.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let administration = installation.administration
            let use = try chosen(among: try await installation.signingKeyUses(at: administration.time))
            let outcome: KeyWithdrawal
            do { outcome = try await administration.withdraw(use.key.id) } catch let refusal as KeyRing.Refusal {
                throw CommandFailure.refused("\(refusal)")
            }
            guard case .withdrawn(let successor) = outcome else {
                if outcome == .changedMeanwhile { throw CommandFailure.rotatedMeanwhile(use.key.algorithm) }
                throw CommandFailure.temporary("another command has just deleted this key")
            }
            let uses = try await installation.signingKeyUses(at: administration.time)
            let next = uses.first { $0.key.id == successor?.id }.map(KeyDocument.init)
            let document = KeyDocument(use)
            if options.json { return try Output.json(Report(withdrawn: document, successor: next)) }
            Output.line("Withdrew the key \(document.words).")
            if let next { Output.line("The new key signs: \(next.words)") }
            if use.accessTokenSeconds > 0 {
                Output.note(
                    "Access tokens that would have been valid for up to \(use.accessTokenSeconds) seconds more are refused "
                        + "now. Clients must refresh.")
            }
        }
    }

    private func chosen(among uses: [SigningKeyUse]) throws -> SigningKeyUse {
        let chosen = uses.filter { $0.key.id.rawValue.hasPrefix(id) }
        guard let use = chosen.first else {
            throw CommandFailure.refused(
                "there is no signing key with an identifier that starts with \(id); see: counterfoil-server key list")
        }
        guard chosen.count == 1 else {
            throw CommandFailure.refused(
                "more than one signing key has an identifier that starts with \(id); give more characters")
        }
        return use
    }
}
