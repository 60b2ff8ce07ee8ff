import ArgumentParser
import CounterfoilServer
import Foundation

struct RegistrationTokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the tokens, oldest first.",
        discussion: "Example:\n  counterfoil-server registration-token list --data-dir ./data"
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let tokens = try await server.items(of: "/registration-tokens")
            if options.json { return try Output.json(tokens) }
            if tokens.isEmpty {
                return Output.line("There is no token. See: counterfoil-server registration-token add --help")
            }
            for token in tokens {
                let end = (token.integer("expires_at") ?? 0) > Int(Date().timeIntervalSince1970) ? "expires" : "expired"
                Output.line(
                    "\(token.shown("id"))  \(end) \(token.moment("expires_at"))  "
                        + "\(DisplayName(token.text("name") ?? ""))")
            }
        }
    }
}
