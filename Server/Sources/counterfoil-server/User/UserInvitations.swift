import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserInvitations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitations",
        abstract: "List the invitations that are not used, oldest first.",
        discussion: "Example:\n  counterfoil-server user invitations --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let invitations = try await installation.store.invitations()
            if options.json { return try Output.json(invitations.map { InvitationDocument($0) }) }
            if invitations.isEmpty {
                return Output.line("There is no invitation. See: counterfoil-server user invite --help")
            }
            let now = installation.store.now()
            for invitation in invitations { Output.line(InvitationDocument(invitation).line(at: now)) }
        }
    }
}
