import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// The command `user link`; the record of the link is a `UserLink`.
struct UserLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Print a one-time link by which a user sets a new password.",
        discussion: """
            Use it for a user who cannot sign in. Make sure that the request comes from the user, and send the link \
            over a channel that others do not read. Who has the link has the account, unless the user has a second \
            factor: the link asks for its code, too.

            The link works once, in any browser. A newer link replaces it, and it ends with each new password. When \
            it is used, all sessions of the user end. You do not learn the password.

            Example:
              counterfoil-server user link alice --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(name: .long, help: ArgumentHelp("The hours until the link expires, 1 to 168.", valueName: "hours"))
    var hours = 24

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard UserAdministration.linkHours.contains(hours) else {
            throw ValidationError("--hours must be 1 to \(UserAdministration.linkHours.upperBound).")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let user = try await server.user(argument)
            let link = try await server.create(user.userPath + "/password-link", ["hours": .integer(Int64(hours))])
                .record(missing: argument.notFound, refusals: ["user-disabled": .disabled(user.username)])
            if options.json { return try Output.json(link) }
            Output.line("\(EscapedText(link.text("url") ?? "", limit: 3000))")
            Output.note(
                "The link is shown only once. It works once, until \(DisplayName(link.text("expires_at") ?? "")), and "
                    + "ends all sessions of \(user.username) when it is used.")
        }
    }
}
