public import CounterfoilStore

/// The version of the software of a database, and that of the tables in it.
public struct StoreVersions: Sendable, Hashable, CustomStringConvertible {
    /// The name and version of the software, such as `SQLite 3.46.1`.
    public let software: String
    /// The number of the last step of the schema that was applied.
    public let tables: Int

    /// The two versions as a sentence.
    public var description: String { "the database is \(software), with tables of version \(tables)" }
}

extension SQLStore {
    /// Reads the version of the database and that of its tables.
    public func versions() async throws(StoreFault) -> StoreVersions {
        let (name, sql) = Self.query(database.engine.kind)
        let versions = try await database.engine.read { connection in
            try connection.first(sql) { columns in
                StoreVersions(software: "\(name) \(try columns.text())", tables: Int(try columns.integer()))
            }
        }
        return versions ?? StoreVersions(software: name, tables: 0)
    }

    private static func query(_ kind: StoreMeasurements.Kind) -> (name: String, sql: String) {
        switch kind {
        case .sqlite: ("SQLite", "SELECT sqlite_version(), user_version FROM pragma_user_version")
        case .postgresql: ("PostgreSQL", "SELECT current_setting('server_version'), version FROM counterfoil_schema")
        }
    }
}
