import CounterfoilServer

/// A new password; it posts `current_password`, `new_password` and `ticket`.
package struct PasswordPage: ConsolePage, Hashable {
    package static let template = "password"

    /// The head of the page.
    package var console: ConsoleHead
    /// What has to be looked at again.
    package var problems: [FormProblem]
    /// Where the pages of the account lie.
    package var paths: AccountPaths
    /// Whose password it is, for the programs that keep passwords.
    package var username: String
    /// The password that counts now; what was typed never comes back.
    package var current: FormField
    /// The one that shall count; what was typed never comes back.
    package var new: FormField
    /// The path that the form posts to.
    package var action: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    package var ticket: String

    /// Makes the page.
    package init(
        console: ConsoleHead, problems: [FormProblem] = [], paths: AccountPaths = AccountPaths(at: .password),
        username: String, action: String, ticket: String
    ) {
        self.console = console
        self.problems = problems
        self.paths = paths
        self.username = username
        func field(_ name: String) -> FormField {
            FormField(name, problem: problems.first { $0.field == name }?.text)
        }
        current = field(Self.currentField)
        new = field(Self.newField)
        self.action = action
        self.ticket = ticket
    }

    /// The field of the password that counts now.
    package static let currentField = "current_password"
    /// The field of the one that shall count.
    package static let newField = "new_password"
}
