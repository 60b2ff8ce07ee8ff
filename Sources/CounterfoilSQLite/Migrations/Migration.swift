import GRDB

/// A migration step of the schema.
///
/// Its number is its position in ``all``. A file stores the number of its last step as `user_version`.
struct Migration: Sendable {
    /// The step, which runs in the transaction of the whole migration.
    let apply: @Sendable (Database) throws -> Void

    /// Every step, oldest first.
    ///
    /// A released step never changes; a change is a new step.
    static var all: [Migration] {
        [
            .firstTables, .applicationsAndConsents, .tokenLife, .consentsByResource, .restingTokens, .registryVersion,
            .findingInOrder, .sessionNames, .numberedGrants, .listedScopes, .claimScopes, .siteStatements,
            .requestedScopes, .sessionEnds, .outages, .machineScopes, .removedClients, .logoutQueues,
            .auditRemoval,
        ]
    }

    /// Migrates a database to the newest step in one transaction; writes nothing if it is already there.
    static func run(_ database: Database) throws {
        guard try pending(in: database) > 0 else { return }
        // A step may replace a table that others reference. It cannot turn foreign keys off itself, because
        // SQLite ignores this pragma in a transaction. If a step fails, opening fails, so no connection stays
        // without foreign keys.
        try database.execute(sql: "PRAGMA foreign_keys = OFF")
        try database.inTransaction(.immediate) {
            // Another process may have migrated the file first.
            let pending = try pending(in: database)
            guard pending > 0 else { return .rollback }
            for migration in all.suffix(pending) { try migration.apply(database) }
            // GRDB's own error would include the whole row.
            if let violation = try database.foreignKeyViolations().next() {
                throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: violation.description)
            }
            try database.execute(sql: "PRAGMA application_id = \(SQLiteStore.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(all.count)")
            return .commit
        }
        try database.execute(sql: "PRAGMA foreign_keys = ON")
    }

    /// Returns the number of steps that a database lacks.
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
