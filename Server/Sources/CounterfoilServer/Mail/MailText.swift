import CounterfoilProtocol

/// The kinds of mails; the raw value is stored in the queue.
package enum MailKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The link by which a user proves to have an address.
    case verification = "email-verification"
    /// The link by which a user sets a new password.
    case recovery
    /// The notice that the password was changed.
    case passwordChange = "password-change"
    /// The mail that an operator sends to see that mail works.
    case test

    var subject: MailText {
        switch self {
        case .verification: .verificationSubject
        case .recovery: .recoverySubject
        case .passwordChange: .passwordSubject
        case .test: .testSubject
        }
    }

    var opening: MailText {
        switch self {
        case .verification: .verificationOpening
        case .recovery: .recoveryOpening
        case .passwordChange: .passwordOpening
        case .test: .testOpening
        }
    }

    /// The text of the link; nil for a mail without one.
    var button: MailText? {
        switch self {
        case .verification: .verificationButton
        case .recovery: .recoveryButton
        case .passwordChange, .test: nil
        }
    }

    var closing: MailText {
        switch self {
        case .verification: .verificationClosing
        case .recovery: .recoveryClosing
        case .passwordChange: .passwordClosing
        case .test: .testClosing
        }
    }

    /// The time in seconds for which the link in the mail is valid, and for which the server tries to send it.
    var linkLifetime: Int { self == .recovery ? 30 * 60 : 24 * 3600 }

    /// Returns the URL of the link in the mail; nil for a mail without one.
    func link(at issuer: Issuer, with secret: String) -> String? {
        switch self {
        case .verification: issuer.endpoint("/account/email") + "?token=" + secret
        case .recovery: issuer.endpoint(Endpoint.recovery.path) + "?token=" + secret
        case .passwordChange, .test: nil
        }
    }
}

/// The texts of the mails.
///
/// No text contains a name that a user has chosen, so a mail cannot carry the words of another person.
enum MailText: String, LocalizationKey {
    case verificationSubject = "mail.verification.subject"
    case verificationOpening = "mail.verification.opening"
    case verificationButton = "mail.verification.button"
    case verificationClosing = "mail.verification.closing"
    case recoverySubject = "mail.recovery.subject"
    case recoveryOpening = "mail.recovery.opening"
    case recoveryButton = "mail.recovery.button"
    case recoveryClosing = "mail.recovery.closing"
    case passwordSubject = "mail.password.subject"
    case passwordOpening = "mail.password.opening"
    case passwordClosing = "mail.password.closing"
    case testSubject = "mail.test.subject"
    case testOpening = "mail.test.opening"
    case testClosing = "mail.test.closing"
    case footer = "mail.footer"
}
