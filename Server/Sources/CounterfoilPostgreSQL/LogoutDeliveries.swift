import CounterfoilSQL
public import CounterfoilStore
public import Foundation
import PostgreSQLDriver

extension PostgreSQLStore {
    /// Leases the first due delivery of each client, for at most `limit` clients.
    ///
    /// All servers look for due deliveries at the same times and find the same ones. As serializable transactions,
    /// their leases would conflict. So a lease is no commit of the order (`TransactionOpening.ordinary`): one server at
    /// a time takes deliveries, and another one takes none instead of waiting for it. The next transaction sees all
    /// leases before it, so the limits hold for all servers together.
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        guard try await read({ database in try database.hasDueLogout(at: now) }) else { return [] }
        return try await traced { () async throws(StoreFault) in
            try await connections.commit { transaction in
                // The next statement sees what was committed before the lock. An attempt to sign in may have the row,
                // too, for a moment.
                let turn = Statement("SELECT slot FROM attempt_locks WHERE slot = 0 FOR UPDATE SKIP LOCKED")
                guard try transaction.rows(of: turn).count > 0 else { return [] }
                // The end of a session may be changing the queue of a client.
                return try SQLConnection(transaction).takeLogoutDeliveries(
                    dueAt: now, until: later, limit: limit, locking: "FOR UPDATE OF queue SKIP LOCKED")
            }
        }
    }
}
