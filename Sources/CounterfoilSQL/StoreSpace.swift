package import CounterfoilServer

extension SQLStore {
    /// Reads the sizes that only the database knows.
    package func space() async throws(StoreFault) -> StoreSpace {
        let kind = database.engine.kind
        return try await read { database in
            func number(_ sql: String) throws -> Int {
                Int(try database.first(sql) { columns in try columns.integer() } ?? 0)
            }
            return switch kind {
            case .postgresql:
                StoreSpace(database: try number("SELECT pg_database_size(current_database())"), free: nil)
            case .sqlite:
                StoreSpace(
                    database: nil, free: try number("PRAGMA freelist_count") * number("PRAGMA page_size"))
            }
        }
    }
}
