/// The sizes of a database that only the database knows.
package struct StoreSpace: Sendable, Hashable {
    /// The number of bytes of a PostgreSQL database; nil for a file.
    package let database: Int?
    /// The number of bytes of a file that deleted records have left; nil for PostgreSQL.
    ///
    /// New records use them first. The file itself becomes no smaller.
    package let free: Int?

    package init(database: Int?, free: Int?) {
        self.database = database
        self.free = free
    }
}
