import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// Orders the audit log by time and number, and limits a deletion to a position in this order.
    static let auditPositions = Migration { database in
        try database.execute(
            sql: """
                DROP INDEX audit_person;
                DROP INDEX audit_client;
                DROP INDEX audit_kind;
                CREATE INDEX audit_time ON audit (at, number);
                CREATE INDEX audit_person ON audit (person_id, at, number) WHERE person_id IS NOT NULL;
                CREATE INDEX audit_client ON audit (client_id, at, number) WHERE client_id IS NOT NULL;
                CREATE INDEX audit_kind ON audit (kind, at, number);

                DROP TRIGGER audit_is_never_shortened;
                DROP TABLE audit_removal;
                -- Holds a row only within the transaction of a deletion.
                CREATE TABLE audit_removal (through_at INTEGER NOT NULL, through_number INTEGER NOT NULL) STRICT;
                CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
                    WHEN NOT EXISTS (
                        SELECT 1 FROM audit_removal
                        WHERE (OLD.at, OLD.number) <= (audit_removal.through_at, audit_removal.through_number)
                    )
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                """)
    }
}
