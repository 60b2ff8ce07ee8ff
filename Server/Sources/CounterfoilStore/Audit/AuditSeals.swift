import CounterfoilProtocol
public import Foundation

/// An event of the audit log as the store has it: its values as text, also those that are invalid.
public struct AuditRecord: Sendable, Hashable {
    /// The position of the event.
    public let position: AuditPosition
    /// The name of the kind.
    public let kind: String
    /// The name of the outcome.
    public let outcome: String
    /// The user, or the pseudonym of a deleted user.
    public let userID: String?
    /// The client.
    public let clientID: String?
    /// The grant.
    public let grantID: String?
    /// The source IP address.
    public let source: String?
    /// The request ID.
    public let requestID: String?
    /// The further details.
    public let detail: String?
    /// The name of the action.
    public let action: String?

    /// Creates a record with the values of a row.
    public init(
        position: AuditPosition, kind: String, outcome: String, userID: String?, clientID: String?, grantID: String?,
        source: String?, requestID: String?, detail: String?, action: String? = nil
    ) {
        self.position = position
        self.kind = kind
        self.outcome = outcome
        self.userID = userID
        self.clientID = clientID
        self.grantID = grantID
        self.source = source
        self.requestID = requestID
        self.detail = detail
        self.action = action
    }

    /// Creates the record of an entry.
    public init(_ entry: AuditEntry) {
        let event = entry.event
        self.init(
            position: entry.position, kind: event.kind.rawValue, outcome: event.outcome.rawValue,
            userID: event.userID?.rawValue, clientID: event.clientID?.rawValue, grantID: event.grantID?.rawValue,
            source: event.source, requestID: event.requestID, detail: event.detail,
            action: event.action?.rawValue)
    }
}

/// A salted digest of values that can be removed later.
///
/// Without the salt, the values cannot be found by trying.
public struct SaltedDigest: Sendable, Hashable {
    /// The SHA-256 digest of the salt and the values.
    public let digest: [UInt8]
    /// The salt; nil after the values were removed.
    public var salt: [UInt8]?

    /// Creates a digest that a store has read.
    public init(digest: [UInt8], salt: [UInt8]?) {
        self.digest = digest
        self.salt = salt
    }
}

/// The seal of an event: its place in a chain of all sealed events, authenticated with the server key.
///
/// Seals have consecutive numbers from 1, in the order in which events were sealed. That can differ from the order of
/// the log, because an event can be appended at an earlier position than one that is sealed already.
public struct AuditSeal: Sendable, Hashable {
    /// The number of the seal.
    public let number: Int
    /// The position of the event.
    public let position: AuditPosition
    /// The digest of the event, which contains the two salted digests.
    public let digest: [UInt8]
    /// The digest of what the deletion of a user removes: user, grant, source and request.
    public var user: SaltedDigest
    /// The digest of the further details, which the deletion of a user removes if they name the user.
    public var detail: SaltedDigest
    /// A code of the pseudonym that the user of the event has after a deletion; nil if the event has no user.
    public let pseudonym: [UInt8]?
    /// The chain value: a digest of the former chain value, the number and the digest.
    public let chain: [UInt8]
    /// The authentication code of the seal.
    public let code: [UInt8]

    /// Creates a seal that a store has read.
    public init(
        number: Int, position: AuditPosition, digest: [UInt8], user: SaltedDigest, detail: SaltedDigest,
        pseudonym: [UInt8]?, chain: [UInt8], code: [UInt8]
    ) {
        self.number = number
        self.position = position
        self.digest = digest
        self.user = user
        self.detail = detail
        self.pseudonym = pseudonym
        self.chain = chain
        self.code = code
    }
}

/// A seal with its event; nil if the event is not in the log.
public struct SealedAuditRecord: Sendable, Hashable {
    /// The seal.
    public let seal: AuditSeal
    /// The event.
    public let record: AuditRecord?

    /// Creates a pair that a store has read at one point in time.
    public init(seal: AuditSeal, record: AuditRecord?) {
        self.seal = seal
        self.record = record
    }
}

/// The end of the chain: the last seal, and the time up to which every event is sealed.
public struct AuditHead: Sendable, Hashable {
    /// The number of the last seal; 0 if there is none.
    public let seal: Int
    /// The chain value of the last seal.
    public let chain: [UInt8]
    /// The time at which the record was written.
    public let sealedAt: Date
    /// A time at which every event of the log was sealed; nil if there was none yet.
    ///
    /// An event without a seal that is much older has been inserted.
    public let checkedAt: Date?
    /// The authentication code of the record.
    public let code: [UInt8]

    /// Creates a record that a store has read.
    public init(seal: Int, chain: [UInt8], sealedAt: Date, checkedAt: Date?, code: [UInt8]) {
        self.seal = seal
        self.chain = chain
        self.sealedAt = sealedAt
        self.checkedAt = checkedAt
        self.code = code
    }
}

/// The beginning of the chain after a deletion of old events.
public struct AuditStart: Sendable, Hashable {
    /// The number of the last deleted seal; 0 if none was deleted.
    public let seal: Int
    /// The chain value of that seal.
    public let chain: [UInt8]
    /// The position up to which events were deleted.
    public let through: AuditPosition
    /// The authentication code of the record.
    public let code: [UInt8]

    /// Creates a record that a store has read.
    public init(seal: Int, chain: [UInt8], through: AuditPosition, code: [UInt8]) {
        self.seal = seal
        self.chain = chain
        self.through = through
        self.code = code
    }
}

/// The ends of the chain of sealed events.
public struct AuditChainEnds: Sendable, Hashable {
    /// The beginning; nil if no sealed event was ever deleted.
    public let start: AuditStart?
    /// The end; nil if nothing was ever sealed.
    public let head: AuditHead?

    /// Creates a pair that a store has read.
    public init(start: AuditStart?, head: AuditHead?) {
        self.start = start
        self.head = head
    }
}

/// The events that one commit seals.
public struct AuditSealRange: Sendable, Hashable {
    /// The position after which the events are; nil to begin with the oldest event.
    public let after: AuditPosition?
    /// The position of the last event.
    public let through: AuditPosition
    /// The maximum number of events.
    public let limit: Int

    /// Creates a range.
    public init(after: AuditPosition?, through: AuditPosition, limit: Int) {
        self.after = after
        self.through = through
        self.limit = limit
    }
}

/// The outcome of ``AuditSealStore/sealAudit(_:continuing:checkedAt:with:at:)``.
public struct AuditSealOutcome: Sendable, Hashable {
    /// The end of the chain after the commit; nil if nothing is sealed.
    public let head: AuditHead?
    /// The number of events that were sealed.
    public let count: Int
    /// Whether the end of the chain is not as a server has left it.
    ///
    /// If events are sealed nevertheless, a gap in the numbers of the seals shows it.
    public let isBroken: Bool

    /// Creates an outcome.
    public init(head: AuditHead?, count: Int, isBroken: Bool = false) {
        self.head = head
        self.count = count
        self.isBroken = isBroken
    }
}

/// The seals of the audit log.
///
/// Events are appended without a seal, by any number of servers at the same time. One server at a time seals them
/// shortly afterwards. When an event gets the pseudonym of a deleted user, the store deletes the salts of the removed
/// values in the same transaction.
public protocol AuditSealStore: Sendable {
    /// Reads the ends of the chain.
    func auditChainEnds() async throws(StoreFault) -> AuditChainEnds
    /// Reads events without a seal, oldest first by their positions.
    ///
    /// - Parameters:
    ///   - position: The position after which the events are; nil begins with the oldest event.
    ///   - limit: The maximum number of events.
    func unsealedAudit(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditRecord]
    /// Reads seals with their events, in the order of the seals.
    ///
    /// - Parameters:
    ///   - seal: The number of the seal that was read last; 0 begins with the first seal, and `Int.min` with any row
    ///     before it that no server has left.
    ///   - limit: The maximum number of seals.
    func sealedAudit(after seal: Int, limit: Int) async throws(StoreFault) -> [SealedAuditRecord]
    /// Seals the events of a range that have no seal, in one transaction.
    ///
    /// If two servers do it at the same time, each event gets one seal.
    ///
    /// - Parameters:
    ///   - range: The events; nil for none.
    ///   - known: The end of the chain that the caller has seen before; nil for none.
    ///   - checkedAt: A time at which every event was sealed, apart from those of `range`; nil if that is not known.
    ///   - serverKey: The key that authenticates the seals.
    ///   - time: The current time.
    func sealAudit(
        _ range: AuditSealRange?, continuing known: AuditHead?, checkedAt: Date?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> AuditSealOutcome
}

extension AuditSealStore where Self: AuditStore {
    /// Reads the time since which events of the audit log may have no seal; nil if the log is empty.
    ///
    /// It is the last time at which every event was sealed, and before the first one that of the oldest event.
    package func unsealedSince() async throws(StoreFault) -> Date? {
        if let checkedAt = try await auditChainEnds().head?.checkedAt { return checkedAt }
        return try await auditLog(after: nil, limit: 1).first?.event.at
    }
}
