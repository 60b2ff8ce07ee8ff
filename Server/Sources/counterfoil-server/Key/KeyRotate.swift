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
            that they signed is refused from then on, and clients must refresh. Use it if a key has leaked.

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
            let moment = installation.store.now()
            let rotation = KeyRotation(installation.store, serverKey: installation.serverKey)
            var made: [KeyDocument] = []
            let known = try await installation.store.signingKeys()
            for algorithm in try await rotation.algorithms(algorithm) {
                let former = known.filter { $0.algorithm == algorithm }
                let beginning = now || withdraw ? KeyRotation.Beginning.atOnce : .afterNotice
                let key: SealedSigningKey?
                do {
                    key = try await rotation.rotate(algorithm, beginning, now: moment) {
                        installation.event(.signingKey, detail: $0)
                    }
                } catch let refusal as KeyRing.Refusal {
                    throw CommandFailure.refused("\(refusal)")
                }
                guard let key else {
                    throw CommandFailure.temporary(
                        "another command has just rotated the key of \(algorithm); see: counterfoil-server key list"
                    )
                }
                if withdraw {
                    for key in former {
                        let event = installation.event(
                            .signingKey, detail: "\(algorithm): withdrew the key \(key.id)")
                        _ = try await installation.store.removeSigningKey(key.id, recording: [event])
                    }
                }
                made.append(KeyDocument(key, now: moment))
            }
            if options.json { return try Output.json(made) }
            for key in made { Output.line(key.words) }
            guard !now, !withdraw, let first = made.first else { return }
            Output.note("The new keys are published now and sign tokens from \(first.signsFrom).")
        }
    }
}

extension SigningAlgorithm: @retroactive ExpressibleByArgument {
    /// Parses the JOSE name of an algorithm, such as `ES256`; returns nil for any other text.
    public init?(argument: String) { self.init(rawValue: argument) }
}
