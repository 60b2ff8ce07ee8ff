package import CounterfoilServer

/// The search for users, in the order of their usernames.
package struct UsersPage: ConsolePage, Hashable {
    package static let template = "users"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var paths: AdministrationPaths
    /// The field `search`: the beginning of a username, an email address or a display name, or an identifier.
    package var search: FormField
    /// The field `state`.
    package var state: FormChoices
    /// The field `role`.
    package var role: FormChoices
    /// The field `signed_in`: never, or before or since ``day``.
    package var signedIn: FormChoices
    /// The field `day`, in UTC.
    package var day: FormField
    /// The box `no_second_factor`.
    package var noSecondFactor: FormCheck
    /// The box `no_passkey`.
    package var noPasskey: FormCheck
    /// The path that the form sends a GET request to.
    package var action: String
    /// The path of the form that adds a user.
    package var newPath: String
    /// The path of the invitations.
    package var invitationsPath: String
    /// Whether the filters are shown, because one of them is set.
    package var isFiltered: Bool
    /// The number of users, in words; nil on a later page, and if it is not known.
    package var count: String?
    /// The sentence about users whom the search left out; nil if it left out none.
    package var remark: String?
    package var rows: [Row]
    /// The URL of the page with the next users; nil if there are none.
    package var next: String?

    package struct Row: Sendable, Hashable {
        /// The path of the account.
        package var path: String
        package var name: DisplayName
        package var username: String
        package var email: String?
        package var isEmailVerified: Bool
        /// The name of the role; nil for none.
        package var role: String?
        package var isDisabled: Bool
        /// The time of the last sign-in, in words; nil if there was none.
        package var lastSignIn: String?
        /// The password, the second factor and the number of passkeys, in words; nil if there is none of them.
        package var ways: String?
    }
}

/// The form that adds a user.
package struct NewUserPage: ConsolePage, Hashable {
    package static let template = "new-user"

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The path of the search for users.
    package var listPath: String
    package var username: FormField
    package var displayName: FormField
    package var email: FormField
    package var emailVerified: FormCheck
    /// The field `role`; nil if the signed-in user may give none.
    package var role: FormChoices?
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
