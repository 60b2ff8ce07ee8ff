@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// A query on the audit log; an event must satisfy every condition of the query.
public struct AuditQuery: Sendable, Hashable {
    /// The kind of the events; nil for events of every kind.
    public var kind: AuditEvent.Kind?
    /// The kinds of which the events have one; empty for events of every kind.
    public var kinds: [AuditEvent.Kind] = []
    /// The user of the events; nil for all events, with or without a user.
    public var userID: UserIdentifier?
    /// The client of the events, as ``AuditEvent/clientID`` has it; nil for all events, with or without a client.
    public let clientID: ClientIdentifier?
    /// The outcome of the events; nil for events with every outcome.
    public var outcome: AuditEvent.Outcome?
    /// The source address of the events, as it was recorded; nil for all events, with or without a source.
    public var source: String?
    /// The request of the events; nil for all events, with or without a request.
    public var requestID: String?
    /// The earliest time of the events, inclusive; nil for no limit.
    public var since: Date?
    /// The time before which the events are, exclusive; nil for no limit.
    public var until: Date?
    /// The position before which the events are; nil for no limit.
    public var before: AuditPosition?
    /// The position after which the events are; nil for no limit.
    public var after: AuditPosition?
    /// The order of the events.
    public var order: Order
    /// The maximum number of events to return, 1 to 1000.
    public var limit: Int
    /// The maximum number of events that one search examines.
    package var examined = 10_000

    /// An order of events, by their positions.
    public enum Order: Sendable, Hashable {
        /// From the newest event to the oldest.
        case newestFirst
        /// From the oldest event to the newest.
        case oldestFirst
    }

    /// Creates a query; by default it returns the newest 100 events.
    ///
    /// A limit outside 1 to 1000 becomes the nearest valid value.
    public init(
        kind: AuditEvent.Kind? = nil, userID: UserIdentifier? = nil, clientID: ClientIdentifier? = nil,
        outcome: AuditEvent.Outcome? = nil, source: String? = nil, requestID: String? = nil,
        since: Date? = nil, until: Date? = nil, before: AuditPosition? = nil, after: AuditPosition? = nil,
        order: Order = .newestFirst, limit: Int = 100
    ) {
        self.kind = kind
        self.userID = userID
        self.clientID = clientID.map(\.inAuditLog)
        self.outcome = outcome
        self.source = source
        self.requestID = requestID
        self.since = since
        self.until = until
        self.before = before
        self.after = after
        self.order = order
        self.limit = min(max(limit, 1), 1000)
    }

    /// Continues behind a position, in the order of the query.
    public mutating func proceed(from position: AuditPosition) {
        switch order {
        case .newestFirst: before = position
        case .oldestFirst: after = position
        }
    }
}

/// The result of a search in the audit log.
public struct AuditSearch: Sendable, Hashable {
    /// The events that match, in the order of the query.
    public let entries: [AuditEntry]
    /// The position of the last examined event, behind which further events can match; nil if none can.
    public let rest: AuditPosition?

    /// Creates the result that a store has read.
    public init(entries: [AuditEntry], rest: AuditPosition?) {
        self.entries = entries
        self.rest = rest
    }
}
