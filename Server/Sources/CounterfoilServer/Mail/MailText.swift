/// The kinds of mails; the raw value is stored in the queue.
package enum MailKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The link by which a user proves to have an address.
    case verification = "email-verification"
    case passwordChange = "password-change"
    case passwordAddition = "password-addition"
    case passwordRemoval = "password-removal"
    case passkeyAddition = "passkey-addition"
    case passkeyRemoval = "passkey-removal"
    case secondFactorSetup = "second-factor-setup"
    case secondFactorReplacement = "second-factor-replacement"
    case secondFactorRemoval = "second-factor-removal"
    case recoveryCodes = "recovery-codes"
    case recoveryCodeUse = "recovery-code-use"
    /// The notice to the former address.
    case emailChange = "email-change"
    /// The mail that an operator sends to see that mail works.
    case test

    /// The kind of the notice of a change.
    init(noticeOf change: AccountChange) {
        self =
            switch change {
            case .passwordChanged, .passwordSet: .passwordChange
            case .passwordAdded: .passwordAddition
            case .passwordRemoved: .passwordRemoval
            case .passkeyAdded: .passkeyAddition
            case .passkeyRemoved, .passkeysRemoved: .passkeyRemoval
            case .secondFactorSetUp: .secondFactorSetup
            case .secondFactorReplaced: .secondFactorReplacement
            case .secondFactorRemoved, .secondFactorReset: .secondFactorRemoval
            case .recoveryCodesReplaced: .recoveryCodes
            case .recoveryCodeUsed: .recoveryCodeUse
            case .emailChanged: .emailChange
            }
    }

    var subject: MailText {
        switch self {
        case .verification: .verificationSubject
        case .passwordChange: .passwordSubject
        case .passwordAddition: .passwordAdditionSubject
        case .passwordRemoval: .passwordRemovalSubject
        case .passkeyAddition: .passkeyAdditionSubject
        case .passkeyRemoval: .passkeyRemovalSubject
        case .secondFactorSetup: .secondFactorSetupSubject
        case .secondFactorReplacement: .secondFactorReplacementSubject
        case .secondFactorRemoval: .secondFactorRemovalSubject
        case .recoveryCodes: .recoveryCodesSubject
        case .recoveryCodeUse: .recoveryCodeUseSubject
        case .emailChange: .emailChangeSubject
        case .test: .testSubject
        }
    }

    var opening: MailText {
        switch self {
        case .verification: .verificationOpening
        case .passwordChange: .passwordOpening
        case .passwordAddition: .passwordAdditionOpening
        case .passwordRemoval: .passwordRemovalOpening
        case .passkeyAddition: .passkeyAdditionOpening
        case .passkeyRemoval: .passkeyRemovalOpening
        case .secondFactorSetup: .secondFactorSetupOpening
        case .secondFactorReplacement: .secondFactorReplacementOpening
        case .secondFactorRemoval: .secondFactorRemovalOpening
        case .recoveryCodes: .recoveryCodesOpening
        case .recoveryCodeUse: .recoveryCodeUseOpening
        case .emailChange: .emailChangeOpening
        case .test: .testOpening
        }
    }

    /// The text of the link; nil for a mail without one.
    var button: MailText? { self == .verification ? .verificationButton : nil }

    var closing: MailText {
        switch self {
        case .verification: .verificationClosing
        case .test: .testClosing
        case .emailChange: .emailChangeClosing
        case .passwordChange, .passwordAddition, .passwordRemoval, .passkeyAddition, .passkeyRemoval,
            .secondFactorSetup, .secondFactorReplacement, .secondFactorRemoval, .recoveryCodes, .recoveryCodeUse:
            .noticeClosing
        }
    }

    /// Whether the mail tells of a change, and thus says who made it.
    var isNotice: Bool { self != .verification && self != .test }
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
    case passwordAdditionSubject = "mail.password-added.subject"
    case passwordAdditionOpening = "mail.password-added.opening"
    case passwordRemovalSubject = "mail.password-removed.subject"
    case passwordRemovalOpening = "mail.password-removed.opening"
    case passkeyAdditionSubject = "mail.passkey-added.subject"
    case passkeyAdditionOpening = "mail.passkey-added.opening"
    case passkeyRemovalSubject = "mail.passkey-removed.subject"
    case passkeyRemovalOpening = "mail.passkey-removed.opening"
    case secondFactorSetupSubject = "mail.second-factor-set-up.subject"
    case secondFactorSetupOpening = "mail.second-factor-set-up.opening"
    case secondFactorReplacementSubject = "mail.second-factor-replaced.subject"
    case secondFactorReplacementOpening = "mail.second-factor-replaced.opening"
    case secondFactorRemovalSubject = "mail.second-factor-removed.subject"
    case secondFactorRemovalOpening = "mail.second-factor-removed.opening"
    case recoveryCodesSubject = "mail.recovery-codes.subject"
    case recoveryCodesOpening = "mail.recovery-codes.opening"
    case recoveryCodeUseSubject = "mail.recovery-code-used.subject"
    case recoveryCodeUseOpening = "mail.recovery-code-used.opening"
    case emailChangeSubject = "mail.email-changed.subject"
    case emailChangeOpening = "mail.email-changed.opening"
    case emailChangeClosing = "mail.email-changed.closing"
    case noticeClosing = "mail.notice.closing"
    /// The browser that made a change.
    case fromDevice = "mail.notice.device"
    /// A command made a change.
    case byOperator = "mail.notice.operator"
    case testSubject = "mail.test.subject"
    case testOpening = "mail.test.opening"
    case testClosing = "mail.test.closing"
    case footer = "mail.footer"
}
