import ArgumentParser

struct UserInvitations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitations",
        abstract: "List the invitations that are not used, oldest first.",
        discussion: "Example:\n  counterfoil-server user invitations --data-dir ./data"
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let invitations = try await server.items(of: "/invitations")
            if options.json { return try Output.json(invitations) }
            if invitations.isEmpty {
                return Output.line("There is no invitation. See: counterfoil-server user invite --help")
            }
            for invitation in invitations { Output.line(InvitationOutput(invitation).line) }
        }
    }
}
