import GRDB

/// A step of the schema from one version to the next.
///
/// The number of a step is its position in ``all``, counted from 1. A file stores the number of its last step, its
/// version, as `user_version`.
struct Migration: Sendable {
    /// The step, which runs in the transaction of the whole migration.
    let apply: @Sendable (Database) throws -> Void

    /// Every step, oldest first; the first one creates the tables of version 1.
    ///
    /// A step never changes after its release; a later change of the schema is a new step.
    static let all = [Migration { database in try Tables.create(in: database) }]

    /// Migrates a database to the newest step in one transaction; writes nothing if the database is up to date.
    ///
    /// - Parameter steps: Every step, oldest first.
    static func run(_ database: Database, through steps: [Migration] = all) throws {
        guard try pending(of: steps, in: database) > 0 else { return }
        // A step may replace a table that other tables reference, so foreign keys are turned off. This happens before
        // the transaction, in which SQLite ignores the pragma. If a step fails, opening the store fails, so no
        // connection remains without foreign keys.
        try database.execute(sql: "PRAGMA foreign_keys = OFF")
        try database.inTransaction(.immediate) {
            // Another process may have migrated the file first.
            let pending = try pending(of: steps, in: database)
            guard pending > 0 else { return .rollback }
            for migration in steps.suffix(pending) { try migration.apply(database) }
            // GRDB could throw an error for a violation itself, but that error would contain the values of the row.
            if let violation = try database.foreignKeyViolations().next() {
                throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: violation.description)
            }
            try database.execute(sql: "PRAGMA application_id = \(SQLiteStore.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(steps.count)")
            return .commit
        }
        try database.execute(sql: "PRAGMA foreign_keys = ON")
    }

    /// Returns the number of steps that a database lacks.
    private static func pending(of steps: [Migration], in database: Database) throws -> Int {
        switch try DatabaseFileKind(of: database) {
        case .empty, .missing:
            return steps.count
        case .sqlite(SQLiteStore.applicationID, let version) where (0...steps.count).contains(version):
            return steps.count - version
        case .sqlite(SQLiteStore.applicationID, let version):
            throw SQLiteStore.Foreign(version: version, supported: steps.count)
        case .sqlite, .other:
            throw SQLiteStore.Foreign(version: 0, supported: steps.count)
        }
    }
}
