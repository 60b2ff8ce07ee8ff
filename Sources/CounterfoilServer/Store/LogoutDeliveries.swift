public import CounterfoilProtocol
public import Foundation

/// That an application is to be told that a session has ended (OpenID Connect Back-Channel Logout §2.5).
public struct LogoutDelivery: Sendable, Hashable {
    /// How often it is tried before it is given up.
    public static let attemptLimit = 8
    /// How many clients of one owner have a delivery in flight at once.
    public static let ownerLimit = 4

    /// Its number.
    public let number: Int
    /// Whom to tell.
    public let clientID: ClientIdentifier
    /// Whose session it was.
    public let personID: PersonIdentifier
    /// Which session, `sid`.
    public let sessionID: SessionIdentifier
    /// How often it was tried in vain.
    public let attempts: Int
    /// How often in a row the host of the client did not answer, for whichever delivery.
    public let hostFailures: Int

    /// Makes a record.
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

/// The outcome of a delivery, as the queue of its client needs it.
public enum LogoutDeliverySettlement: Sendable, Hashable {
    /// It arrived, or the client wants none any more.
    case done
    /// The client answered, but did not take it: retried from a moment on, or given up. Other deliveries of the client go on.
    case refused(retryAt: Date?)
    /// The host of the client did not answer: retried from a moment on, or given up. Until another moment the client gets nothing,
    /// and its deliveries that are older than a third are given up.
    case hostFailed(retryAt: Date?, pausedUntil: Date, removingBefore: Date)
    /// It was not sent; the client is due again from a moment on.
    case untried(dueAt: Date)
}

/// The deliveries that wait.
public struct LogoutBacklog: Sendable, Hashable {
    /// How many there are.
    public let count: Int
    /// When the oldest was queued; nil when there is none.
    public let oldest: Date?

    /// Creates a record.
    public init(count: Int, oldest: Date?) {
        self.count = count
        self.oldest = oldest
    }
}

/// What applications are still to be told.
///
/// The end of a session writes them in its own step, for each application that has a back-channel address and a grant of that
/// session (see ``SessionStore``). Each client has a queue of its own, of which one delivery at a time is in flight.
public protocol LogoutDeliveryStore: Sendable {
    /// Takes the first delivery that is due of each client, at most so many, and of the clients of one owner at most
    /// ``LogoutDelivery/ownerLimit`` in flight.
    ///
    /// A client whose delivery was taken has nothing due until the delivery is settled, or until a moment.
    func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery]
    /// Records the outcome of a delivery that was taken; how many deliveries were given up.
    @discardableResult
    func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int
    /// The deliveries that wait, for metrics.
    func logoutBacklog() async throws(StoreFault) -> LogoutBacklog
}
