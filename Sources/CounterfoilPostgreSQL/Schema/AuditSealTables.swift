extension Tables {
    /// The seals of the audit log: a chain of all events, which a server authenticates with its key.
    ///
    /// The trigger comes first, because it needs a lock on the table of the events.
    static let auditSeals: [String] = statements(
        """
        CREATE FUNCTION forget_audit_salts() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            UPDATE audit_seals SET person_salt = NULL,
                detail_salt = CASE WHEN NEW.detail IS NULL THEN NULL ELSE detail_salt END
            WHERE entry = NEW.number;
            RETURN NULL;
        END
        $body$

        -- Without the salts, what was removed cannot be found by trying.
        CREATE TRIGGER audit_forgets_salts AFTER UPDATE ON audit
            FOR EACH ROW EXECUTE FUNCTION forget_audit_salts()

        CREATE TABLE audit_seals (
            number bigint NOT NULL PRIMARY KEY CHECK (number > 0),
            -- The time and the number of the event.
            at bigint NOT NULL,
            entry bigint NOT NULL UNIQUE,
            digest bytea NOT NULL,
            -- The digests of what the deletion of a user removes, and their salts until then.
            person bytea NOT NULL,
            person_salt bytea,
            detail bytea NOT NULL,
            detail_salt bytea,
            -- A code of the pseudonym of the user.
            pseudonym bytea,
            chain bytea NOT NULL,
            code bytea NOT NULL
        )

        -- The end of the chain.
        CREATE TABLE audit_head (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            seal bigint NOT NULL,
            chain bytea NOT NULL,
            sealed_at bigint NOT NULL,
            checked_at bigint,
            code bytea NOT NULL
        )

        -- The beginning of the chain, after the last deletion of old events.
        CREATE TABLE audit_start (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            seal bigint NOT NULL,
            chain bytea NOT NULL,
            through_at bigint NOT NULL,
            through_number bigint NOT NULL,
            code bytea NOT NULL
        )
        """)
}
