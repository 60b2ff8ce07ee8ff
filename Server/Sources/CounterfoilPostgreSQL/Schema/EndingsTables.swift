extension Tables {
    /// The record of everything that ended access, from which a server writes its endings journal.
    static let endings = """
        -- The position in the sequence of the endings.
        CREATE TABLE endings_record (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            identity text COLLATE "C" NOT NULL,
            -- The identity before the last restore, if this sequence continues that one.
            former text COLLATE "C",
            first_number bigint NOT NULL,
            -- The number of the last ending that was deleted, or a later one.
            last_number bigint NOT NULL CHECK (last_number >= first_number),
            -- The number of the last ending when a restore began that is not finished.
            restoring_from bigint
        )

        INSERT INTO endings_record (id, identity, first_number, last_number)
            VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0, 0)

        CREATE TABLE endings (
            number bigint NOT NULL PRIMARY KEY,
            at bigint NOT NULL,
            kind text COLLATE "C" NOT NULL,
            subject text COLLATE "C" NOT NULL,
            detail text
        )

        CREATE INDEX endings_time ON endings (at)

        -- Holds a row only within the transaction that deletes what has expired.
        CREATE TABLE expired_removal (expired_before bigint, unseen_since bigint)

        -- The first ending of a transaction updates the record, so the numbers are in the order of the commits, and
        -- two transactions at the same time conflict. Later ones do not: many updates of one row are slow. What ends
        -- is confirmed when it is durable, also on a synchronous standby, whatever the default of the server is.
        -- The first ending of each kind is reported to the client. A message of the level INFO is always sent.
        CREATE FUNCTION record_ending(kind text, subject text, detail text) RETURNS void LANGUAGE plpgsql AS $body$
        DECLARE
            next_number bigint;
        BEGIN
            IF current_setting('counterfoil.ending', true) IS DISTINCT FROM txid_current()::text THEN
                UPDATE endings_record SET last_number = last_number;
                PERFORM set_config('counterfoil.ending', txid_current()::text, true);
                PERFORM set_config('counterfoil.ended', '', true);
                IF current_setting('synchronous_commit') IN ('off', 'local') THEN
                    PERFORM set_config('synchronous_commit', 'on', true);
                END IF;
            END IF;
            SELECT greatest(endings_record.last_number, (SELECT max(endings.number) FROM endings)) + 1
                INTO next_number FROM endings_record;
            INSERT INTO endings VALUES (
                next_number, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, $1, $2, $3);
            IF $1 <> ALL (string_to_array(current_setting('counterfoil.ended'), ' ')) THEN
                PERFORM set_config('counterfoil.ended', current_setting('counterfoil.ended') || ' ' || $1, true);
                RAISE INFO '%', $1;
            END IF;
        END
        $body$
        """
}
