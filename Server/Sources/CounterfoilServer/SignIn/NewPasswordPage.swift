/// The page on which a user sets a new password without a session.
///
/// It posts `password`, `request`, `ticket` and the field of its ``State``, and `code` if ``asksForCode`` is true. With
/// a passkey, the script of the page posts `passkey` in place of `password`; with ``keyOptions``, in place of `code`.
package struct NewPasswordPage: Page, Hashable {
    package static let template = "new-password"

    /// The reason for which the user may set a password.
    package enum State: Sendable, Hashable {
        /// The secret of a one-time link; the hidden field `token`.
        case link(String)
        /// An encrypted sign-in; the hidden field `pending`.
        case pending(String)
    }

    /// The fields of the form whose values the server can reject.
    package enum Field: Sendable, Hashable {
        case password
        case code
    }

    package var userDisplayName: DisplayName
    /// The username, for password managers.
    package var username: String
    /// The path that the form posts to.
    package var action: String
    package var request: String
    package var ticket: String
    package var state: State
    /// Whether the user also proves the second factor.
    package var asksForCode: Bool
    /// Whether the code can be one of an authenticator app; if not, it is a recovery code.
    package var hasApp = true
    /// The options in JSON with which the script proves the second factor of a user without an app (WebAuthn §5.1.9);
    /// nil for another user.
    package var keyOptions: String?
    /// The label of the button that does so.
    package var keyLabel: String?
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    /// The field that ``problem`` is about.
    package var wrongField = Field.password
    package var retryAfterSeconds: Int?
    /// The options in JSON with which the script adds a passkey in place of a password (WebAuthn §5.1.8); nil if the
    /// page offers none.
    package var passkeyOptions: String?

    package init(
        userDisplayName: DisplayName, username: String, action: String, request: String, ticket: String, state: State,
        asksForCode: Bool = false
    ) {
        self.userDisplayName = userDisplayName
        self.username = username
        self.action = action
        self.request = request
        self.ticket = ticket
        self.state = state
        self.asksForCode = asksForCode
    }

    package var script: PageScript? { passkeyOptions == nil && keyOptions == nil ? nil : .passkeys }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        var (token, pending): (String?, String?)
        switch state {
        case .link(let secret): token = secret
        case .pending(let sealed): pending = sealed
        }
        return [
            "token": token, "pending": pending, "isPasswordWrong": problem != nil && wrongField == .password,
            "isCodeWrong": problem != nil && wrongField == .code,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}
