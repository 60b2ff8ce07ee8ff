import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilStore
import GRDB

/// The tables of a new file that other databases do not have or write otherwise, the triggers, and the initial rows.
///
/// `StoreSchema` has all other tables. Only one server runs on a file, so used DPoP proofs are in its memory.
enum Tables {
    /// Creates everything in an empty database.
    static func create(in database: Database) throws {
        for statement in StoreSchema.statements(for: .sqlite) + [service, triggers, auditTriggers, initialRows]
            + renewals + EndingTrigger.statements(for: .sqlite)
        {
            try database.execute(sql: statement)
        }
        for scope in ScopeDefinition.standard {
            try database.connection.send(
                "INSERT INTO scopes (name, description, is_listed) VALUES (?, ?, 1)", scope.token.rawValue,
                scope.description)
        }
    }

    /// The heartbeat of the server with its clock.
    private static let service = """
        CREATE TABLE service (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            answered_at INTEGER NOT NULL,
            -- The clock of the running server; NULL until a server has run, and on systems that do not identify their
            -- boots.
            boot TEXT,
            boot_clock INTEGER,
            clock_origin INTEGER
        ) STRICT
        """

    private static let initialRows = """
        INSERT INTO registry (id, revision) VALUES (1, random());
        INSERT INTO endings_record (id, identity, first_number, last_number)
            VALUES (1, lower(hex(randomblob(16))), 0, 0);
        """

    private static let triggers = """
        -- A new user must not get the number of a deleted user who still has grants.
        CREATE TRIGGER people_get_free_numbers AFTER INSERT ON people
            WHEN EXISTS (SELECT 1 FROM removed_people WHERE removed_people.number = NEW.number)
            BEGIN SELECT RAISE(ABORT, 'the number of a deleted user is still in use'); END;

        -- A new client must not get the records of a deleted one.
        CREATE TRIGGER clients_get_free_identifiers BEFORE INSERT ON clients
            WHEN EXISTS (SELECT 1 FROM client_removals WHERE client_removals.id = NEW.id)
            BEGIN SELECT RAISE(ABORT, 'the identifier of a deleted client is still in use'); END;

        CREATE TRIGGER clients_insert_origins AFTER INSERT ON clients WHEN NEW.origins <> ''
        BEGIN
            INSERT INTO client_origins (origin, client_id)
                SELECT DISTINCT value, NEW.id FROM json_each('["' || replace(NEW.origins, ' ', '","') || '"]');
        END;
        CREATE TRIGGER clients_update_origins AFTER UPDATE OF origins ON clients WHEN NEW.origins <> OLD.origins
        BEGIN
            DELETE FROM client_origins WHERE client_id = NEW.id;
            INSERT INTO client_origins (origin, client_id)
                SELECT DISTINCT value, NEW.id FROM json_each('["' || replace(NEW.origins, ' ', '","') || '"]')
                WHERE NEW.origins <> '';
        END;

        CREATE TRIGGER logout_deliveries_are_queued AFTER INSERT ON logout_deliveries BEGIN
            UPDATE logout_deliveries SET created_at = due_at WHERE number = NEW.number;
            INSERT INTO logout_queues (client_id, due_at, leased_until, host_failures)
            VALUES (NEW.client_id, NEW.due_at, NULL, 0)
            -- A client that is paused, or has a delivery in flight, gets its next delivery afterwards.
            ON CONFLICT (client_id) DO UPDATE SET due_at = min(due_at, excluded.due_at)
                WHERE leased_until IS NULL AND host_failures = 0;
        END;
        """

    private static let auditTriggers = """
        -- The only change of an event: the pseudonym replaces a deleted user, and names of the user go.
        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
            WHEN NOT (
                NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.kind = OLD.kind
                AND NEW.outcome = OLD.outcome AND NEW.client_id IS OLD.client_id AND NEW.action IS OLD.action
                AND NEW.grant_id IS NULL AND NEW.request_id IS NULL
                AND NEW.source IS NULL AND (NEW.detail IS NULL OR NEW.detail IS OLD.detail)
                AND EXISTS (
                    SELECT 1 FROM removed_people
                    WHERE removed_people.id = OLD.person_id AND removed_people.pseudonym = NEW.person_id
                )
            )
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
            WHEN NOT EXISTS (
                SELECT 1 FROM audit_removal
                WHERE (OLD.at, OLD.number) <= (audit_removal.through_at, audit_removal.through_number)
            )
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        -- Without the salts, what was removed cannot be found by trying.
        CREATE TRIGGER audit_forgets_salts AFTER UPDATE ON audit BEGIN
            UPDATE audit_seals SET person_salt = NULL,
                detail_salt = CASE WHEN NEW.detail IS NULL THEN NULL ELSE detail_salt END
            WHERE entry = NEW.number;
        END;
        """

    /// The triggers that renew the revision of the registry, after a change by any statement of any process.
    ///
    /// The new revision is a random number. With a counter, a restored older copy of the file could reach a revision
    /// for which a process has already cached other records.
    private static let renewals = StoreSchema.registryTables.flatMap { table in
        ["INSERT", "UPDATE", "DELETE"].map { change in
            """
            CREATE TRIGGER \(table)_\(change.lowercased())_renews AFTER \(change) ON \(table)
            BEGIN UPDATE registry SET revision = random(); END;
            """
        }
    }
}
