public import CounterfoilProtocol
public import Foundation

/// The user in a queued logout notification.
public enum LogoutSubject: Sendable, Hashable {
    /// The identifier of a user.
    case user(UserIdentifier)
    /// The encrypted identifier of a deleted user (``RemovalTerms/sealedUserID``).
    case removed(sealed: [UInt8])
}

/// A queued notification that tells a client about an ended session (OpenID Connect Back-Channel Logout §2.5).
public struct LogoutDelivery: Sendable, Hashable {
    /// The number of failed attempts after which a delivery is discarded.
    public static let attemptLimit = 8
    /// The maximum number of clients of one owner (developer) that have a delivery in flight at the same time.
    ///
    /// All unregistered clients together have the same limit.
    public static let ownerLimit = 4

    /// The number that identifies the delivery, unique in the store.
    public let number: Int
    /// The client to notify, at its ``RegisteredClient/backchannelLogoutURI``.
    public let clientID: ClientIdentifier
    /// The user of the session, from whom the `sub` of the logout token is derived.
    public let subject: LogoutSubject
    /// The ended session, `sid`.
    public let sessionID: SessionIdentifier
    /// The number of failed attempts at this delivery, less than ``attemptLimit``.
    public let attempts: Int
    /// The number of consecutive times that the client's host failed to respond, over all deliveries to the client.
    public let hostFailures: Int

    /// Creates a delivery that a store has taken from a queue.
    public init(
        number: Int, clientID: ClientIdentifier, subject: LogoutSubject, sessionID: SessionIdentifier,
        attempts: Int, hostFailures: Int = 0
    ) {
        self.number = number
        self.clientID = clientID
        self.subject = subject
        self.sessionID = sessionID
        self.attempts = attempts
        self.hostFailures = hostFailures
    }
}

/// The clients that share one limit of deliveries in flight and one of concurrent DNS lookups.
package enum LogoutParty: Sendable, Hashable, CustomStringConvertible {
    /// The clients of a developer.
    case owner(UserIdentifier)
    /// A client that an administrator registered without an owner.
    case client(ClientIdentifier)
    /// All unregistered clients, because one stranger can register any number of them.
    case unregistered

    /// The party of a client.
    package init(of client: RegisteredClient) {
        self =
            if client.isUnregistered { .unregistered } else { client.owner.map(Self.owner) ?? .client(client.id) }
    }

    /// The text by which the sender of notifications tells the parties apart.
    package var description: String {
        switch self {
        case .owner(let user): "owner \(user)"
        case .client(let id): "client \(id)"
        case .unregistered: "unregistered clients"
        }
    }
}

/// The result of an attempt to deliver a notification, which determines when the next attempt follows.
public enum LogoutDeliverySettlement: Sendable, Hashable {
    /// The client received the notification, or must no longer be notified; the delivery is deleted.
    case done
    /// The client responded, but neither with success nor with a status that counts as
    /// ``hostFailed(retryAt:pausedUntil:removingBefore:)``.
    ///
    /// The delivery is retried at `retryAt`, or discarded if `retryAt` is nil. Other deliveries to the client continue.
    case refused(retryAt: Date?)
    /// The client's host did not respond, or reported that it is overloaded or unavailable (status 429 or 502 to 504).
    ///
    /// The delivery is retried at `retryAt`, or discarded if `retryAt` is nil.
    ///
    /// The client's queue pauses until `pausedUntil`. The store discards the client's deliveries that were queued
    /// before `removingBefore`.
    case hostFailed(retryAt: Date?, pausedUntil: Date, removingBefore: Date)
    /// The attempt was not made or was cut off by the server, which is busy or stopping; the client's queue pauses
    /// until `dueAt`.
    case untried(dueAt: Date)
}

/// The number and age of the queued deliveries.
public struct LogoutBacklog: Sendable, Hashable {
    /// The number of queued deliveries to all clients, including those in flight.
    public let count: Int
    /// The time when the oldest queued delivery was queued; nil if no delivery is queued.
    public let oldest: Date?

    /// Creates a record; `oldest` is nil if `count` is 0.
    public init(count: Int, oldest: Date?) {
        self.count = count
        self.oldest = oldest
    }
}

/// The queues of back-channel logout notifications.
///
/// The transaction that ends a session queues one delivery for each client that has a `backchannel_logout_uri` and
/// a grant of that session (see ``SessionStore``). Each client has a separate queue with at most one delivery in
/// flight.
public protocol LogoutDeliveryStore: Sendable {
    /// Takes at most `limit` due deliveries, earliest due first and at most one for each client.
    ///
    /// Of the clients of one owner, at most ``LogoutDelivery/ownerLimit`` have a delivery in flight. All unregistered
    /// clients (``RegisteredClient/isUnregistered``) count as those of one owner. A taken delivery blocks the client's
    /// queue until the delivery is settled or until `later`. If the server crashes before it settles a delivery, the
    /// delivery can thus be taken again.
    func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery]
    /// Records the result of a delivery that was taken, and unblocks the client's queue.
    ///
    /// If the delivery is retried, its ``LogoutDelivery/attempts`` increases by one. The
    /// ``LogoutDelivery/hostFailures`` of the client increases by one after
    /// ``LogoutDeliverySettlement/hostFailed(retryAt:pausedUntil:removingBefore:)``. That number stays the same after
    /// ``LogoutDeliverySettlement/untried(dueAt:)``, and becomes 0 after any other result.
    ///
    /// - Returns: The number of deliveries that were discarded without success.
    @discardableResult
    func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int
    /// Reads the number and age of the queued deliveries, for metrics.
    func logoutBacklog() async throws(StoreFault) -> LogoutBacklog
}
