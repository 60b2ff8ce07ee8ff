/// A new password; it posts `current_password`, `new_password` and `ticket`.
public struct PasswordPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// What has to be looked at again.
    public var problems: [FormProblem]
    /// Where the pages of the account lie.
    public var paths: AccountPaths
    /// Whose password it is, for the programs that keep passwords.
    public var username: String
    /// The password that counts now; what was typed never comes back.
    public var current: FormField
    /// The one that shall count; what was typed never comes back.
    public var new: FormField
    /// The path that the form posts to.
    public var action: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String

    /// Makes the page.
    public init(
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
    public static let currentField = "current_password"
    /// The field of the one that shall count.
    public static let newField = "new_password"
}
