import ArgumentParser
import CounterfoilClient
import Foundation

/// The client's command line.
@main
struct Counterfoil: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Sign in through the browser, keep the token safe, and call the API with it.",
        discussion: """
            Example:
              counterfoil login https://id.example.com --client-id lightbox --scope openid
              counterfoil call https://photos.example.com/photos

            For completion in bash (zsh and fish have scripts of their own under their names):
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
        // The desktop brings an answer to a scheme: nothing else may look at the arguments, in which there is a code.
        if let outcome = RedirectHandoff.deliver() {
            Console(writesJSON: false, isVerbose: false).say(outcome.description)
            Foundation.exit(outcome.exitCode)
        }
        await main(nil)
    }
}
