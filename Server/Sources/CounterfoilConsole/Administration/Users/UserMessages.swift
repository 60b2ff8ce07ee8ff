import CounterfoilServer
import CounterfoilStore

/// The confirmations that the pages about users show after a form was submitted.
enum UserNotice: String, LocalizationKey, Notice {
    case created = "users.notice.created"
    case saved = "users.notice.saved"
    case disabled = "users.notice.disabled"
    case enabled = "users.notice.enabled"
    case roleSaved = "users.notice.role-saved"
    case sessionEnded = "users.notice.session-ended"
    case appEnded = "users.notice.app-ended"
    case signedOut = "users.notice.signed-out"
    case passkeyRemoved = "users.notice.passkey-removed"
    case secondFactorReset = "users.notice.second-factor-reset"
    case gone = "users.notice.gone"
    case deleted = "users.notice.deleted"
    case exportTooLarge = "users.notice.export-too-large"
    case invited = "users.notice.invited"
    case withdrawn = "users.notice.withdrawn"
}

/// The labels and errors of the pages about users.
enum UserMessage: String, LocalizationKey {
    case count = "users.count"
    case countMany = "users.count-many"
    case number = "users.number"
    case numberMany = "users.number-many"
    case tooBroad = "users.too-broad"
    case password = "users.password"
    case secondFactor = "account.second-factor"
    case passkeys = "users.passkeys"
    case everyState = "users.state.every"
    case enabled = "users.state.enabled"
    case disabled = "users.state.disabled"
    case everyRole = "users.role.every"
    case anyTime = "users.signed-in.every"
    case never = "users.signed-in.never"
    case before = "users.signed-in.before"
    case since = "users.signed-in.since"
    case secondFactorOn = "users.second-factor-on"
    case secondFactorLost = "users.second-factor-lost"
    case consentExcess = "users.consent-excess"
    case badSearch = "users.bad-search"
    case noChoice = "audit.no-choice"
    case noDay = "audit.no-time"
    case noFilter = "audit.no-filter"
    case badUsername = "setup.bad-username"
    case badEmail = "setup.bad-email"
    case usernameTaken = "setup.username-taken"
    case emailTaken = "setup.email-taken"
    case badDisplayName = "users.bad-display-name"
    case changedMeanwhile = "users.changed-meanwhile"
    case linkOfDisabled = "users.link.disabled"
    case lastWayIn = "users.last-way-in"
    case lastOwner = "users.last-owner"
    case wrongName = "users.delete.wrong-name"
    case badDays = "users.invite.bad-days"
    case noClient = "users.invite.no-app"
    case invitationExcess = "users.invite.excess"
    case tooManyInvitations = "users.invite.too-many"
    case queueFull = "sign-up.queue-full"
    case noOwner = "users.delete.no-owner"
    case ownsMore = "users.delete.owns-more"
    case needsRole = "users.delete.needs-role"
    case deleteClients = "users.delete.clients-delete"
    case transferClients = "users.delete.clients-transfer"
    case sessions = "users.delete.sessions"
    case passkeysDeleted = "users.delete.passkeys"
    case consents = "users.delete.consents"
    case grants = "users.delete.grants"
    case clients = "users.delete.apps"
    case events = "users.delete.events"
}

extension UserCount {
    /// The number with the word for users.
    var users: LocalizedText {
        LocalizedText(isExact ? UserMessage.count : .countMany, ["count": .number(number)])
    }

    /// The number.
    var text: LocalizedText {
        LocalizedText(isExact ? UserMessage.number : .numberMany, ["count": .number(number)])
    }
}
