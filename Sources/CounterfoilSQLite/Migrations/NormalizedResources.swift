import CounterfoilProtocol
import CounterfoilSQL
import GRDB

extension Migration {
    /// Adds the normalized form of their resource indicators to the APIs, by which they are found.
    ///
    /// Until this step, indicators were compared byte for byte. Two APIs can therefore have the same normalized
    /// indicator, so the index is not unique. `addResource` refuses a further one.
    static let normalizedResources = Migration { database in
        try database.execute(sql: "ALTER TABLE resources ADD COLUMN normalized TEXT NOT NULL DEFAULT ''")
        let registered = try database.connection.all("SELECT resource FROM resources") { columns in
            try columns.value { try Resource($0) }
        }
        for resource in registered {
            try database.connection.send(
                "UPDATE resources SET normalized = ?2 WHERE resource = ?1", resource.rawValue, resource.normalized)
        }
        try database.execute(sql: "CREATE INDEX resources_normalized ON resources (normalized)")
    }
}
