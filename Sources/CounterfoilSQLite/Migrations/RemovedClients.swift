import GRDB

extension Migration {
    /// The identifiers of deleted clients, so that no developer registers another client with one of them.
    static let removedClients = Migration { database in
        try database.execute(sql: "CREATE TABLE removed_clients (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID")
    }
}
