public import CounterfoilProtocol
public import Foundation

/// A queued notification of a client about an ended session (OpenID Connect Back-Channel Logout §2.5).
public struct LogoutDelivery: Sendable, Hashable {
    /// The number of attempts after which a delivery is given up.
    public static let attemptLimit = 8
    /// The most clients of one owner that have a delivery in flight at once.
    public static let ownerLimit = 4

    /// The number of the delivery, unique in the store.
    public let number: Int
    /// The client to notify.
    public let clientID: ClientIdentifier
    /// The user of the session.
    public let personID: PersonIdentifier
    /// The ended session, `sid`.
    public let sessionID: SessionIdentifier
    /// The number of failed attempts.
    public let attempts: Int
    /// The number of consecutive times that the client's host did not respond, over all its deliveries.
    public let hostFailures: Int

    /// Creates a record.
    public init(
        number: Int, clientID: ClientIdentifier, personID: PersonIdentifier, sessionID: SessionIdentifier,
        attempts: Int, hostFailures: Int = 0
    ) {
        self.number = number
        self.clientID = clientID
        self.personID = personID
        self.sessionID = sessionID
        self.attempts = attempts
        self.hostFailures = hostFailures
    }
}

/// The result of an attempt, which decides the next state of the client's queue.
public enum LogoutDeliverySettlement: Sendable, Hashable {
    /// The delivery arrived, or the client no longer wants notifications.
    case done
    /// The client responded with an error.
    ///
    /// The delivery is retried from a time on, or given up if it is nil. Other deliveries of the client
    /// continue.
    case refused(retryAt: Date?)
    /// The client's host did not respond. The delivery is retried from a time on, or given up if it is nil.
    ///
    /// The client's queue pauses until `pausedUntil`. Its deliveries queued before `removingBefore` are given
    /// up.
    case hostFailed(retryAt: Date?, pausedUntil: Date, removingBefore: Date)
    /// The delivery was not attempted; the client is due again at a time.
    case untried(dueAt: Date)
}

/// The number and age of the queued deliveries.
public struct LogoutBacklog: Sendable, Hashable {
    /// The number of queued deliveries.
    public let count: Int
    /// The time when the oldest was queued; nil if there is none.
    public let oldest: Date?

    /// Creates a record.
    public init(count: Int, oldest: Date?) {
        self.count = count
        self.oldest = oldest
    }
}

/// The queues of back-channel logout notifications.
///
/// The transaction that ends a session queues one delivery for each client that has a
/// `backchannel_logout_uri` and a grant of that session (see ``SessionStore``). Each client has a queue of
/// its own with at most one delivery in flight.
public protocol LogoutDeliveryStore: Sendable {
    /// Takes the first due delivery of each client, at most `limit`, earliest due first.
    ///
    /// Of the clients of one owner, at most ``LogoutDelivery/ownerLimit`` have a delivery in flight. A taken
    /// delivery blocks its client until it is settled or until `later`. A delivery whose server crashed is
    /// therefore taken again.
    func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery]
    /// Records the result of a delivery that was taken, and releases the client's queue.
    ///
    /// A delivery that is retried has one attempt more. ``LogoutDelivery/hostFailures`` increases after
    /// ``LogoutDeliverySettlement/hostFailed(retryAt:pausedUntil:removingBefore:)``. It is kept after
    /// ``LogoutDeliverySettlement/untried(dueAt:)`` and becomes 0 after any other result.
    ///
    /// - Returns: The number of deliveries that were given up.
    @discardableResult
    func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int
    /// Reads the size of the backlog, for metrics.
    func logoutBacklog() async throws(StoreFault) -> LogoutBacklog
}
