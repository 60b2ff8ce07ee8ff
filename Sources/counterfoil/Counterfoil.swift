import ArgumentParser

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

            \(ExitStatus.help)
            """,
        version: "0.1.0",
        subcommands: [Login.self, Token.self, Call.self, Logout.self]
    )

    static func main() async {
        CoreDumps.forbid()
        await main(nil)
    }
}
