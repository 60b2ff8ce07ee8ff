import ArgumentParser
import CounterfoilServer
import HTTPTypes

struct UserWithdraw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Withdraw an invitation.",
        discussion: """
            Its link no longer works. An account that was created with it stays.

            Example:
              counterfoil-server user withdraw 3f9a1c04b7de --data-dir ./data
            """
    )

    @Argument(help: "The id of the invitation as printed by invitations, or its first 4 digits or more.")
    var id: String

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The id must have at least the first 4 digits that invitations prints.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let chosen = try await server.items(of: "/invitations").filter {
                $0.text("id")?.hasPrefix(id.lowercased()) == true
            }
            guard let invitation = chosen.first, let found = invitation.text("id") else {
                throw CommandFailure.refused(
                    "there is no invitation with an id that starts with \(id); see: counterfoil-server user invitations"
                )
            }
            guard chosen.count == 1 else {
                throw CommandFailure.refused(
                    "more than one invitation has an id that starts with \(id); give more digits")
            }
            try await server.change(.delete, "/invitations/" + AdministrationOperation.segment(found))
                .accepted(missing: .temporary("the invitation was just used or withdrawn"))
            if options.json { return try Output.json(invitation) }
            Output.line("Withdrew the invitation \(EscapedText(found)).")
        }
    }
}
