import ArgumentParser
import CounterfoilClient
import Foundation

/// The program `counterfoil`, with a subcommand for each task of a client.
@main
struct Counterfoil: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Sign in through the browser, store the token, and call APIs with it.",
        discussion: """
            Examples:
              counterfoil login https://id.example.com --client-id lightbox --scope openid
              counterfoil call https://photos.example.com/photos

            To enable completion in bash (or in zsh or fish, with their names instead):
              source <(counterfoil --generate-completion-script bash)

            \(ExitStatus.help)
            """,
        version: "0.1.0",
        subcommands: [
            Login.self, Token.self, Call.self, Whoami.self, Logout.self, Doctor.self, Profiles.self,
        ]
    )

    static func main() async {
        CoreDumps.forbid()
        // For a redirect URI with a private-use scheme, the desktop starts a second process of this program, with the
        // callback URL as an argument. That process only passes the URL to the process that waits for it. The URL
        // contains the code, so deliver it before any other part of the program reads the arguments.
        if let outcome = RedirectHandoff.deliver() {
            CommandOutput(writesJSON: false, isVerbose: false).say(outcome.description)
            Foundation.exit(outcome.exitCode)
        }
        await main(nil)
    }
}
