import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct RegistrationTokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the tokens, oldest first.",
        discussion: "Example:\n  counterfoil-server registration-token list --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let tokens = try await installation.store.initialAccessTokens()
            if options.json { return try Output.json(tokens.map { RegistrationTokenDocument($0) }) }
            if tokens.isEmpty {
                return Output.line("There is no token. See: counterfoil-server registration-token add --help")
            }
            for token in tokens {
                let end = token.expiresAt > installation.store.now() ? "expires" : "expired"
                Output.line("\(token.shortID)  \(end) \(Moment.text(token.expiresAt))  \(DisplayName(token.name))")
            }
        }
    }
}
