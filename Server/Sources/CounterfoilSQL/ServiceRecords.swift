public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Returns the time by the clock of the store, which every process that uses it shares.
    public func now() -> Date { database.engine.now }
}

extension SQLStore {
    /// Records `now` as the last time at which the store responded, unless a later time is already recorded.
    ///
    /// A recorded time that is more than `silence` seconds later is from before the clock was set back, so `now`
    /// replaces it, and the outages from after `now` are deleted.
    ///
    /// If the previously recorded time is more than `silence` seconds before `now`, the time in between is recorded as
    /// an outage. The latest `ServiceRecord.outageLimit` outages are kept.
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        let engine = database.engine
        try await commit { database in
            let former = try database.first("SELECT answered_at FROM service") { columns in try columns.date() }
            if let former, former.timeIntervalSince(now) > silence {
                try database.send("DELETE FROM outages WHERE ended_at > ?", now.microseconds)
            }
            if let former, now.timeIntervalSince(former) > silence {
                try database.send(
                    "INSERT INTO outages (began_at, ended_at) VALUES (?, ?)", former.microseconds, now.microseconds)
                try database.send(
                    """
                    DELETE FROM outages WHERE began_at <= (
                        SELECT began_at FROM outages ORDER BY began_at DESC LIMIT 1 OFFSET \(ServiceRecord.outageLimit)
                    )
                    """)
            }
            try database.send(
                """
                INSERT INTO service (id, answered_at) VALUES (1, ?1)
                ON CONFLICT (id) DO UPDATE SET
                    -- A later time than the limit allows is from before the clock was set back.
                    answered_at = CASE WHEN service.answered_at > ?2 THEN excluded.answered_at
                        ELSE max(service.answered_at, excluded.answered_at) END
                """,
                now.microseconds, now.addingTimeInterval(silence).microseconds)
            try engine.noteClock(on: database)
        }
    }

    /// Commits something that needs new space, and leaves nothing of it.
    public func takeUpSpace() async throws(StoreFault) {
        let engine = database.engine
        try await commit { database in try engine.takeUpSpace(on: database) }
    }

    /// Reads the last time at which the store responded, and the outages that ended after `start`.
    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        let rows = try await read { database in
            try database.all(
                """
                SELECT service.answered_at, outages.began_at, outages.ended_at
                FROM service LEFT JOIN outages ON outages.ended_at > ? ORDER BY outages.began_at
                """,
                start.microseconds
            ) { columns in
                (answered: try columns.date(), began: try columns.optionalDate(), ended: try columns.optionalDate())
            }
        }
        return ServiceRecord(
            answeredAt: rows.first?.answered,
            outages: rows.compactMap { row in
                guard let began = row.began, let ended = row.ended else { return nil }
                return ServiceRecord.Outage(began: began, ended: ended)
            })
    }
}
