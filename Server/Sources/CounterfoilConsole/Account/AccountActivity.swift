import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/activity`: the events of the audit log about the sign-ins and the account of a user, in pages of 50.
struct AccountActivity: Sendable {
    let console: Console

    /// The number of events on a page.
    private static let limit = 50
    /// The query parameter with the time before which the events of the page are, in microseconds.
    private static let parameter = "before"

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let before = (try? FormParameters(parsing: exchange.request.query).single(Self.parameter)).flatMap { Int64($0) }
        var query = AuditQuery(
            userID: exchange.user.id, before: before.map { AuditPosition(microseconds: $0, number: 0) },
            limit: Self.limit + 1)
        query.kinds = ActivityText.kinds
        var entries = try await console.store.audit(query)
        var older: Int64?
        if entries.count > Self.limit, let next = entries.popLast()?.position.microseconds {
            // The number of an event would show how many the log has, so a page ends between two times.
            let page = entries.prefix { $0.position.microseconds > next }
            if !page.isEmpty { entries = Array(page) }
            older = entries.last?.position.microseconds
        }
        let path = console.path(.activity)
        let page = ActivityPage(
            console: console.head(exchange, in: .account), paths: console.accountPaths(at: .activity, exchange),
            rows: try await rows(entries, exchange), older: older.map { "\(path)?\(Self.parameter)=\($0)" })
        return Reply(.ok, .page(page))
    }

    private func rows(
        _ entries: [AuditEntry], _ exchange: Console.Exchange
    ) async throws -> [ActivityPage.Row] {
        let events = entries.map(\.event)
        var clients: [ClientIdentifier: DisplayName] = [:]
        let registry = try await console.registry.atArrival()
        for id in Set(events.compactMap(\.clientID)) {
            let client = try await StoreFault.supported { () async throws(StoreFault) in
                try await registry.client(id)
            }
            clients[id] = client?.displayName
        }
        return events.compactMap { event in
            guard let text = ActivityText(event) else { return nil }
            return ActivityPage.Row(
                what: exchange.words(text), client: event.clientID.flatMap { clients[$0] },
                time: exchange.words.moment(event.at),
                source: event.isFromAdministrator ? nil : event.source,
                isFromOperator: event.isFromCommand || event.isFromAdministrator)
        }
    }
}

/// The words for an event of the audit log, for the user whom it concerns.
enum ActivityText: String, LocalizationKey {
    case signedIn = "account.activity.signed-in"
    case signInFailed = "account.activity.sign-in-failed"
    /// The password was right, and the second step followed or not.
    case secondStep = "account.activity.second-step"
    case signedOut = "account.activity.signed-out"
    case signedOutElsewhere = "account.activity.signed-out-elsewhere"
    case changeRefused = "account.activity.change-refused"
    case passkeyRenamed = "account.activity.passkey-renamed"
    case allowed = "account.activity.allowed"
    case denied = "account.activity.denied"
    case permissionsChanged = "account.activity.permissions-changed"
    case disconnected = "account.activity.disconnected"
    case accessEnded = "account.activity.access-ended"
    case linkSent = "account.activity.link-sent"
    /// A link by which the user sets a new password was sent, or a command has created one.
    case recoveryLink = "account.activity.recovery-link"
    case emailVerified = "account.activity.email-verified"
    case created = "account.activity.created"
    case changed = "account.activity.changed"
    case roleChanged = "account.activity.role-changed"
    case termsAccepted = "account.activity.terms-accepted"
    case disabled = "account.activity.disabled"
    case enabled = "account.activity.enabled"
    case passwordChanged = "account.activity.password-changed"
    case passwordAdded = "account.activity.password-added"
    case passwordRemoved = "account.activity.password-removed"
    case passkeyAdded = "account.activity.passkey-added"
    case passkeyRemoved = "account.activity.passkey-removed"
    case passkeysRemoved = "account.activity.passkeys-removed"
    case identityRemoved = "account.activity.identity-removed"
    case secondFactorOn = "account.activity.second-factor-on"
    case secondFactorReplaced = "account.activity.second-factor-replaced"
    case secondFactorOff = "account.activity.second-factor-off"
    case securityKeyAdded = "account.activity.security-key-added"
    case securityKeyRemoved = "account.activity.security-key-removed"
    case securityKeyRenamed = "account.activity.security-key-renamed"
    case recoveryCodes = "account.activity.recovery-codes"
    case recoveryCodeUsed = "account.activity.recovery-code-used"
    case emailChanged = "account.activity.email-changed"
    case appInvited = "account.activity.app-invited"
    case appAdded = "account.activity.app-added"
    case appRemoved = "account.activity.app-removed"
    case appReceived = "account.activity.app-received"

    /// The kinds of the events that have words.
    static let kinds: [AuditEvent.Kind] = [
        .signIn, .signOut, .passwordChange, .passkey, .secondFactor, .consent, .revocation, .account,
    ]

    /// Finds the words for an event; nil for one that the user is not shown.
    init?(_ event: AuditEvent) {
        if let change = AccountChange(event) {
            self.init(change)
            return
        }
        let isDone = event.outcome == .done
        var detail = event.detail
        // The account of another user.
        if detail?.hasPrefix(AuditEvent.otherAccountPrefix) == true { return nil }
        if event.isFromCommand { detail?.removeFirst(AuditEvent.commandPrefix.count) }
        if event.isFromAdministrator { detail?.removeFirst(AuditEvent.administratorPrefix.count) }
        switch event.kind {
        case .signIn where isDone: self = .signedIn
        case .signIn: self = event.reason == .secondFactorAsked ? .secondStep : .signInFailed
        case .signOut where isDone: self = detail == nil ? .signedOut : .signedOutElsewhere
        case .passkey where isDone: self = .passkeyRenamed
        case .secondFactor where isDone: self = .securityKeyRenamed
        case .passwordChange, .passkey, .secondFactor: self = .changeRefused
        case .consent where isDone: self = detail?.hasPrefix("reduced to: ") == true ? .permissionsChanged : .allowed
        case .consent: self = .denied
        case .revocation where isDone: self = detail == RevocationReason.user.rawValue ? .disconnected : .accessEnded
        case .account where isDone: self.init(account: detail ?? "")
        default: return nil
        }
    }

    private init?(account detail: String) {
        switch detail {
        case "changed": self = .changed
        case _ where detail.hasPrefix(AuditEvent.rolePrefix): self = .roleChanged
        case _ where detail.hasPrefix("changed the groups and attributes"): self = .changed
        case "disabled": self = .disabled
        case "enabled": self = .enabled
        case "verified the email address": self = .emailVerified
        case _ where detail.hasPrefix("sent a link to "): self = .linkSent
        case _ where detail.hasSuffix("a link for a new password"): self = .recoveryLink
        case "signed up": self = .created
        case _ where detail.hasPrefix("created") || detail.hasPrefix("imported"): self = .created
        case _ where detail.hasPrefix("accepted the terms "): self = .termsAccepted
        case UserIdentity.removalDetail: self = .identityRemoved
        default: return nil
        }
    }

    private init(_ change: AccountChange) {
        self =
            switch change {
            case .passwordChanged, .passwordSet, .temporaryPasswordSet, .passwordSetByMail, .passwordSetByOperatorLink,
                .passwordSetByRecoveryCode, .passwordChosen:
                .passwordChanged
            case .passwordAdded: .passwordAdded
            case .passwordRemoved: .passwordRemoved
            case .passkeyAdded, .passkeyAddedByLink: .passkeyAdded
            case .passkeyRemoved: .passkeyRemoved
            case .passkeysRemoved: .passkeysRemoved
            case .secondFactorSetUp: .secondFactorOn
            case .secondFactorReplaced: .secondFactorReplaced
            case .secondFactorRemoved, .secondFactorReset: .secondFactorOff
            case .securityKeyAdded: .securityKeyAdded
            case .securityKeyRemoved: .securityKeyRemoved
            case .recoveryCodesReplaced: .recoveryCodes
            case .recoveryCodeUsed: .recoveryCodeUsed
            case .emailChanged: .emailChanged
            case .appInvited: .appInvited
            case .appAdded: .appAdded
            case .appRemoved: .appRemoved
            case .appReceived: .appReceived
            }
    }
}
