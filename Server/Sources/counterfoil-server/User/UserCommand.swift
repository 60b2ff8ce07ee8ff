import ArgumentParser

/// The command group `user`, which manages user accounts.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage the users who can sign in.",
        subcommands: [
            UserCreate.self, UserEdit.self, UserList.self, UserShow.self, UserClaimsCommand.self, UserDisable.self,
            UserEnable.self,
            UserPassword.self, UserLinkCommand.self, UserResetSecondFactor.self, UserImport.self, UserExport.self,
            UserDelete.self,
            UserInvite.self, UserInvitations.self, UserWithdraw.self,
        ]
    )
}
