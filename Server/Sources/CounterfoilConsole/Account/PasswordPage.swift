import CounterfoilServer

/// The forms for the password; they post `current_password`, `new_password`, `decision` and `ticket`.
///
/// `decision` is missing for a change, `add` for a user without a password, and `remove`.
package struct PasswordPage: ConsolePage, Hashable {
    package static let template = "password"

    package var console: ConsoleHead
    package var problems: [FormProblem]
    package var paths: AccountPaths
    /// The username, for password managers.
    package var username: String
    /// Whether the user has a password.
    package var hasPassword: Bool
    /// Whether enough passkeys are left to remove the password.
    package var canRemove: Bool
    /// The path of the page with the passkeys; nil if the server has none.
    package var passkeys: String?
    /// The field for the current password; a response never contains the typed value.
    package var current: FormField
    /// The field for the new password; a response never contains the typed value.
    package var new: FormField
    package var action: String
    /// The anti-CSRF token of the form; the hidden field `ticket`.
    package var ticket: String

    package init(
        console: ConsoleHead, problems: [FormProblem] = [], paths: AccountPaths = AccountPaths(at: .password),
        username: String, hasPassword: Bool = true, canRemove: Bool = false, passkeys: String? = nil, action: String,
        ticket: String
    ) {
        self.console = console
        self.problems = problems
        self.paths = paths
        self.username = username
        self.hasPassword = hasPassword
        self.canRemove = canRemove
        self.passkeys = passkeys
        func field(_ name: String) -> FormField {
            FormField(name, problem: problems.first { $0.field == name }?.text)
        }
        current = field(Self.currentField)
        new = field(Self.newField)
        self.action = action
        self.ticket = ticket
    }

    package static let currentField = "current_password"
    package static let newField = "new_password"
}
