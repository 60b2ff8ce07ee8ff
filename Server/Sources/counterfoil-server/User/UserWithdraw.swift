import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard id.utf8.count >= 4 else {
            throw ValidationError("The id must have at least the first 4 digits that invitations prints.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let chosen = try await installation.store.invitations().filter { $0.shortID.hasPrefix(id.lowercased()) }
            guard let invitation = chosen.first else {
                throw CommandFailure.refused(
                    "there is no invitation with an id that starts with \(id); see: counterfoil-server user invitations"
                )
            }
            guard chosen.count == 1 else {
                throw CommandFailure.refused(
                    "more than one invitation has an id that starts with \(id); give more digits")
            }
            let isWithdrawn = try await installation.store.withdraw(invitation) {
                installation.event(.account, detail: $0)
            }
            guard isWithdrawn else {
                throw CommandFailure.temporary("the invitation was just used or withdrawn")
            }
            if options.json { return try Output.json(InvitationDocument(invitation)) }
            Output.line("Withdrew the invitation \(invitation.shortID).")
        }
    }
}
