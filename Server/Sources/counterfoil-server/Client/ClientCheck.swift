import ArgumentParser
import CounterfoilProtocol
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
        switch verdict {
        case .matches(let match):
            if options.json {
                try Output.json(Answer(matches: true, registered: match.registered.rawValue))
            } else {
                Output.line("matches \(match.registered)")
            }
            return true
        case .refused(let refusal):
            let reason = Localizer.english(refusal.text)
            let nearest = refusal.nearest(to: uri, of: client)
            let differences = nearest?.differences.map { Localizer.english($0) }
            if options.json {
                try Output.json(
                    Answer(
                        matches: false, reason: reason, nearest: nearest?.registered.rawValue, differences: differences
                    ))
            } else {
                var lines = ["does not match: \(reason)"]
                if let nearest { lines.append("  nearest registered URI: \(nearest.registered)") }
                lines += (differences ?? []).map { "  \($0)" }
                Output.line(lines.joined(separator: "\n"))
            }
            return false
        }
    }

    private struct Answer: Encodable {
        let matches: Bool
        var registered: String?
        var reason: String?
        var nearest: String?
        var differences: [String]?
    }
}
