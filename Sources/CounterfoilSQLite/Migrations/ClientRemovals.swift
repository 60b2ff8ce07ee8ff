import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// Adds the deleted clients with records that are not deleted yet.
    ///
    /// The row of a deleted client in `clients` goes before the records whose number has no limit, so these no longer
    /// reference it. SQLite cannot drop a reference from a table, so their tables are replaced.
    static let clientRemovals = Migration { database in
        for tables in [removals, grants, consents, logoutDeliveries] { try database.execute(sql: tables) }
    }

    private static let removals = """
        CREATE TABLE client_removals (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT NOT NULL UNIQUE
        ) STRICT;

        -- A new client must not get the records of a deleted one.
        CREATE TRIGGER clients_get_free_identifiers BEFORE INSERT ON clients
            WHEN EXISTS (SELECT 1 FROM client_removals WHERE client_removals.id = NEW.id)
            BEGIN SELECT RAISE(ABORT, 'the identifier of a deleted client is still in use'); END;
        """

    private static let grants = """
        CREATE TABLE new_grants (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            -- The number of the user in `people` or in `removed_people`.
            person_number INTEGER NOT NULL,
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            -- The scopes that were allowed only for claims requested by name.
            claim_scope TEXT NOT NULL,
            resources TEXT NOT NULL,
            id_token_claims TEXT NOT NULL,
            user_info_claims TEXT NOT NULL,
            session_id TEXT,
            -- Marks that the client was notified of the end of the session.
            session_ended_at INTEGER,
            authenticated_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER NOT NULL,
            revoked_at INTEGER,
            has_refresh_tokens INTEGER NOT NULL DEFAULT 0 CHECK (has_refresh_tokens IN (0, 1))
        ) STRICT;
        INSERT INTO new_grants (
            number, id, person_number, client_id, scope, claim_scope, resources, id_token_claims,
            user_info_claims, session_id, session_ended_at, authenticated_at, created_at, last_used_at,
            revoked_at, has_refresh_tokens
        ) SELECT
            number, id, person_number, client_id, scope, claim_scope, resources, id_token_claims,
            user_info_claims, session_id, session_ended_at, authenticated_at, created_at, last_used_at,
            revoked_at, has_refresh_tokens
        FROM grants ORDER BY number;
        DROP TABLE grants;
        ALTER TABLE new_grants RENAME TO grants;
        CREATE INDEX grants_person_client ON grants (person_number, client_id);
        CREATE INDEX grants_client ON grants (client_id);
        CREATE INDEX grants_session ON grants (session_id)
            WHERE session_id IS NOT NULL AND revoked_at IS NULL AND session_ended_at IS NULL;
        CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
        -- A grant with refresh tokens expires after them, so it is not searched for while it has some.
        CREATE INDEX grants_last_used ON grants (last_used_at) WHERE has_refresh_tokens = 0;
        """

    private static let consents = """
        CREATE TABLE new_consents (
            person_id TEXT NOT NULL REFERENCES people (id),
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            remembered TEXT NOT NULL,
            -- The remembered scopes, by API.
            remembered_at TEXT NOT NULL,
            appearance BLOB NOT NULL CHECK (length(appearance) = 32),
            since INTEGER NOT NULL,
            allowed_at INTEGER NOT NULL,
            last_used_at INTEGER,
            PRIMARY KEY (person_id, client_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_consents (
            person_id, client_id, scope, remembered, remembered_at, appearance, since, allowed_at, last_used_at
        ) SELECT person_id, client_id, scope, remembered, remembered_at, appearance, since, allowed_at, last_used_at
        FROM consents;
        DROP TABLE consents;
        ALTER TABLE new_consents RENAME TO consents;
        CREATE INDEX consents_client ON consents (client_id);
        """

    private static let logoutDeliveries = """
        CREATE TABLE new_logout_deliveries (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            -- The identifier of the client in `clients` or in `client_removals`.
            client_id TEXT NOT NULL,
            person_id TEXT,
            -- The encrypted identifier of a deleted user.
            sealed_person_id BLOB,
            session_id TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL DEFAULT 0,
            CHECK ((person_id IS NULL) <> (sealed_person_id IS NULL))
        ) STRICT;
        INSERT INTO new_logout_deliveries (
            number, client_id, person_id, sealed_person_id, session_id, attempts, due_at, created_at
        ) SELECT number, client_id, person_id, sealed_person_id, session_id, attempts, due_at, created_at
        FROM logout_deliveries;
        -- The numbers of earlier deliveries are not reused.
        DELETE FROM sqlite_sequence WHERE name = 'new_logout_deliveries';
        INSERT INTO sqlite_sequence (name, seq)
            SELECT 'new_logout_deliveries', seq FROM sqlite_sequence WHERE name = 'logout_deliveries';
        DROP TABLE logout_deliveries;
        ALTER TABLE new_logout_deliveries RENAME TO logout_deliveries;
        CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number);
        CREATE INDEX logout_deliveries_person ON logout_deliveries (person_id) WHERE person_id IS NOT NULL;
        CREATE TRIGGER logout_deliveries_are_queued AFTER INSERT ON logout_deliveries BEGIN
            UPDATE logout_deliveries SET created_at = due_at WHERE number = NEW.number;
            INSERT INTO logout_queues (client_id, due_at, leased_until, host_failures)
            VALUES (NEW.client_id, NEW.due_at, NULL, 0)
            -- A client that is paused, or has a delivery in flight, gets its next delivery afterwards.
            ON CONFLICT (client_id) DO UPDATE SET due_at = min(due_at, excluded.due_at)
                WHERE leased_until IS NULL AND host_failures = 0;
        END;
        """
}
