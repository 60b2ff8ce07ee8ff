import GRDB

extension Migration {
    /// The identifiers of removed clients, so that no form registers another client under one of them.
    static let removedClients = Migration { database in
        try database.execute(sql: "CREATE TABLE removed_clients (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID")
    }
}
