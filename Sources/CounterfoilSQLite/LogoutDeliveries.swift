import CounterfoilProtocol
public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: LogoutDeliveryStore {
    /// Takes deliveries that are due, at most so many, and puts each off until a moment, so that no other process takes it too.
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        // Looking costs nobody the write lock while there is nothing to take.
        let isAnyDue = try read { database in
            try database.answers("SELECT EXISTS (SELECT 1 FROM logout_deliveries WHERE due_at <= ?)", now.microseconds)
        }
        guard isAnyDue == [true] else { return [] }
        return try await commits.commit { database in
            let due = try database.all(
                """
                SELECT number, client_id, person_id, session_id, attempts FROM logout_deliveries
                WHERE due_at <= ? ORDER BY due_at, number LIMIT ?
                """,
                now.microseconds,
                limit
            ) { columns in
                LogoutDelivery(
                    number: Int(try columns.integer()),
                    clientID: try columns.value(ClientIdentifier.init(_:)),
                    personID: try columns.value(PersonIdentifier.init(_:)),
                    sessionID: try columns.value(SessionIdentifier.init(_:)),
                    attempts: Int(try columns.integer())
                )
            }
            for delivery in due {
                try database.run(
                    "UPDATE logout_deliveries SET due_at = ?2 WHERE number = ?1", delivery.number, later.microseconds)
            }
            return due
        }
    }

    /// Removes a delivery: it has arrived, or is given up.
    public func removeLogoutDelivery(_ number: Int) async throws(StoreFault) {
        try await commits.commit { database in
            _ = try database.run("DELETE FROM logout_deliveries WHERE number = ?", number)
        }
    }

    /// Counts a delivery that did not arrive, and puts it off until a moment.
    public func postponeLogoutDelivery(_ number: Int, until later: Date) async throws(StoreFault) {
        try await commits.commit { database in
            _ = try database.run(
                "UPDATE logout_deliveries SET attempts = attempts + 1, due_at = ?2 WHERE number = ?1", number,
                later.microseconds)
        }
    }
}
