public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Adds numbers to those of the hours that contain the times.
    public func addActivity(_ counts: [Date: ActivityCounts]) async throws(StoreFault) {
        try await commit { database in
            for (time, counts) in counts {
                for (kind, count) in counts {
                    try database.add(count, of: kind, at: time, in: database.processSlot)
                }
            }
        }
    }

    /// Reads the numbers of the periods between consecutive times.
    public func activity(between times: [Date]) async throws(StoreFault) -> [ActivityCounts] {
        let count = times.count - 1
        guard count > 0 else { return [] }
        return try await read { database in
            var periods = Array(repeating: ActivityCounts(), count: count)
            let rows = try database.all(StoreQuery.activity(periods: count), values: times.map(\.microseconds)) {
                columns in
                (period: Int(try columns.integer()), kind: try columns.text(), count: Int(try columns.integer()))
            }
            for row in rows {
                // A newer version can count other events.
                guard let kind = ActivityKind(rawValue: row.kind) else { continue }
                periods[row.period][kind] = row.count
            }
            return periods
        }
    }
}

extension SQLConnection {
    /// Adds a number to that of the hour that contains a time.
    ///
    /// - Parameters:
    ///   - count: The number.
    ///   - kind: The kind of the events.
    ///   - time: The time.
    ///   - slot: The row of the hour: ``counterSlot`` in commits of which many run at once, or else ``processSlot``.
    func add(_ count: Int, of kind: ActivityKind, at time: Date, in slot: Int64) throws {
        try send(
            """
            INSERT INTO activity_counts (hour, kind, slot, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (hour, kind, slot) DO UPDATE SET count = activity_counts.count + excluded.count
            """, ActivityHour.beginning(of: time).microseconds, kind.rawValue, slot, count)
    }
}

extension StoreQuery {
    /// The numbers of the periods between the times ?1, ?2 and so on, in one statement and so in one round trip.
    package static func activity(periods: Int) -> String {
        (0..<periods).map { period in
            """
            SELECT CAST(\(period) AS bigint), kind, CAST(sum(count) AS bigint) FROM activity_counts
            WHERE hour >= ?\(period + 1) AND hour < ?\(period + 2) GROUP BY kind
            """
        }.joined(separator: "\nUNION ALL\n")
    }
}
