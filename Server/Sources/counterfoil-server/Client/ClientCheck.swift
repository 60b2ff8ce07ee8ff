import ArgumentParser
import CounterfoilServer
import HTTPTypes

struct ClientCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check whether a redirect URI in a request matches an app.",
        discussion: """
            The server applies the same rule to requests. Exit codes: 0 the URI matches, 1 it does not.

            Example:
              counterfoil-server app check CLIENT_ID http://127.0.0.1:51004/callback \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Argument(help: "The redirect_uri that the app sends.")
    var uri: String

    @OptionGroup var options: OperationOptions

    func run() async throws {
        let matches = try await options.withServer { server in
            let query = "?redirect_uri=" + AdministrationOperation.segment(uri)
            let answer = try await server.change(.get, argument.path + "/redirect-uri" + query)
            return try report(try await server.record(of: argument, in: answer))
        }
        guard matches else { throw ExitCode(CommandExit.found) }
    }

    private func report(_ verdict: AdministrationRecord) throws -> Bool {
        let matches = verdict.flag("matches")
        if options.json {
            try Output.json(verdict)
        } else if matches {
            Output.line("matches \(verdict.text("registered") ?? "")".visible)
        } else {
            var lines = ["does not match: \(verdict.text("reason") ?? "")"]
            if let nearest = verdict.text("nearest") { lines.append("  nearest registered URI: \(nearest)") }
            lines += verdict.texts("differences").map { "  \($0)" }
            Output.line(lines.map(\.visible).joined(separator: "\n"))
        }
        return matches
    }
}
