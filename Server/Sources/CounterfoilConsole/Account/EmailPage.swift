import CounterfoilServer

/// The email address of a user, and the forms that verify and change it; they post `decision`, `ticket`, `token` and
/// `email`.
///
/// `decision` is `send`, to get a mail with a link, `change`, to get one at the new address in the field `email`, or
/// `verify`, after the link was followed.
package struct EmailPage: ConsolePage, Hashable {
    package static let template = "email"
    package static let field = "email"

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var paths: AccountPaths = AccountPaths(at: .email)
    /// The address; nil if the account has none.
    package var email: String?
    package var isVerified: Bool
    /// The secret of the followed link; nil if the page was opened without one.
    package var token: String?
    /// The address that becomes the user's by the followed link; nil if the link changes no address.
    package var newEmail: String?
    /// The field `email` for a new address.
    package var address = FormField(EmailPage.field)
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String
}
