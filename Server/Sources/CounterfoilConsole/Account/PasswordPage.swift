package import CounterfoilServer

/// The forms for the password; they post `current_password`, `new_password`, `decision` and `ticket`.
///
/// `decision` is missing for a change, `add` for a user without a password, and `remove`. With `remove-identity`,
/// `identity` is ``IdentityList/Row/removal``.
package struct PasswordPage: ConsolePage, Hashable {
    package static let template = "password"

    /// The identities of the user at the page of the owner.
    package struct IdentityList: Sendable, Hashable {
        package struct Row: Sendable, Hashable {
            /// The name of the page.
            package var name: DisplayName
            package var added: String
            /// The time of the last sign-in with it, in words; nil if there was none.
            package var lastUsed: String?
            /// The identifier of the identity; nil if it cannot be removed.
            package var removal: String?

            package init(name: DisplayName, added: String, lastUsed: String? = nil, removal: String? = nil) {
                self.name = name
                self.added = added
                self.lastUsed = lastUsed
                self.removal = removal
            }
        }

        package var rows: [Row]
        /// Whether enough other ways in are left to remove one.
        package var canRemove: Bool

        package init(rows: [Row], canRemove: Bool) {
            self.rows = rows
            self.canRemove = canRemove
        }
    }

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
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
    /// The identities of the user at the page of the owner; nil for none.
    package var identities: IdentityList?

    package init(
        console: ConsoleHead, notice: String? = nil, problems: [FormProblem] = [],
        paths: AccountPaths = AccountPaths(at: .password),
        username: String, hasPassword: Bool = true, canRemove: Bool = false, passkeys: String? = nil, action: String,
        ticket: String, identities: IdentityList? = nil
    ) {
        self.console = console
        self.notice = notice
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
        self.identities = identities
    }

    package static let currentField = "current_password"
    package static let newField = "new_password"
    package static let identityField = "identity"
}
