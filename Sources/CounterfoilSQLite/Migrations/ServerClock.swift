import GRDB

extension Migration {
    /// Adds the clock of the running server to its heartbeat.
    static let serverClock = Migration { database in
        // All three are NULL until a server has run, and on systems that do not identify their boots.
        for column in ["boot TEXT", "boot_clock INTEGER", "clock_origin INTEGER"] {
            try database.execute(sql: "ALTER TABLE service ADD COLUMN \(column)")
        }
    }
}
