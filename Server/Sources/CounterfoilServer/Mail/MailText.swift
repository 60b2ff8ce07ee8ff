import CounterfoilProtocol

/// The kinds of mails; the raw value is stored in the queue.
package enum MailKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The link by which a user proves to have an address.
    case verification = "email-verification"
    /// The link by which a user sets a new password.
    case recovery
    case passwordChange = "password-change"
    /// The link with which a person who asked for an account creates it.
    case signUp = "sign-up"
    /// The mail to a person who asked for an account with an address that has one already.
    case accountExists = "account-exists"
    /// The link with which a person whom an operator has invited creates an account.
    case invitation
    case passwordAddition = "password-addition"
    case passwordRemoval = "password-removal"
    case passkeyAddition = "passkey-addition"
    case passkeyRemoval = "passkey-removal"
    case secondFactorSetup = "second-factor-setup"
    case secondFactorReplacement = "second-factor-replacement"
    case secondFactorRemoval = "second-factor-removal"
    case securityKeyAddition = "security-key-addition"
    case securityKeyRemoval = "security-key-removal"
    case recoveryCodes = "recovery-codes"
    case recoveryCodeUse = "recovery-code-use"
    /// The link by which a user changes the address, to the new one.
    case newAddress = "new-address"
    /// The notice to a user whose address another user has typed.
    case addressTaken = "address-taken"
    /// The notice to the former address.
    case emailChange = "email-change"
    /// The question of a developer whether the user manages a client, too.
    case appInvitation = "app-invitation"
    /// The notice that the user manages another client, or one less.
    case appAccess = "app-access"
    /// The mail that an operator sends to see that mail works.
    case test

    /// The time in seconds for which a link is valid, unless the mail has another one.
    var linkLifetime: Int {
        switch self {
        case .recovery: 30 * 60
        case .signUp: MailQueue.signUpLifetime
        case .invitation: Invitations.standardDays * 86_400
        default: 24 * 3600
        }
    }

    /// Returns the URL of the link; nil for a mail without one.
    func link(with secret: String?, at issuer: Issuer) -> String? {
        switch self {
        case .verification, .newAddress: secret.map { issuer.endpoint("/account/email") + "?token=" + $0 }
        case .recovery: secret.map { issuer.endpoint(Endpoint.recovery.path) + "?token=" + $0 }
        case .signUp: secret.map { issuer.endpoint(Endpoint.signUp.path) + "?token=" + $0 }
        case .invitation: secret.map { issuer.endpoint(Endpoint.signUp.path) + "?invitation=" + $0 }
        case .accountExists: issuer.endpoint("/sign-in")
        default: nil
        }
    }

    /// The kind of the notice of a change.
    init(noticeOf change: AccountChange) {
        self =
            switch change {
            case .passwordChanged, .passwordSet, .temporaryPasswordSet, .passwordSetByMail, .passwordSetByOperatorLink,
                .passwordSetByRecoveryCode, .passwordChosen:
                .passwordChange
            case .passwordAdded: .passwordAddition
            case .passwordRemoved: .passwordRemoval
            case .passkeyAdded, .passkeyAddedByLink: .passkeyAddition
            case .passkeyRemoved, .passkeysRemoved: .passkeyRemoval
            case .secondFactorSetUp: .secondFactorSetup
            case .secondFactorReplaced: .secondFactorReplacement
            case .secondFactorRemoved, .secondFactorReset: .secondFactorRemoval
            case .securityKeyAdded: .securityKeyAddition
            case .securityKeyRemoved: .securityKeyRemoval
            case .recoveryCodesReplaced: .recoveryCodes
            case .recoveryCodeUsed: .recoveryCodeUse
            case .emailChanged: .emailChange
            case .appInvited: .appInvitation
            case .appAdded, .appRemoved, .appReceived: .appAccess
            }
    }

    var subject: MailText {
        switch self {
        case .verification: .verificationSubject
        case .recovery: .recoverySubject
        case .passwordChange: .passwordSubject
        case .signUp: .signUpSubject
        case .accountExists: .accountExistsSubject
        case .invitation: .invitationSubject
        case .passwordAddition: .passwordAdditionSubject
        case .passwordRemoval: .passwordRemovalSubject
        case .passkeyAddition: .passkeyAdditionSubject
        case .passkeyRemoval: .passkeyRemovalSubject
        case .secondFactorSetup: .secondFactorSetupSubject
        case .secondFactorReplacement: .secondFactorReplacementSubject
        case .secondFactorRemoval: .secondFactorRemovalSubject
        case .securityKeyAddition: .securityKeyAdditionSubject
        case .securityKeyRemoval: .securityKeyRemovalSubject
        case .recoveryCodes: .recoveryCodesSubject
        case .recoveryCodeUse: .recoveryCodeUseSubject
        case .emailChange: .emailChangeSubject
        case .appInvitation: .appInvitationSubject
        case .appAccess: .appAccessSubject
        case .newAddress: .newAddressSubject
        case .addressTaken: .addressTakenSubject
        case .test: .testSubject
        }
    }

    var opening: MailText {
        switch self {
        case .verification: .verificationOpening
        case .recovery: .recoveryOpening
        case .passwordChange: .passwordOpening
        case .signUp: .signUpOpening
        case .accountExists: .accountExistsOpening
        case .invitation: .invitationOpening
        case .passwordAddition: .passwordAdditionOpening
        case .passwordRemoval: .passwordRemovalOpening
        case .passkeyAddition: .passkeyAdditionOpening
        case .passkeyRemoval: .passkeyRemovalOpening
        case .secondFactorSetup: .secondFactorSetupOpening
        case .secondFactorReplacement: .secondFactorReplacementOpening
        case .secondFactorRemoval: .secondFactorRemovalOpening
        case .securityKeyAddition: .securityKeyAdditionOpening
        case .securityKeyRemoval: .securityKeyRemovalOpening
        case .recoveryCodes: .recoveryCodesOpening
        case .recoveryCodeUse: .recoveryCodeUseOpening
        case .emailChange: .emailChangeOpening
        case .appInvitation: .appInvitationOpening
        case .appAccess: .appAccessOpening
        case .newAddress: .newAddressOpening
        case .addressTaken: .addressTakenOpening
        case .test: .testOpening
        }
    }

    /// The text of the link; nil for a mail without one.
    var button: MailText? {
        switch self {
        case .verification: .verificationButton
        case .recovery: .recoveryButton
        case .signUp, .invitation: .signUpButton
        case .accountExists: .accountExistsButton
        case .newAddress: .newAddressButton
        default: nil
        }
    }

    var closing: MailText {
        switch self {
        case .verification, .newAddress: .verificationClosing
        case .addressTaken: .addressTakenClosing
        case .recovery: .recoveryClosing
        case .signUp: .signUpClosing
        case .accountExists: .accountExistsClosing
        case .invitation: .invitationClosing
        case .test: .testClosing
        case .emailChange: .emailChangeClosing
        case .appInvitation: .appInvitationClosing
        case .appAccess: .appAccessClosing
        case .passwordChange, .passwordAddition, .passwordRemoval, .passkeyAddition, .passkeyRemoval,
            .secondFactorSetup, .secondFactorReplacement, .secondFactorRemoval, .securityKeyAddition,
            .securityKeyRemoval, .recoveryCodes, .recoveryCodeUse:
            .noticeClosing
        }
    }

    /// Whether the mail is about a change, and thus says who made it.
    var isNotice: Bool { closing == .noticeClosing || self == .emailChange }
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
    case securityKeyAdditionSubject = "mail.security-key-added.subject"
    case securityKeyAdditionOpening = "mail.security-key-added.opening"
    case securityKeyRemovalSubject = "mail.security-key-removed.subject"
    case securityKeyRemovalOpening = "mail.security-key-removed.opening"
    case recoveryCodesSubject = "mail.recovery-codes.subject"
    case recoveryCodesOpening = "mail.recovery-codes.opening"
    case recoveryCodeUseSubject = "mail.recovery-code-used.subject"
    case recoveryCodeUseOpening = "mail.recovery-code-used.opening"
    case newAddressSubject = "mail.new-address.subject"
    case newAddressOpening = "mail.new-address.opening"
    case newAddressButton = "mail.new-address.button"
    case addressTakenSubject = "mail.address-taken.subject"
    case addressTakenOpening = "mail.address-taken.opening"
    case addressTakenClosing = "mail.address-taken.closing"
    case emailChangeSubject = "mail.email-changed.subject"
    case emailChangeOpening = "mail.email-changed.opening"
    case emailChangeClosing = "mail.email-changed.closing"
    case appInvitationSubject = "mail.app-invitation.subject"
    case appInvitationOpening = "mail.app-invitation.opening"
    case appInvitationClosing = "mail.app-invitation.closing"
    case appAccessSubject = "mail.app-access.subject"
    case appAccessOpening = "mail.app-access.opening"
    case appAccessClosing = "mail.app-access.closing"
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
