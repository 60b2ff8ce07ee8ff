import CounterfoilProtocol

/// The kinds of mails; the raw value is stored in the queue.
package enum MailKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The link by which a user proves to have an address.
    case verification = "email-verification"
    /// The notice that the password was changed.
    case passwordChange = "password-change"
    /// The link with which a person who asked for an account creates it.
    case signUp = "sign-up"
    /// The mail to a person who asked for an account with an address that has one already.
    case accountExists = "account-exists"
    /// The link with which a person whom an operator has invited creates an account.
    case invitation
    /// The mail that an operator sends to see that mail works.
    case test

    /// The time in seconds for which a link is valid, unless the mail has another one.
    var linkLifetime: Int {
        switch self {
        case .signUp: MailQueue.signUpLifetime
        case .invitation: Invitations.standardDays * 86_400
        case .verification, .passwordChange, .accountExists, .test: MailContents.linkLifetime
        }
    }

    /// Returns the URL of the link; nil for a mail without one.
    func link(with secret: String?, at issuer: Issuer) -> String? {
        switch self {
        case .verification: secret.map { issuer.endpoint("/account/email") + "?token=" + $0 }
        case .signUp: secret.map { issuer.endpoint(Endpoint.signUp.path) + "?token=" + $0 }
        case .invitation: secret.map { issuer.endpoint(Endpoint.signUp.path) + "?invitation=" + $0 }
        case .accountExists: issuer.endpoint("/sign-in")
        case .passwordChange, .test: nil
        }
    }

    var subject: MailText {
        switch self {
        case .verification: .verificationSubject
        case .passwordChange: .passwordSubject
        case .signUp: .signUpSubject
        case .accountExists: .accountExistsSubject
        case .invitation: .invitationSubject
        case .test: .testSubject
        }
    }

    var opening: MailText {
        switch self {
        case .verification: .verificationOpening
        case .passwordChange: .passwordOpening
        case .signUp: .signUpOpening
        case .accountExists: .accountExistsOpening
        case .invitation: .invitationOpening
        case .test: .testOpening
        }
    }

    /// The text of the link; nil for a mail without one.
    var button: MailText? {
        switch self {
        case .verification: .verificationButton
        case .signUp, .invitation: .signUpButton
        case .accountExists: .accountExistsButton
        case .passwordChange, .test: nil
        }
    }

    var closing: MailText {
        switch self {
        case .verification: .verificationClosing
        case .passwordChange: .passwordClosing
        case .signUp: .signUpClosing
        case .accountExists: .accountExistsClosing
        case .invitation: .invitationClosing
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
    case signUpSubject = "mail.sign-up.subject"
    case signUpOpening = "mail.sign-up.opening"
    case signUpButton = "mail.sign-up.button"
    case signUpClosing = "mail.sign-up.closing"
    case accountExistsSubject = "mail.account-exists.subject"
    case accountExistsOpening = "mail.account-exists.opening"
    case accountExistsButton = "mail.account-exists.button"
    case accountExistsClosing = "mail.account-exists.closing"
    case invitationSubject = "mail.invitation.subject"
    case invitationOpening = "mail.invitation.opening"
    case invitationClosing = "mail.invitation.closing"
    case testSubject = "mail.test.subject"
    case testOpening = "mail.test.opening"
    case testClosing = "mail.test.closing"
    case footer = "mail.footer"
}
