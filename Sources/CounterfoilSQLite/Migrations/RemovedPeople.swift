import GRDB

extension Migration {
    /// Adds the deleted users with records that are not deleted yet.
    ///
    /// The row of a deleted user in `people` goes before the grants of the user, so the grants no longer reference it.
    /// SQLite cannot drop a reference from a table, so the tables of the grants and of the logout deliveries are
    /// replaced.
    static let removedPeople = Migration { database in
        try database.execute(
            sql: """
                CREATE TABLE removed_people (
                    -- The former number in `people`, with which the grants of the user are found.
                    number INTEGER NOT NULL PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    pseudonym TEXT NOT NULL,
                    username TEXT NOT NULL,
                    email TEXT,
                    display_name TEXT NOT NULL,
                    -- The digest of the last pushed request that was searched for the user.
                    pushed_through BLOB NOT NULL DEFAULT x''
                ) STRICT;

                -- A new user must not get the number of a deleted user who still has grants.
                CREATE TRIGGER people_get_free_numbers AFTER INSERT ON people
                    WHEN EXISTS (SELECT 1 FROM removed_people WHERE removed_people.number = NEW.number)
                    BEGIN SELECT RAISE(ABORT, 'the number of a deleted user is still in use'); END;

                -- The only change of an event: the pseudonym replaces a deleted user, and names of the user go.
                DROP TRIGGER audit_is_never_changed;
                CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
                    WHEN NOT (
                        NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.kind = OLD.kind
                        AND NEW.outcome = OLD.outcome AND NEW.client_id IS OLD.client_id
                        AND NEW.grant_id IS NULL AND NEW.request_id IS NULL
                        AND NEW.source IS NULL AND (NEW.detail IS NULL OR NEW.detail IS OLD.detail)
                        AND EXISTS (
                            SELECT 1 FROM removed_people
                            WHERE removed_people.id = OLD.person_id AND removed_people.pseudonym = NEW.person_id
                        )
                    )
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

                CREATE TABLE new_grants (
                    number INTEGER NOT NULL PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    -- The number of the user in `people` or in `removed_people`.
                    person_number INTEGER NOT NULL,
                    client_id TEXT NOT NULL REFERENCES clients (id),
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

                CREATE TABLE new_logout_deliveries (
                    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
                    client_id TEXT NOT NULL REFERENCES clients (id),
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
                    number, client_id, person_id, session_id, attempts, due_at, created_at
                ) SELECT number, client_id, person_id, session_id, attempts, due_at, created_at
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
                """)
    }
}
