import CounterfoilServer

/// The confirmations that the pages about the server show after a form was submitted.
enum SystemNotice: String, LocalizationKey, Notice {
    case rotated = "system.notice.rotated"
    case withdrawn = "system.notice.withdrawn"
    case gone = "system.notice.gone"
    case requested = "system.notice.requested"
    case alreadyRequested = "system.notice.already-requested"
    case tokenRemoved = "system.notice.token-removed"
}

/// The labels and errors of the pages about the server.
enum SystemMessage: String, LocalizationKey {
    case keyPublished = "system.keys.published"
    case keySigning = "system.keys.signing"
    case keyRetired = "system.keys.retired"
    case tokensOpen = "system.keys.tokens-open"
    case tokensUntil = "system.keys.tokens-until"
    case tokensExpired = "system.keys.tokens-expired"
    case accessTokens = "system.keys.access-tokens"
    case idTokens = "system.keys.id-tokens"
    case formerTokens = "system.keys.former-tokens"
    case unused = "system.keys.unused"
    case rotatedMeanwhile = "system.keys.rotated-meanwhile"
    case afterNotice = "system.keys.after-notice"
    case afterNoticeHint = "system.keys.after-notice-hint"
    case atOnce = "system.keys.at-once"
    case atOnceHint = "system.keys.at-once-hint"
    case accessTokensEnd = "system.keys.access-tokens-end"
    case accessTokensOver = "system.keys.access-tokens-over"
    case idTokensEnd = "system.keys.id-tokens-end"
    case successor = "system.keys.successor"

    case notSet = "system.settings.not-set"
    case empty = "system.settings.empty"
    case secret = "system.settings.secret"
    case option = "system.settings.option"
    case variable = "system.settings.variable"
    case line = "system.settings.line"
    case ownFile = "system.settings.own-file"
    case standard = "system.settings.standard"

    case backupNever = "system.backup-never"
    case backupUnknown = "system.backup-unknown"
    case sizeWithFree = "system.size-with-free"
    case leaseHere = "system.lease-here"
    case leaseElsewhere = "system.lease-elsewhere"
    case noLease = "system.no-lease"
    case noHeartbeat = "system.no-heartbeat"
    case plain = "system.certificate.plain"
    case noCertificate = "system.certificate.none"
    case validUntil = "system.certificate.valid-until"
    case expired = "system.certificate.expired"
    case failedOrders = "system.certificate.failed"
    case tooLate = "system.checks.too-late"
    case wait = "system.checks.wait"

    case badTokenName = "unregistered.tokens.bad-name"
    case badTokenDays = "unregistered.tokens.bad-days"
    case expires = "unregistered.tokens.expires"
    case tokenExpired = "unregistered.tokens.expired"

    case badAddress = "setup.bad-email"
    case accepted = "mail.try.accepted"
    case failed = "mail.try.failed"
    case refused = "mail.try.refused"
    case cutOff = "mail.try.cut-off"
}

extension Console {
    /// Returns the changes of signing keys, the certificate and registration tokens that an administrator makes in one
    /// request.
    func serverAdministration(by exchange: Exchange) -> ServerAdministration {
        serverAdministration(exchange.now) { kind, detail in event(kind, by: exchange, detail: detail) }
    }
}
