import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer

struct AppCheck: AsyncParsableCommand {
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

    @OptionGroup var app: AppArgument

    @Argument(help: "The redirect_uri that the app sends.")
    var uri: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let matches = try await options.withDirectory(creating: false) { directory in
            let client = try await directory.client(app.clientID)
            let verdict = RedirectURIMatching.verdict(
                on: uri, of: client, asksForOpenID: false, issuer: directory.issuer,
                callbackOrigin: directory.callbackOrigin)
            return try report(verdict)
        }
        guard matches else { throw ExitCode(1) }
    }

    private func report(_ verdict: RedirectURIMatching.MatchVerdict) throws -> Bool {
        switch verdict {
        case .matches(let match):
            if options.json {
                try Output.json(Answer(matches: true, registered: match.registered.rawValue, reason: nil))
            } else {
                Output.line("matches \(match.registered)")
            }
            return true
        case .refused(let refusal):
            let reason = Localizer.english(refusal.text)
            if options.json {
                try Output.json(Answer(matches: false, registered: nil, reason: reason))
            } else {
                Output.line("does not match: \(reason)")
            }
            return false
        }
    }

    private struct Answer: Encodable {
        let matches: Bool
        let registered: String?
        let reason: String?
    }
}
