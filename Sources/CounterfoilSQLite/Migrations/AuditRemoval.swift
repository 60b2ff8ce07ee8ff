import GRDB

extension Migration {
    /// The deletion of the oldest audit events, only in a transaction that states the last event to delete.
    static let auditRemoval = Migration { database in
        try database.execute(
            sql: """
                -- Holds a row only within the transaction of a removal.
                CREATE TABLE audit_removal (through INTEGER NOT NULL) STRICT;

                DROP TRIGGER audit_is_never_shortened;
                CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
                    WHEN NOT EXISTS (SELECT 1 FROM audit_removal WHERE audit_removal.through >= OLD.number)
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                """
        )
    }
}
