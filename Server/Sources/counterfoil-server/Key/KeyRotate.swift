public import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
public import CounterfoilTokens
import Foundation

struct KeyRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Rotate the signing key of one algorithm, or of all.",
        discussion: """
            The server rotates keys by itself at the age set with serve --key-lifetime. The new key is published \
            immediately and signs after 15 minutes, so that APIs and clients can fetch it. The previous key stays \
            published until all tokens that it signed have expired. No token is refused, and no restart is needed.

            With --now, the new key signs from the next request on, in every process that uses the database. An API \
            that caches the keys and does not fetch them again for an unknown key refuses new tokens until its next \
            fetch.

            With --withdraw, the new key signs in the same way, and the previous keys are deleted. Every token \
            that they signed is refused from then on, and clients must refresh. Use it if all keys have leaked; key \
            withdraw deletes one of them.

            Example:
              counterfoil-server key rotate --algorithm ES256 --data-dir ./data
            """
    )

    @Option(name: .long, help: "Rotate only the key of this algorithm.")
    var algorithm: SigningAlgorithm?

    @Flag(name: .long, help: "Sign with the new key immediately.")
    var now = false

    @Flag(name: .long, help: "Sign with the new key immediately, and delete the previous keys.")
    var withdraw = false

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let administration = installation.administration
            var made: [SealedSigningKey] = []
            let known = try await installation.store.signingKeys()
            let kept = KeyRing.algorithms.filter { algorithm in
                KeyRing.algorithmsFromStart.contains(algorithm) || known.contains { $0.algorithm == algorithm }
            }
            for algorithm in algorithm.map({ [$0] }) ?? kept {
                let key: SealedSigningKey?
                do {
                    key = try await administration.rotate(algorithm, now || withdraw ? .atOnce : .afterNotice)
                } catch let refusal as KeyRing.Refusal {
                    throw CommandFailure.refused("\(refusal)")
                }
                guard let key else { throw CommandFailure.rotatedMeanwhile(algorithm) }
                if withdraw {
                    for key in known where key.algorithm == algorithm { _ = try await administration.withdraw(key.id) }
                }
                made.append(key)
            }
            let uses = try await installation.signingKeyUses(at: administration.time)
            let documents = uses.filter { use in made.contains { $0.id == use.key.id } }.map(KeyDocument.init)
            if options.json { return try Output.json(documents) }
            for key in documents { Output.line(key.words) }
            guard !now, !withdraw, let first = documents.first else { return }
            Output.note("The new keys are published now and sign tokens from \(first.signsFrom).")
        }
    }
}

extension CommandFailure {
    static func rotatedMeanwhile(_ algorithm: SigningAlgorithm) -> CommandFailure {
        .temporary("another command has just rotated the key of \(algorithm); see: counterfoil-server key list")
    }
}

extension SigningAlgorithm: @retroactive ExpressibleByArgument {
    /// Parses the JOSE name of an algorithm, such as `ES256`; returns nil for any other text.
    public init?(argument: String) { self.init(rawValue: argument) }
}
