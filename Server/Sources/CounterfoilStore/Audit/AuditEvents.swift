@_spi(Counterfoil) public import CounterfoilProtocol
import Crypto
public import Foundation

/// An event of the audit log: what happened, to which user and client, from which source, and the outcome.
///
/// An event never contains a secret.
public struct AuditEvent: Sendable, Hashable {
    /// The kind of an event; the raw value is its name in the store and in exports.
    ///
    /// A kind outside ``allCases`` is that of an event which a newer version has recorded. It is shown by its name.
    public struct Kind: RawRepresentable, Sendable, Hashable, CaseIterable {
        /// The name of the kind, such as `sign-in`.
        public let rawValue: String

        /// Creates a kind with a name that a store contains.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates the kind with a name; nil if the name is not in ``allCases``.
        public init?(known name: String) {
            guard let kind = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
            self = kind
        }

        /// A user signed in, or failed to; or an app got an authorization code in an existing session, which is a
        /// sign-in to the app.
        public static let signIn = Kind(rawValue: "sign-in")
        /// A session ended: by its user, by an administrator, or because the password changed.
        public static let signOut = Kind(rawValue: "sign-out")
        /// A user changed the password, or a command set it.
        public static let passwordChange = Kind(rawValue: "password-change")
        /// A user added, renamed or deleted a passkey, or a command deleted passkeys.
        public static let passkey = Kind(rawValue: "passkey")
        /// A user set up, changed or turned off the second factor, or a command removed it.
        public static let secondFactor = Kind(rawValue: "second-factor")
        /// A user allowed or refused the request of a client.
        public static let consent = Kind(rawValue: "consent")
        /// A client got an authorization code without an S256 challenge, under an exception of its policy.
        public static let pkceException = Kind(rawValue: "pkce-exception")
        /// A client used one `code_challenge` in more than one authorization request (RFC 9700 §2.1.1).
        public static let challengeReuse = Kind(rawValue: "challenge-reuse")
        /// A code was refused because it had been redeemed already, or because its `code_verifier` was wrong.
        public static let codeRedemption = Kind(rawValue: "code-redemption")
        /// A request of a browser was refused: the user got an error page, or the client an error response.
        public static let browserRequest = Kind(rawValue: "browser-request")
        /// A request of a client for tokens or for a sign-in was refused.
        public static let clientRequest = Kind(rawValue: "client-request")
        /// A user typed the code of a device, but no device waits with this code.
        public static let userCode = Kind(rawValue: "user-code")
        /// A client retried a refresh within the grace period, and the server issued the same new refresh token again.
        public static let refreshRepeat = Kind(rawValue: "refresh-repeat")
        /// A rotated refresh token was used when a retry was no longer allowed; the server revoked its grant.
        public static let refreshReuse = Kind(rawValue: "refresh-reuse")
        /// A grant or token was revoked.
        public static let revocation = Kind(rawValue: "revocation")
        /// A client failed to authenticate.
        public static let clientAuthentication = Kind(rawValue: "client-authentication")
        /// A request was refused because a rate limit was exceeded.
        public static let throttled = Kind(rawValue: "throttled")
        /// A client was registered, changed or deleted.
        public static let client = Kind(rawValue: "application")
        /// Scopes that a client may request without a user (client credentials grant) were approved or withdrawn.
        public static let machineAccess = Kind(rawValue: "machine-access")
        /// A client secret was created or deleted.
        public static let clientSecret = Kind(rawValue: "application-secret")
        /// A user account was created or changed.
        public static let account = Kind(rawValue: "account")
        /// A signing key was created or replaced.
        public static let signingKey = Kind(rawValue: "signing-key")
        /// A scope, an API, a webhook or the branding was changed.
        public static let setting = Kind(rawValue: "setting")
        /// Events were deleted from the audit log, after an export or after their retention period.
        public static let auditRemoval = Kind(rawValue: "audit-removal")
        /// An administrator exported events of the audit log on its page.
        public static let auditExport = Kind(rawValue: "audit-export")

        /// Every kind that this version records.
        public static let allCases: [Kind] = [
            .signIn, .signOut, .passwordChange, .passkey, .secondFactor, .consent, .browserRequest, .clientRequest,
            .pkceException, .challengeReuse, .codeRedemption, .userCode, .refreshRepeat, .refreshReuse, .revocation,
            .clientAuthentication, .throttled, .client, .machineAccess, .clientSecret, .account,
            .signingKey, .setting, .auditRemoval, .auditExport,
        ]
    }

    /// The outcome of the action that an event records.
    ///
    /// An outcome outside ``allCases`` is that of an event which a newer version has recorded.
    public struct Outcome: RawRepresentable, Sendable, Hashable, CaseIterable {
        /// The name of the outcome in the store and in exports.
        public let rawValue: String

        /// Creates an outcome with a name that a store contains.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The action was carried out, such as a sign-in with the correct password.
        public static let done = Outcome(rawValue: "done")
        /// The action was refused, such as a sign-in with a wrong password.
        public static let refused = Outcome(rawValue: "refused")

        /// Every outcome that this version records.
        public static let allCases: [Outcome] = [.done, .refused]
    }

    /// The time of the event by the clock of the store, such as the arrival of the request; the order of the log
    /// depends on it (``AuditPosition``).
    public let at: Date
    /// The kind of the event, such as a sign-in or a revocation.
    public let kind: Kind
    /// The outcome: the action was carried out or refused.
    public let outcome: Outcome
    /// The user who acted or whose data the event concerns, or the pseudonym of a deleted user
    /// (``UserIdentifier/isPseudonym``); nil if unknown.
    public let userID: UserIdentifier?
    /// The client, an identifier of at most 128 bytes; nil if the event concerns none.
    ///
    /// Strangers choose the identifier of an unknown client, so its length would decide how fast a flood of refusals
    /// fills the log. Of a longer identifier, the event has the first 95 bytes, `~` and 32 hexadecimal digits of its
    /// SHA-256 digest. ``AuditQuery/clientID`` finds it by the whole one.
    public let clientID: ClientIdentifier?
    /// The grant; nil if the event concerns none.
    public let grantID: GrantIdentifier?
    /// The source IP address of the request; nil if a command or the server itself caused the event.
    public let source: String?
    /// The request ID that pages and the log show; nil if no request caused the event.
    public let requestID: String?
    /// A short text in English with further details, such as the reason of a revocation, at most 200 bytes; nil for
    /// none.
    ///
    /// The detail of a refusal begins with its ``reason``, followed by a colon and the ``explanation``, if any.
    public let detail: String?
    /// What the change was, more exactly than ``kind``; nil if the kind says it, and for a refusal.
    public private(set) var action: Action?
    /// The mail that notifies the user, which a store queues in the transaction that appends the event; nil for none.
    ///
    /// It is no part of the log: an event that was read from it has none, and equals the one that was appended.
    package private(set) var notice: NewMail?

    /// Creates an event; `detail` is truncated to 200 bytes, and gets U+FFFD for NUL, which no database can store.
    public init(
        at: Date,
        _ kind: Kind,
        _ outcome: Outcome = .done,
        userID: UserIdentifier? = nil,
        clientID: ClientIdentifier? = nil,
        grantID: GrantIdentifier? = nil,
        source: String? = nil,
        requestID: String? = nil,
        detail: String? = nil,
        action: Action? = nil
    ) {
        self.at = at
        self.kind = kind
        self.outcome = outcome
        self.userID = userID
        self.clientID = clientID.map(\.inAuditLog)
        self.grantID = grantID
        self.source = source
        self.requestID = requestID
        self.detail = detail.map { $0.replacing("\0", with: "\u{FFFD}").prefix(bytes: 200) }
        self.action = outcome == .done ? action : nil
    }

    /// Returns the event with a notice, which is queued if it goes to the user of the event.
    package func notifying(by notice: NewMail?) -> AuditEvent {
        var event = self
        event.notice = notice
        return event
    }

    /// Returns the event with its action; a refusal has none.
    package func named(_ action: Action?) -> AuditEvent {
        var event = self
        event.action = outcome == .done ? action : nil
        return event
    }

    /// Compares what the log has of two events.
    public static func == (left: AuditEvent, right: AuditEvent) -> Bool {
        (left.at, left.kind, left.outcome, left.userID, left.clientID)
            == (right.at, right.kind, right.outcome, right.userID, right.clientID)
            && (left.grantID, left.source, left.requestID, left.detail, left.action)
                == (right.grantID, right.source, right.requestID, right.detail, right.action)
    }

    /// Hashes the time, the kind and the request, which rarely are those of another event.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(at)
        hasher.combine(kind)
        hasher.combine(requestID)
    }
}

extension ClientIdentifier {
    /// The identifier as audit events have it (``AuditEvent/clientID``).
    var inAuditLog: ClientIdentifier {
        guard rawValue.utf8.count > 128 else { return self }
        let digest = SHA256.hash(data: Array(rawValue.utf8)).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }
        return ClientIdentifier(rawValue.prefix(95) + "~" + digest.joined()) ?? self
    }
}

/// The position of an event in the audit log, which is ordered by time and then by number.
///
/// Servers that share a store hand out numbers in another order than their commits happen. An event can therefore
/// appear at an earlier position than an event that was read before, but not by more than ``settlingTime``.
///
/// If the clock of the store was set back between two servers, their events are ordered by the times that each
/// recorded.
public struct AuditPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The time, in seconds, after which no event is appended at an earlier position: 600.
    ///
    /// The time of an event is that of its request, which must be answered within ``RequestContext/timeLimit``. The
    /// rest allows for machines that stall. An export that precedes a deletion, and every deletion, stop at
    /// ``lastSettled(at:)``, so that no event is deleted before an export could read it.
    public static let settlingTime: TimeInterval = 600

    /// The time of the event in microseconds since 1970.
    public let microseconds: Int64
    /// The number of the event, which decides between events with the same time.
    public let number: Int

    /// The time of the event.
    public var time: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Creates the position of an event.
    ///
    /// - Parameters:
    ///   - microseconds: The time of the event in microseconds since 1970.
    ///   - number: The number of the event.
    public init(microseconds: Int64, number: Int) {
        self.microseconds = microseconds
        self.number = number
    }

    /// Creates the position of an event with a time and a number.
    public init(at time: Date, number: Int) {
        let microseconds = (time.timeIntervalSince1970 * 1_000_000).rounded()
        self.init(
            microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max), number: number)
    }

    /// Parses the text form; nil if it is not valid.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let microseconds = Int64(parts[0]), let number = Int(parts[1]), number > 0 else {
            return nil
        }
        self.init(microseconds: microseconds, number: number)
    }

    /// Returns the last position before ``settlingTime`` began; later positions may still get events.
    ///
    /// - Parameter time: The current time by the clock of the store.
    public static func lastSettled(at time: Date) -> AuditPosition {
        AuditPosition(at: time.addingTimeInterval(-settlingTime), number: 0)
    }

    /// The text form: the time in microseconds, a period, and the number, such as `1801387800123456.42`.
    public var description: String { "\(microseconds).\(number)" }

    /// Returns true if an event at the left position comes before one at the right position.
    public static func < (left: AuditPosition, right: AuditPosition) -> Bool {
        (left.microseconds, left.number) < (right.microseconds, right.number)
    }
}

/// An event in the audit log, with its number.
public struct AuditEntry: Sendable, Hashable {
    /// The number of the event, which no other event has.
    public let number: Int
    /// The event as it was appended, or with the pseudonym of its user if the user is deleted.
    public let event: AuditEvent

    /// Creates an entry that a store has read from the log.
    public init(number: Int, event: AuditEvent) {
        self.number = number
        self.event = event
    }

    /// The position of the event in the log.
    public var position: AuditPosition { AuditPosition(at: event.at, number: number) }
}

/// The audit log.
///
/// The log is append-only: only the oldest events can be deleted, and an event changes in one case only. If its user
/// is deleted, it gets a pseudonym (``UserStore/continueRemovals(atMost:)``). Event numbers are never reused. Seals
/// show a change that the store cannot refuse, because it was made in its files or its database (``AuditSealStore``).
///
/// An event that describes a commit is appended by that commit, which takes it as `recording`.
public protocol AuditStore: Sendable {
    /// Appends an event that describes no commit, such as a failed sign-in.
    ///
    /// If its user was deleted in the meantime, the event gets the pseudonym of the user while the store still knows
    /// it, and otherwise is appended without the user (``AuditEvent/withoutUser``). The same holds for an event that
    /// a commit appends.
    func appendAudit(_ event: AuditEvent) async throws(StoreFault)
    /// Reads the events that match a query, in its order, at most ``AuditQuery/limit``.
    ///
    /// An index leads to the events with one condition of the query. A search examines at most 10,000 of them for its
    /// other conditions. To read on, call ``AuditQuery/proceed(from:)`` with ``AuditSearch/rest``.
    func searchAudit(_ query: AuditQuery) async throws(StoreFault) -> AuditSearch
    /// Reads the events after a position, oldest first by their positions.
    ///
    /// - Parameters:
    ///   - position: The position of the last event that was read; nil begins with the oldest event.
    ///   - limit: The maximum number of events.
    func auditLog(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditEntry]
    /// Deletes the oldest events, up to and including a position, and at most up to ``AuditPosition/lastSettled(at:)``.
    ///
    /// - Parameters:
    ///   - position: The position of the last event to delete.
    ///   - rows: The maximum number of events to delete.
    ///   - event: The event of the deletion; nil for none. If an event is deleted, the store appends it in the same
    ///     transaction.
    ///   - serverKey: The key that authenticates up to where events were deleted (``AuditStart``).
    ///   - time: The current time.
    /// - Returns: The number of deleted events, without the appended one.
    func removeAudit(
        through position: AuditPosition, atMost rows: Int, recording event: AuditEvent?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> Int
}

extension AuditStore {
    /// Reads the events that match a query, in its order, at most ``AuditQuery/limit``, in as many searches as it
    /// needs.
    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        var (query, found) = (query, [AuditEntry]())
        let limit = query.limit
        while true {
            let search = try await searchAudit(query)
            found += search.entries
            guard let rest = search.rest, found.count < limit else { return found }
            query.proceed(from: rest)
            query.limit = limit - found.count
        }
    }
}
