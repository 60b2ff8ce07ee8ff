/// The sizes of a database that only the database knows.
package struct StoreSpace: Sendable, Hashable {
    /// The number of bytes of the database.
    ///
    /// With SQLite, they include the pages that only the write-ahead log has yet, so the file can be smaller.
    package let database: Int
    /// The number of those bytes that deleted records have left; nil for PostgreSQL.
    ///
    /// New records use them first. A file becomes no smaller.
    package let free: Int?

    package init(database: Int, free: Int?) {
        self.database = database
        self.free = free
    }
}
