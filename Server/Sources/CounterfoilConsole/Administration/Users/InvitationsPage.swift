package import CounterfoilServer

/// The form that invites a person, and the invitations that are not used.
package struct InvitationsPage: ConsolePage, Hashable {
    package static let template = "invitations"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    /// The path of the search for users.
    package var listPath: String
    /// Whether the server lets no one create an account, so that an invitation would be of no use.
    package var isClosed: Bool
    /// The link of a new invitation that was not mailed, which is shown once; nil for none.
    package var link: String?
    package var email: FormField
    /// The field `role`; nil if the user may give none.
    package var role: FormChoices?
    /// The field `client` with the client ID of the app that the person is invited to use.
    package var client: FormField
    /// The field `days` until the link expires.
    package var days: FormField
    /// The field `language` of the email; nil if the server sends none.
    package var language: FormChoices?
    /// The invitations, oldest first.
    package var rows: [Row]
    /// The number of all invitations.
    package var count: String
    /// The sentence that further invitations are not shown; nil if all are.
    package var excess: String?
    /// The path that the forms post to.
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String

    package struct Row: Sendable, Hashable {
        /// The identifier of the invitation, as commands and events have it.
        package var id: String
        package var email: String?
        /// Whether the link was sent to the address.
        package var isMailed: Bool
        /// The role of the account; nil for none.
        package var role: String?
        /// The app that the person is invited to use; nil for none.
        package var client: DisplayName?
        package var created: String
        package var expires: String
        package var hasExpired: Bool
        /// Whether the user may withdraw it, because the user may give its role.
        package var isWithdrawable: Bool
    }
}
