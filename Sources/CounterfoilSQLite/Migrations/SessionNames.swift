import GRDB

extension Migration {
    /// Cuts the session identifiers of ``tokenLife`` to 128 bits in base64url, in every table.
    ///
    /// They have 32 characters, which is the length of 192 bits.
    static let sessionNames = Migration { database in
        for (table, column) in [("sessions", "id"), ("grants", "session_id"), ("logout_deliveries", "session_id")] {
            // The 22nd base64url character carries two bits. `A` sets them to zero, and the four padding
            // bits, which must be zero.
            try database.execute(
                sql: "UPDATE \(table) SET \(column) = substr(\(column), 1, 25) || 'A' WHERE length(\(column)) = 36")
        }
    }
}
