public import CounterfoilProtocol
public import Foundation

/// An event of the audit log: what happened, to which user and client, from which source, and the outcome.
///
/// An event never contains a secret.
public struct AuditEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A user signed in, or failed to.
        case signIn = "sign-in"
        /// A session ended: by its user, by an administrator, or because the password changed.
        case signOut = "sign-out"
        case passwordChange = "password-change"
        /// A user allowed or refused the request of a client.
        case consent
        /// A client got a code without an S256 challenge, under an exception of its policy.
        case pkceException = "pkce-exception"
        /// A client sent a `code_challenge` that it had sent before.
        case challengeReuse = "challenge-reuse"
        /// A code was refused because it had been redeemed already, or because its `code_verifier` was wrong.
        case codeRedemption = "code-redemption"
        /// The response to a refresh was repeated.
        case refreshRepeat = "refresh-repeat"
        /// A refresh token was used again after its rotation; its grant was revoked.
        case refreshReuse = "refresh-reuse"
        case revocation
        /// A client failed to authenticate.
        case clientAuthentication = "client-authentication"
        /// A rate limit was exceeded after too many failures.
        case throttled
        /// A client was registered, changed or deleted.
        case application
        /// Scopes for requests without a user were approved or withdrawn (client credentials grant).
        case machineAccess = "machine-access"
        /// A client secret was created or deleted.
        case applicationSecret = "application-secret"
        /// A user account was created or changed.
        case account
        /// A signing key was created or replaced.
        case signingKey = "signing-key"
        /// Another setting was changed: a scope, a resource or the branding.
        case setting
        /// Events were deleted from the audit log, after an export or after their retention period.
        case auditRemoval = "audit-removal"
    }

    /// The outcome of an event.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The action was carried out.
        case done
        /// The action was refused.
        case refused
    }

    /// The time of the event.
    public let at: Date
    /// The kind of the event.
    public let kind: Kind
    /// The outcome of the event.
    public let outcome: Outcome
    /// The user who acted or who is concerned; nil if unknown.
    public let personID: PersonIdentifier?
    /// The client; nil if the event concerns none.
    public let clientID: ClientIdentifier?
    /// The grant; nil if the event concerns none.
    public let grantID: GrantIdentifier?
    /// The source address of the request; nil for a command at a terminal of the server's machine.
    public let source: String?
    /// The request ID, as pages and the log show it; nil for a command at a terminal.
    public let requestID: String?
    /// A detail in the server's own words, at most 200 bytes.
    public let detail: String?

    /// Creates an event; a longer detail is cut at 200 bytes.
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

/// An audit event with its number in the log.
public struct AuditEntry: Sendable, Hashable {
    /// The number of the event; later events have larger numbers.
    public let number: Int
    /// The event.
    public let event: AuditEvent

    /// Creates an entry.
    public init(number: Int, event: AuditEvent) {
        self.number = number
        self.event = event
    }
}

/// A query on the audit log, as conditions that an event must all fulfil.
public struct AuditQuery: Sendable, Hashable {
    /// The kind of the events; nil for every kind.
    public var kind: AuditEvent.Kind?
    /// The user of the events; nil for every user.
    public var personID: PersonIdentifier?
    /// The client of the events; nil for every client.
    public var clientID: ClientIdentifier?
    /// The earliest time of the events, inclusive; nil for no limit.
    public var since: Date?
    /// The number below which the events must be; nil to begin with the newest.
    public var before: Int?
    /// The largest number of events to return, 1 to 1000.
    public var limit: Int

    /// Creates a query; without arguments it returns the newest 100 events.
    ///
    /// The limit is clamped to 1 to 1000.
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

/// The audit log.
///
/// The log is append-only: events never change, and only the oldest can be deleted. Numbers increase and are
/// never used again.
public protocol AuditStore: Sendable {
    /// Appends an event.
    func appendAudit(_ event: AuditEvent) async throws(StoreFault)
    /// Reads the events that fulfil a query, newest first, at most ``AuditQuery/limit``.
    func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry]
    /// Reads the events with a larger number than the given one, oldest first, at most `limit`.
    func auditLog(after number: Int, limit: Int) async throws(StoreFault) -> [AuditEntry]
    /// Deletes the oldest events, up to and including a number and at most `rows`, and appends an event in
    /// the same transaction.
    ///
    /// - Returns: The number of deleted events, without the appended one.
    func removeAudit(
        through number: Int, atMost rows: Int, recording event: AuditEvent?
    ) async throws(StoreFault) -> Int
}
