import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

struct UserInvite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite a person to create an account.",
        discussion: """
            The command prints a link with which one person creates one account, with a user name and a password of \
            their choice. Anyone who has the link can use it, so give it only to that person. It is shown once, and \
            needs --sign-up invited or open of serve.

            With --email, the account gets this address. If the server sends email, the link is sent there and not \
            printed, and its use verifies the address.

            Examples:
              counterfoil-server user invite --email ada@example.com --data-dir ./data
              counterfoil-server user invite --role support --days 1 --data-dir ./data
            """
    )

    @Option(name: .long, help: "The email address of the account.")
    var email: String?

    @Option(name: .long, help: "The role of the user in the administration of this server.")
    var role: UserRole?

    @Option(name: .long, help: ArgumentHelp("The client_id of the app that the page names.", valueName: "client_id"))
    var client: String?

    @Option(name: .long, help: ArgumentHelp("The days until the link expires, 1 to 30.", valueName: "days"))
    var days = Invitations.standardDays

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The language of the email: \(Language.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "language"))
    var language = Language.standard.rawValue

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard email.map({ EmailAddress($0) != nil }) ?? true else {
            throw ValidationError("--email: \(email ?? "") is not a valid email address.")
        }
        guard (1...30).contains(days) else { throw ValidationError("--days must be 1 to 30.") }
        guard Language(rawValue: language) != nil else {
            throw ValidationError(
                "--language must be one of \(Language.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
    }

    func run() async throws {
        var members: [String: JSONValue] = ["days": .integer(Int64(days)), "language": .string(language)]
        if let email { members["email"] = .string(email) }
        if let role { members["role"] = .string(role.rawValue) }
        if let client { members["client_id"] = .string(client) }
        try await options.withServer { server in
            let invitation = try await server.create("/invitations", members).record(
                options: ["email": "--email", "role": "--role", "client_id": "--client"],
                refusals: [
                    "email-taken": .refused("a user has the email address \(email ?? "") already"),
                    "no-client": .noClient(client ?? ""),
                ])
            if options.json { return try Output.json(invitation) }
            let shown: String
            if let link = invitation.text("link") {
                Output.line("\(EscapedText(link, limit: 3000))")
                shown = "The link is shown only once."
            } else {
                shown = "The link is sent to \(email ?? "") and not shown here, because its use verifies the address."
            }
            Output.note(
                "\(shown) It expires at \(DisplayName(invitation.text("expires_at") ?? "")); to withdraw it earlier, "
                    + "run: counterfoil-server user withdraw \(EscapedText(invitation.text("id") ?? ""))")
        }
    }
}
