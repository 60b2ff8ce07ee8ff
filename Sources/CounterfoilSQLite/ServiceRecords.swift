public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: StoreClock {
    /// Returns the time by the clock of the server that runs on the file; if none does, by a clock that started with
    /// the wall clock when this store was opened.
    ///
    /// Setting the wall clock does not change it.
    public func now() -> Date { clock.now }
}

extension SQLiteStore: ServiceRecordStore {
    /// Records `now` as the last time at which the store responded, unless a later time is already recorded.
    ///
    /// A recorded time that is more than `silence` seconds later is from before the clock was set back, so `now`
    /// replaces it, and the outages from after `now` are deleted.
    ///
    /// If the previously recorded time is more than `silence` seconds before `now`, the time in between is recorded as
    /// an outage. The latest `ServiceRecord.outageLimit` outages are kept.
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        let mark = clock.mark
        try await commits.commit { database in
            let former = try database.first("SELECT answered_at FROM service") { columns in try columns.date() }
            if let former, former.timeIntervalSince(now) > silence {
                try database.run("DELETE FROM outages WHERE ended_at > ?", now.microseconds)
            }
            if let former, now.timeIntervalSince(former) > silence {
                try database.run(
                    "INSERT INTO outages (began_at, ended_at) VALUES (?, ?)", former.microseconds, now.microseconds)
                try database.run(
                    """
                    DELETE FROM outages WHERE began_at <= (
                        SELECT began_at FROM outages ORDER BY began_at DESC LIMIT 1 OFFSET \(ServiceRecord.outageLimit)
                    )
                    """)
            }
            try database.run(
                """
                INSERT INTO service (id, answered_at, boot, boot_clock, clock_origin) VALUES (1, ?1, ?2, ?3, ?4)
                ON CONFLICT (id) DO UPDATE SET
                    -- A later time than the limit allows is from before the clock was set back.
                    answered_at = CASE WHEN answered_at > ?5 THEN excluded.answered_at
                        ELSE max(answered_at, excluded.answered_at) END,
                    boot = excluded.boot,
                    boot_clock = excluded.boot_clock, clock_origin = excluded.clock_origin
                """,
                now.microseconds, mark?.boot, mark?.beat, mark?.origin,
                now.addingTimeInterval(silence).microseconds)
        }
    }

    /// Reads the last time at which the store responded, and the outages that ended after `start`.
    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        let rows = try read { database in
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

extension Database {
    /// Reads the mark of the last heartbeat; nil if there is none.
    func clockMark() throws -> FileClock.Mark? {
        try first("SELECT boot, boot_clock, clock_origin FROM service WHERE boot IS NOT NULL") { columns in
            FileClock.Mark(
                boot: try columns.text(), beat: try columns.integer(), origin: try columns.integer())
        }
    }
}
