public import CounterfoilProtocol
public import Foundation

/// Something that happened and that somebody may ask about later: who, what, to which application, from where, and how it ended.
///
/// It never holds a secret.
public struct AuditEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Somebody signed in, or tried to.
        case signIn = "sign-in"
        /// A session ended: by its person, by an administrator, or with a change of the password.
        case signOut = "sign-out"
        /// A password was changed.
        case passwordChange = "password-change"
        /// A person allowed an application something, or refused it.
        case consent
        /// An application was given a code without a challenge of the method S256, under an exception of its policy.
        case pkceException = "pkce-exception"
        /// An application proved possession with a `code_challenge` that it had used before.
        case challengeReuse = "challenge-reuse"
        /// A code came back that had been redeemed, or came with another `code_verifier`, and was refused.
        case codeRedemption = "code-redemption"
        /// The answer to a refresh was given once more.
        case refreshRepeat = "refresh-repeat"
        /// A refresh token came back that had been replaced; its grant was revoked.
        case refreshReuse = "refresh-reuse"
        /// A grant was revoked.
        case revocation
        /// An application failed to authenticate.
        case clientAuthentication = "client-authentication"
        /// Somebody was made to wait, after too many failures.
        case throttled
        /// An application was registered, changed, or removed.
        case application
        /// Scopes were approved for requests of an application without a user, or withdrawn.
        case machineAccess = "machine-access"
        /// A secret of an application was made or ended.
        case applicationSecret = "application-secret"
        /// An account was made or changed.
        case account
        /// A signing key was made or replaced.
        case signingKey = "signing-key"
        /// Another setting was changed: a scope, a resource, the branding.
        case setting
        /// Events were deleted from the audit log, because they were exported or their retention has ended.
        case auditRemoval = "audit-removal"
    }

    /// How it ended.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It was done.
        case done
        /// It was refused.
        case refused
    }

    /// When.
    public let at: Date
    /// What happened.
    public let kind: Kind
    /// How it ended.
    public let outcome: Outcome
    /// Who did it, or whom it concerns; nil when nobody is known.
    public let personID: PersonIdentifier?
    /// Which application; nil when none is concerned.
    public let clientID: ClientIdentifier?
    /// The grant; nil when none is concerned.
    public let grantID: GrantIdentifier?
    /// The address that it came from; nil for what was done at a terminal of this machine.
    public let source: String?
    /// What pages and the log call the request; nil for what was done at a terminal.
    public let requestID: String?
    /// What more there is to say, in words of our own, at most 200 bytes.
    public let detail: String?

    /// Makes an event.
    public init(
        at: Date,
        _ kind: Kind,
        _ outcome: Outcome = .done,
        personID: PersonIdentifier? = nil,
        clientID: ClientIdentifier? = nil,
        grantID: GrantIdentifier? = nil,
        source: String? = nil,
        requestID: String? = nil,
        detail: String? = nil
    ) {
        self.at = at
        self.kind = kind
        self.outcome = outcome
        self.personID = personID
        self.clientID = clientID
        self.grantID = grantID
        self.source = source
        self.requestID = requestID
        self.detail = detail.map { $0.prefix(bytes: 200) }
    }
}

/// An event with its place in the log.
public struct AuditEntry: Sendable, Hashable {
    /// Its place: larger for what was noted later.
    public let number: Int
    /// What happened.
    public let event: AuditEvent

    /// Makes an entry.
    public init(number: Int, event: AuditEvent) {
        self.number = number
        self.event = event
    }
}

/// Which events somebody asks for.
public struct AuditQuery: Sendable, Hashable {
    /// Those of one kind; nil for every kind.
    public var kind: AuditEvent.Kind?
    /// Those of one person; nil for everybody.
    public var personID: PersonIdentifier?
    /// Those of one application; nil for every one.
    public var clientID: ClientIdentifier?
    /// Those from a moment on; nil for all.
    public var since: Date?
    /// Those noted before the one of this number; nil to begin with the newest.
    public var before: Int?
    /// How many at most, 1 to 1000.
    public var limit: Int

    /// Asks for the newest events.
    public init(
        kind: AuditEvent.Kind? = nil, personID: PersonIdentifier? = nil, clientID: ClientIdentifier? = nil,
        since: Date? = nil, before: Int? = nil, limit: Int = 100
    ) {
        self.kind = kind
        self.personID = personID
        self.clientID = clientID
        self.since = since
        self.before = before
        self.limit = min(max(limit, 1), 1000)
    }
}

/// The log of what happened.
///
/// Events are never changed; only the beginning of the log can be deleted.
public protocol AuditStore: Sendable {
    /// Notes an event after all others.
    func appendAudit(_ event: AuditEvent) async throws(StoreFault)
    /// The events that a query asks for, newest first.
    func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry]
    /// The events after the one of a number, oldest first, at most so many.
    func auditLog(after number: Int, limit: Int) async throws(StoreFault) -> [AuditEntry]
    /// Deletes the oldest events up to the one of a number, at most so many, and records an event in the same step; how many were
    /// deleted.
    func removeAudit(
        through number: Int, atMost rows: Int, recording event: AuditEvent?
    ) async throws(StoreFault) -> Int
}
