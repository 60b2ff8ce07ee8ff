package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
import HTTPTypes

/// A change of the ways in which a user signs in, of the email address, or of the apps that the user manages, of which
/// the user gets a notice by mail.
///
/// It decides the kind and the detail of the audit event, and thereby the notice and the line in the account.
package enum AccountChange: Sendable, Hashable, CaseIterable {
    /// The user changed the password.
    case passwordChanged
    /// A command set the password.
    case passwordSet
    /// A command set a password that the user must change.
    case temporaryPasswordSet
    /// The user set a password by a link in a mail.
    case passwordSetByMail
    /// The user set a password by a link of an operator.
    case passwordSetByOperatorLink
    /// The user added a passkey by a link, in place of the password.
    case passkeyAddedByLink
    /// The user set a password with a recovery code.
    case passwordSetByRecoveryCode
    /// The user chose a password in place of one that had to be changed.
    case passwordChosen
    /// An account without a password got one.
    case passwordAdded
    case passwordRemoved
    case passkeyAdded
    case passkeyRemoved
    /// A command deleted all passkeys.
    case passkeysRemoved
    case secondFactorSetUp
    case secondFactorReplaced
    /// The user turned off the second factor.
    case secondFactorRemoved
    /// A command removed the second factor.
    case secondFactorReset
    case securityKeyAdded
    case securityKeyRemoved
    case recoveryCodesReplaced
    /// The user signed in with a recovery code.
    case recoveryCodeUsed
    /// The email address was changed or removed; the notice goes to the former one.
    case emailChanged
    /// A developer has asked the user to manage a client together.
    case appInvited
    /// An administrator has made the user a developer of a client.
    case appAdded
    /// The user manages a client no more.
    case appRemoved
    /// The user has become the owner of a client.
    case appReceived

    /// The kind of the audit event.
    package var kind: AuditEvent.Kind { record.kind }
    /// The detail of the audit event.
    package var detail: String { record.detail }

    /// The action of the audit event; nil if the kind says it.
    package var action: AuditEvent.Action? {
        switch self {
        case .passkeyAdded, .passkeyAddedByLink: .passkeyAdded
        case .passkeyRemoved, .passkeysRemoved: .passkeyRemoved
        case .secondFactorSetUp, .securityKeyAdded: .secondFactorAdded
        case .secondFactorRemoved, .secondFactorReset, .securityKeyRemoved: .secondFactorRemoved
        case .emailChanged: .userEmailChanged
        case .passwordChanged, .passwordSet, .temporaryPasswordSet, .passwordSetByMail, .passwordSetByOperatorLink,
            .passwordSetByRecoveryCode, .passwordChosen, .passwordAdded, .passwordRemoved, .secondFactorReplaced,
            .recoveryCodesReplaced, .recoveryCodeUsed, .appInvited, .appAdded, .appRemoved, .appReceived:
            nil
        }
    }

    private var record: (kind: AuditEvent.Kind, detail: String) {
        switch self {
        case .passwordChanged: (.passwordChange, "ended all other sessions")
        case .passwordSet: (.passwordChange, "new password")
        case .temporaryPasswordSet: (.passwordChange, "new password until the next sign-in")
        case .passwordSetByMail: (.passwordChange, "by a link in a mail, ended all sessions")
        case .passwordSetByOperatorLink: (.passwordChange, "by a link of an operator, ended all sessions")
        case .passkeyAddedByLink: (.passkey, "added by a link in place of the password, ended all sessions")
        case .passwordSetByRecoveryCode: (.passwordChange, "by a recovery code, ended all sessions")
        case .passwordChosen: (.passwordChange, "chosen at the sign-in, ended all sessions")
        case .passwordAdded: (.passwordChange, "added")
        case .passwordRemoved: (.passwordChange, "removed")
        case .passkeyAdded: (.passkey, "added")
        case .passkeyRemoved: (.passkey, "deleted")
        case .passkeysRemoved: (.passkey, "deleted all")
        case .secondFactorSetUp: (.secondFactor, "set up")
        case .secondFactorReplaced: (.secondFactor, "replaced")
        case .secondFactorRemoved: (.secondFactor, "turned off")
        case .secondFactorReset: (.secondFactor, "removed")
        case .securityKeyAdded: (.secondFactor, "security key added")
        case .securityKeyRemoved: (.secondFactor, "security key deleted")
        case .recoveryCodesReplaced: (.secondFactor, "new recovery codes")
        case .recoveryCodeUsed: (.signIn, "second factor: recovery code")
        case .emailChanged: (.account, "changed the email address")
        case .appInvited: (.account, "asked to manage an app")
        case .appAdded: (.account, "manages an app")
        case .appRemoved: (.account, "manages an app no more")
        case .appReceived: (.account, "owns an app")
        }
    }

    /// Finds the change that an event records; nil if it records another one, or a refusal.
    package init?(_ event: AuditEvent) {
        guard event.outcome == .done, var detail = event.detail else { return nil }
        for prefix in [AuditEvent.commandPrefix, AuditEvent.administratorPrefix] where detail.hasPrefix(prefix) {
            detail.removeFirst(prefix.count)
        }
        guard let change = Self.allCases.first(where: { $0.kind == event.kind && $0.detail == detail }) else {
            return nil
        }
        self = change
    }
}

/// The browser or the program from which a user changed the account, as the notice describes it.
package struct ChangeOrigin: Sendable, Hashable, Codable {
    package let userAgent: String
    package let source: String

    package init(userAgent: String, source: String) {
        self.userAgent = userAgent
        self.source = source
    }

    package init(_ request: IncomingRequest) {
        self.init(
            userAgent: String((request.head.headerFields[.userAgent] ?? "").prefix(256)), source: request.source)
    }
}

/// The creator of the notices about changes of an account, where mail is set up.
package protocol AccountNotices: Sendable {
    /// Creates the notice of a change; nil if none is to be sent.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - user: The user as before the change.
    ///   - origin: The browser that makes the change; nil for a command of an operator.
    ///   - language: The language of the notice, unless the account names one.
    ///   - now: The time of the change.
    func notice(
        of change: AccountChange, to user: User, from origin: ChangeOrigin?, in language: Language, now: Date
    ) async throws -> NewMail?
}

extension Auditor {
    /// Creates the event of a change of the ways in of a user, with the notice that its commit queues.
    package func event(
        of change: AccountChange, to user: User, by request: IncomingRequest, client: ClientIdentifier? = nil, now: Date
    ) async throws -> AuditEvent {
        let notice = try await notices?.notice(
            of: change, to: user, from: ChangeOrigin(request), in: request.language, now: now)
        return event(change.kind, by: request, user: user.id, client: client, detail: change.detail, now: now)
            .named(change.action).notifying(by: notice)
    }
}
