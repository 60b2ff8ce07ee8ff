import GRDB

extension Migration {
    /// A name of a session stands for 128 bits; those that ``tokenLife`` gave had the length of 192, and are cut to it wherever they
    /// stand.
    static let sessionNames = Migration { database in
        for (table, column) in [("sessions", "id"), ("grants", "session_id"), ("logout_deliveries", "session_id")] {
            // Of 22 characters the last says two bits only: with `A` they are 0, as are the four after them, which must be.
            try database.execute(
                sql: "UPDATE \(table) SET \(column) = substr(\(column), 1, 25) || 'A' WHERE length(\(column)) = 36")
        }
    }
}
