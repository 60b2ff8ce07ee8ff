/// The kinds of mails; the raw value is stored in the queue.
package enum MailKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The link by which a user proves to have an address.
    case verification = "email-verification"
    /// The notice that the password was changed.
    case passwordChange = "password-change"
    /// The mail that an operator sends to see that mail works.
    case test

    var subject: MailText {
        switch self {
        case .verification: .verificationSubject
        case .passwordChange: .passwordSubject
        case .test: .testSubject
        }
    }

    var opening: MailText {
        switch self {
        case .verification: .verificationOpening
        case .passwordChange: .passwordOpening
        case .test: .testOpening
        }
    }

    /// The text of the link; nil for a mail without one.
    var button: MailText? {
        switch self {
        case .verification: .verificationButton
        case .passwordChange, .test: nil
        }
    }

    var closing: MailText {
        switch self {
        case .verification: .verificationClosing
        case .passwordChange: .passwordClosing
        case .test: .testClosing
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
    case passwordSubject = "mail.password.subject"
    case passwordOpening = "mail.password.opening"
    case passwordClosing = "mail.password.closing"
    case testSubject = "mail.test.subject"
    case testOpening = "mail.test.opening"
    case testClosing = "mail.test.closing"
    case footer = "mail.footer"
}
