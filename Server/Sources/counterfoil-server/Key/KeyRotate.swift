public import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) public import CounterfoilTokens

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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let former = try await server.signingKeys()
            var body: [String: JSONValue] = ["now": .boolean(now), "withdraw": .boolean(withdraw)]
            if let algorithm { body["algorithm"] = .string(algorithm.rawValue) }
            let keys = try await server.create(KeyOutput.path + "/rotation", body).record().records("items")
            let rotated = Set(keys.compactMap { $0.text("algorithm") })
            try print(keys)
            // Without an algorithm, the server rotates the others although one has just been rotated.
            let missed = Set(former.compactMap { $0.text("algorithm") }).subtracting(rotated).sorted()
            if algorithm == nil, let missed = missed.first {
                throw CommandFailure.temporary(
                    "another command has just rotated the key of \(DisplayName(missed)); see: counterfoil-server key list"
                )
            }
        }
    }

    private func print(_ keys: [AdministrationRecord]) throws {
        if options.json { return try Output.json(keys) }
        for key in keys { Output.line(KeyOutput.line(key)) }
        guard !now, !withdraw, let first = keys.first?.text("signs_from") else { return }
        Output.note("The new keys are published now and sign tokens from \(DisplayName(first)).")
    }
}

extension SigningAlgorithm: @retroactive ExpressibleByArgument {
    /// Parses the JOSE name of an algorithm, such as `ES256`; returns nil for any other text.
    public init?(argument: String) { self.init(rawValue: argument) }
}
