/// The page on which a user who has forgotten the password asks for a mail, or sets another password with a recovery
/// code.
///
/// It posts `decision`, `name`, `request` and `ticket`, and with a recovery code also `code` and `password`.
package struct RecoveryPage: Page, Hashable {
    package static let template = "recovery"

    /// The values of the field `decision`.
    package enum Decision: String, Sendable, Hashable {
        /// The user comes from a sign-in page.
        case begin
        /// The user asks for a mail with a link.
        case mail
        /// The user has a recovery code.
        case code
    }

    /// The path that the forms post to.
    package var action: String
    /// The path and query at which the sign-in continues; the hidden field `request`.
    package var request: String
    package var ticket: String
    /// The username or email address with which the forms are filled in.
    package var name: String
    /// Whether mail is set up.
    package var offersMail: Bool
    /// Whether users can have recovery codes.
    package var offersCodes: Bool
    /// The form that was posted; nil when the page is shown for the first time.
    package var decision: Decision?
    /// The error, in one sentence, when the page is shown again.
    package var problem: String?
    package var retryAfterSeconds: Int?
    /// Whether the error is about the new password.
    package var isPasswordWrong = false

    package init(
        action: String, request: String, ticket: String, name: String = "", offersMail: Bool, offersCodes: Bool
    ) {
        self.action = action
        self.request = request
        self.ticket = ticket
        self.name = name
        self.offersMail = offersMail
        self.offersCodes = offersCodes
    }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "isCodeOpen": decision == .code || !offersMail,
            "isCodeWrong": decision == .code && problem != nil && !isPasswordWrong,
            "isPasswordWrong": isPasswordWrong,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}

/// The page after a user has asked for a mail with a link, which says nothing about the account.
package struct RecoverySentPage: Page, Hashable {
    package static let template = "recovery-sent"

    /// The time for which the link works.
    package var lifetime: String

    package init(lifetime: String) { self.lifetime = lifetime }
}
