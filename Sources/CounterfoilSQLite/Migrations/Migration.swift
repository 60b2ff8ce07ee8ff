import GRDB

/// A step of the schema; its number is its place in ``all``, and a file keeps the number of the last one as `user_version`.
struct Migration: Sendable {
    /// What to run, in the transaction of the whole migration.
    let apply: @Sendable (Database) throws -> Void

    /// Every step, oldest first.
    ///
    /// A step that has been released is never changed; a change is a new one.
    static var all: [Migration] {
        [
            .firstTables, .applicationsAndConsents, .tokenLife, .consentsByResource, .restingTokens, .registryVersion,
            .findingInOrder, .sessionNames, .numberedGrants, .listedScopes, .claimScopes, .siteStatements,
            .requestedScopes, .sessionEnds, .outages, .machineScopes, .removedClients, .logoutQueues,
            .auditRemoval,
        ]
    }

    /// Brings a database to the newest step, in one transaction; does not write when it is there already.
    static func run(_ database: Database) throws {
        guard try pending(in: database) > 0 else { return }
        // A step may take away a table on which others hang, to put another in its place. No step can turn this off itself, and
        // whoever opens a file with a step that failed does not get it.
        try database.execute(sql: "PRAGMA foreign_keys = OFF")
        try database.inTransaction(.immediate) {
            // Another process may have come first.
            let pending = try pending(in: database)
            guard pending > 0 else { return .rollback }
            for migration in all.suffix(pending) { try migration.apply(database) }
            // What GRDB would throw by itself has the whole row in its words.
            if let violation = try database.foreignKeyViolations().next() {
                throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: violation.description)
            }
            try database.execute(sql: "PRAGMA application_id = \(SQLiteStore.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(all.count)")
            return .commit
        }
        try database.execute(sql: "PRAGMA foreign_keys = ON")
    }

    /// How many steps a database lacks.
    private static func pending(in database: Database) throws -> Int {
        switch try FileIdentity(of: database) {
        case .empty, .missing:
            return all.count
        case .sqlite(SQLiteStore.applicationID, let version) where (0...all.count).contains(version):
            return all.count - version
        case .sqlite(SQLiteStore.applicationID, let version):
            throw SQLiteStore.Foreign(version: version)
        case .sqlite, .other:
            throw SQLiteStore.Foreign(version: 0)
        }
    }
}
