import ArgumentParser
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let matches = try await options.withInstallation(creating: false) { installation in
            let client = try await installation.client(argument.clientID)
            let verdict = RedirectURIMatching.verdict(
                on: uri, of: client, asksForOpenID: false, issuer: installation.issuer,
                callbackOrigin: installation.callbackOrigin,
                allowsDevelopment: installation.allowsDevelopmentRedirectURIs)
            return try report(verdict, of: client)
        }
        guard matches else { throw ExitCode(CommandExit.found) }
    }

    private func report(_ verdict: RedirectURIMatching.MatchVerdict, of client: RegisteredClient) throws -> Bool {
        let document = RedirectURICheckDocument(verdict, on: uri, of: client)
        if options.json {
            try Output.json(document)
        } else if let registered = document.registered {
            Output.line("matches \(registered)")
        } else {
            var lines = ["does not match: \(document.reason ?? "")"]
            if let nearest = document.nearest { lines.append("  nearest registered URI: \(nearest)") }
            lines += (document.differences ?? []).map { "  \($0)" }
            Output.line(lines.joined(separator: "\n"))
        }
        return document.matches
    }
}
