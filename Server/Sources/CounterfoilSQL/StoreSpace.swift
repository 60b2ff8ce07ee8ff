package import CounterfoilStore

extension SQLStore {
    /// Reads the sizes that only the database knows.
    package func space() async throws(StoreFault) -> StoreSpace {
        let kind = database.engine.kind
        return try await read { database in
            func number(_ sql: String) throws -> Int {
                Int(try database.first(sql) { columns in try columns.integer() } ?? 0)
            }
            switch kind {
            case .postgresql:
                return StoreSpace(database: try number("SELECT pg_database_size(current_database())"), free: nil)
            case .sqlite:
                let size = try number("PRAGMA page_size")
                // The file never shrinks, so the second number, which can be of a later state, is not the smaller one.
                let free = try number("PRAGMA freelist_count")
                return StoreSpace(database: try number("PRAGMA page_count") * size, free: free * size)
            }
        }
    }
}
