import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Leases the first due delivery of each client, for at most `limit` clients.
    ///
    /// A lease blocks the queue of the client until the delivery is settled, or until `later` if the server crashes. Of
    /// the clients of one party, at most `LogoutDelivery.ownerLimit` have a delivery in flight.
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        // Most calls find nothing due. They end after this read, without the write lock.
        guard try await read({ database in try database.hasDueLogout(at: now) }) else { return [] }
        return try await commit { database in
            try database.takeLogoutDeliveries(dueAt: now, until: later, limit: limit)
        }
    }

    /// Records the outcome of a leased delivery, ends the lease, and returns the number of deliveries that were
    /// discarded without success.
    @discardableResult
    public func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int {
        try await commit { database in
            let client = delivery.clientID
            switch settlement {
            case .done:
                try database.end(delivery, retryAt: nil)
                try database.requeue(client, hostFailures: 0)
                return 0
            case .refused(let retryAt):
                let givenUp = try database.end(delivery, retryAt: retryAt)
                try database.requeue(client, hostFailures: 0)
                return givenUp
            case .hostFailed(let retryAt, let pausedUntil, let removingBefore):
                var givenUp = try database.end(delivery, retryAt: retryAt)
                givenUp += try database.run(
                    LogoutQueues.removalOfOld, client.rawValue, removingBefore.microseconds,
                    LogoutQueues.removalLimit)
                try database.requeue(client, hostFailures: delivery.hostFailures + 1, notBefore: pausedUntil)
                return givenUp
            case .untried(let dueAt):
                try database.requeue(client, hostFailures: delivery.hostFailures, notBefore: dueAt)
                return 0
            }
        }
    }

    /// Reads the number and the age of the waiting deliveries, for metrics.
    public func logoutBacklog() async throws(StoreFault) -> LogoutBacklog {
        let found = try await read { database in
            try database.first(LogoutQueues.backlog) { columns in
                let count = Int(try columns.integer())
                return LogoutBacklog(count: count, oldest: count == 0 ? nil : try columns.date())
            }
        }
        return found ?? LogoutBacklog(count: 0, oldest: nil)
    }
}

/// The SQL statements on the delivery queues of clients.
enum LogoutQueues {
    /// The maximum number of old deliveries of a client that are deleted after a failure of its host.
    static let removalLimit = 1000

    /// The party of a client, a `LogoutParty`: an empty text for all unregistered clients.
    private static let party =
        "CASE clients.source WHEN 'console' THEN coalesce(clients.owner_id, clients.id) ELSE '' END"

    /// Selects at most ?3 clients with a delivery due at time ?1, each with its first one.
    ///
    /// At most ?2 clients of each party have a delivery in flight, the selected ones included. A clause can lock the
    /// rows of `queue`.
    static func due(locking lock: String = "") -> String {
        """
        WITH in_flight (party, clients) AS (
            SELECT \(party), count(*)
            FROM logout_queues JOIN clients ON clients.id = logout_queues.client_id
            WHERE logout_queues.leased_until > ?1 GROUP BY 1
        ), due (client_id, party, place) AS (
            SELECT logout_queues.client_id, \(party),
                row_number() OVER (
                    PARTITION BY \(party)
                    ORDER BY logout_queues.due_at, logout_queues.client_id)
            FROM logout_queues JOIN clients ON clients.id = logout_queues.client_id
            WHERE logout_queues.due_at <= ?1
        )
        SELECT chosen.client_id, chosen.host_failures, delivery.number, delivery.person_id, delivery.sealed_person_id,
            delivery.session_id, delivery.attempts
        FROM (
            SELECT queue.client_id, queue.host_failures, queue.due_at
            FROM due JOIN logout_queues AS queue ON queue.client_id = due.client_id
                LEFT JOIN in_flight ON in_flight.party = due.party
            WHERE queue.due_at <= ?1 AND due.place + coalesce(in_flight.clients, 0) <= ?2
            ORDER BY queue.due_at, queue.client_id LIMIT ?3 \(lock)
        ) AS chosen LEFT JOIN logout_deliveries AS delivery ON delivery.number = (
            SELECT number FROM logout_deliveries WHERE client_id = chosen.client_id AND due_at <= ?1
            ORDER BY due_at, number LIMIT 1
        )
        ORDER BY chosen.due_at, chosen.client_id
        """
    }

    /// Counts the deliveries of clients that are not deleted, and finds the oldest.
    static let backlog =
        "SELECT count(*), min(created_at) FROM logout_deliveries WHERE \(ClientRemovals.isOfNone)"

    /// Deletes at most ?3 deliveries of client ?1 that were created before time ?2.
    static let removalOfOld = """
        DELETE FROM logout_deliveries WHERE number IN (
            SELECT number FROM logout_deliveries WHERE client_id = ?1 AND created_at < ?2 LIMIT ?3
        )
        """
}

extension SQLConnection {
    package func hasDueLogout(at now: Date) throws -> Bool {
        try answers("SELECT EXISTS (SELECT 1 FROM logout_queues WHERE due_at <= ?)", now.microseconds) == [true]
    }

    /// Leases the first due delivery of each client, for at most `limit` clients.
    ///
    /// - Parameters:
    ///   - now: The time at which a delivery must be due.
    ///   - later: The end of the lease.
    ///   - limit: The maximum number of deliveries.
    ///   - lock: A clause that locks the rows of `queue`, for a database with several writers.
    package func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int, locking lock: String = ""
    ) throws -> [LogoutDelivery] {
        let due = try all(
            LogoutQueues.due(locking: lock), now.microseconds, LogoutDelivery.ownerLimit, limit,
            read: DueLogoutQueue.init(_:))
        for queue in due {
            if queue.delivery == nil {
                // The queue of the client is due, but none of its deliveries is, so the queue is scheduled again.
                try requeue(queue.clientID, hostFailures: queue.hostFailures)
            } else {
                try send(
                    "UPDATE logout_queues SET due_at = ?2, leased_until = ?2 WHERE client_id = ?1",
                    queue.clientID.rawValue, later.microseconds)
            }
        }
        return due.compactMap(\.delivery)
    }

    /// Postpones a delivery, or deletes it if there is no retry; returns the number of deleted deliveries.
    @discardableResult
    fileprivate func end(_ delivery: LogoutDelivery, retryAt: Date?) throws -> Int {
        guard let retryAt else {
            return try run("DELETE FROM logout_deliveries WHERE number = ?", delivery.number)
        }
        try send(
            "UPDATE logout_deliveries SET attempts = attempts + 1, due_at = ?2 WHERE number = ?1", delivery.number,
            retryAt.microseconds)
        return 0
    }

    /// Ends the lease of a client, and schedules its next delivery, but not before `notBefore`.
    ///
    /// It stores `hostFailures`, the number of consecutive failures of the client's host. If the client has no more
    /// deliveries, its queue is deleted.
    fileprivate func requeue(_ client: ClientIdentifier, hostFailures: Int, notBefore: Date? = nil) throws {
        let next = try first(
            "SELECT due_at FROM logout_deliveries WHERE client_id = ? ORDER BY due_at LIMIT 1", client.rawValue
        ) { columns in try columns.date() }
        guard let next else {
            try send("DELETE FROM logout_queues WHERE client_id = ?", client.rawValue)
            return
        }
        try send(
            "UPDATE logout_queues SET leased_until = NULL, host_failures = ?2, due_at = ?3 WHERE client_id = ?1",
            client.rawValue, hostFailures, max(next, notBefore ?? next).microseconds)
    }
}

/// A queue of a client that is due, with its first due delivery.
private struct DueLogoutQueue {
    let clientID: ClientIdentifier
    let hostFailures: Int
    let delivery: LogoutDelivery?

    init(_ columns: inout Columns) throws {
        clientID = try columns.value(ClientIdentifier.init(_:))
        hostFailures = Int(try columns.integer())
        guard let number = try columns.optionalInteger() else {
            delivery = nil
            return
        }
        delivery = LogoutDelivery(
            number: Int(number),
            clientID: clientID,
            subject: try columns.logoutSubject(),
            sessionID: try columns.value(SessionIdentifier.init(_:)),
            attempts: Int(try columns.integer()),
            hostFailures: hostFailures
        )
    }
}

extension Columns {
    /// Reads the identifier of a user and the encrypted identifier of a deleted user, of which one is NULL.
    fileprivate mutating func logoutSubject() throws(StoreFault) -> LogoutSubject {
        let user = try optionalValue(UserIdentifier.init(_:))
        let sealed = try optionalBytes()
        if let user { return .user(user) }
        guard let sealed else { throw damage() }
        return .removed(sealed: sealed)
    }
}
