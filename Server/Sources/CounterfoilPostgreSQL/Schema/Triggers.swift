import CounterfoilSQL

extension Tables {
    /// The triggers of single tables, each with its function.
    static let triggers = """
        CREATE FUNCTION random_revision() RETURNS bigint LANGUAGE sql VOLATILE
        AS $body$ SELECT ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint $body$

        CREATE FUNCTION refuse_used_number() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF EXISTS (SELECT 1 FROM removed_people WHERE removed_people.number = NEW.number) THEN
                RAISE EXCEPTION 'the number of a deleted user is still in use';
            END IF;
            RETURN NEW;
        END
        $body$

        CREATE TRIGGER people_get_free_numbers BEFORE INSERT ON people
            FOR EACH ROW EXECUTE FUNCTION refuse_used_number()

        CREATE FUNCTION note_client_origins() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF NEW.origins = OLD.origins THEN RETURN NULL; END IF;
                DELETE FROM client_origins WHERE client_id = NEW.id;
            END IF;
            INSERT INTO client_origins (origin, client_id)
                SELECT DISTINCT origin, NEW.id FROM unnest(string_to_array(NEW.origins, ' ')) AS origin
                WHERE NEW.origins <> '';
            RETURN NULL;
        END
        $body$

        CREATE TRIGGER clients_have_origins AFTER INSERT OR UPDATE OF origins ON clients
            FOR EACH ROW EXECUTE FUNCTION note_client_origins()

        CREATE FUNCTION refuse_used_identifier() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF EXISTS (SELECT 1 FROM client_removals WHERE client_removals.id = NEW.id) THEN
                RAISE EXCEPTION 'the identifier of a deleted client is still in use';
            END IF;
            RETURN NEW;
        END
        $body$

        -- A new client must not get the records of a deleted one.
        CREATE TRIGGER clients_get_free_identifiers BEFORE INSERT ON clients
            FOR EACH ROW EXECUTE FUNCTION refuse_used_identifier()

        CREATE FUNCTION renew_registry() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            UPDATE registry SET revision = random_revision();
            RETURN NULL;
        END
        $body$

        CREATE FUNCTION queue_logout_delivery() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            NEW.created_at := NEW.due_at;
            INSERT INTO logout_queues AS queue (client_id, due_at, leased_until, host_failures)
            VALUES (NEW.client_id, NEW.due_at, NULL, 0)
            -- A client that is paused, or has a delivery in flight, gets its next delivery afterwards.
            ON CONFLICT (client_id) DO UPDATE SET due_at = least(queue.due_at, excluded.due_at)
                WHERE queue.leased_until IS NULL AND queue.host_failures = 0;
            RETURN NEW;
        END
        $body$

        CREATE TRIGGER logout_deliveries_are_queued BEFORE INSERT ON logout_deliveries
            FOR EACH ROW EXECUTE FUNCTION queue_logout_delivery()
        """

    /// The triggers that keep the audit log append-only.
    static let auditTriggers = """
        CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                IF EXISTS (
                    SELECT 1 FROM audit_removal
                    WHERE (OLD.at, OLD.number) <= (audit_removal.through_at, audit_removal.through_number)
                ) THEN RETURN OLD; END IF;
            -- The only change of an event: the pseudonym replaces a deleted user, and names of the user go.
            ELSIF NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.kind = OLD.kind
                AND NEW.outcome = OLD.outcome AND NEW.client_id IS NOT DISTINCT FROM OLD.client_id
                AND NEW.action IS NOT DISTINCT FROM OLD.action
                AND NEW.grant_id IS NULL AND NEW.request_id IS NULL
                AND NEW.source IS NULL AND (NEW.detail IS NULL OR NEW.detail = OLD.detail)
                AND EXISTS (
                    SELECT 1 FROM removed_people
                    WHERE removed_people.id = OLD.person_id AND removed_people.pseudonym = NEW.person_id
                ) THEN RETURN NEW;
            END IF;
            RAISE EXCEPTION 'the audit log is append-only';
        END
        $body$

        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE ON audit
            FOR EACH ROW EXECUTE FUNCTION keep_audit()

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
        """

    /// The function of the triggers that record what ends access (`EndingTrigger`).
    static let endingFunction = """
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

    /// The triggers that renew the revision of the registry, after a change by any statement of any process.
    ///
    /// They run for each row, because a statement that changes nothing leaves the revision as it is.
    ///
    /// The new revision is a random number. With a counter, a restored older copy of the database could reach a
    /// revision for which a process has already cached other records.
    static let renewals = StoreSchema.registryTables.map { table in
        """
        CREATE TRIGGER \(table)_renew_the_registry AFTER INSERT OR UPDATE OR DELETE ON \(table)
            FOR EACH ROW EXECUTE FUNCTION renew_registry()
        """
    }
}
