import CounterfoilSQL
import Foundation

/// The tables, indexes and triggers of a new database, and their initial rows.
///
/// The tables and columns are those of `CounterfoilSQLite`: times are microseconds since 1970, flags are 0 or 1, and
/// lists, such as scopes and redirect URIs, are texts delimited by spaces. Keys compare byte by byte, whatever the
/// collation of the database is.
enum Tables {
    /// The statements, in the order in which they run.
    static let all: [String] =
        [functions, people, registry, grants, requests, logout, audit, operation].flatMap(statements) + renewals

    /// Splits a text at its empty lines, which separate statements.
    private static func statements(_ text: String) -> [String] {
        text.components(separatedBy: "\n\n").filter { !$0.isEmpty }
    }

    /// The scalar functions of SQLite that the statements of the store use.
    private static let functions = """
        CREATE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT CASE WHEN $1 < $2 THEN $2 WHEN $2 IS NOT NULL THEN $1 END'

        CREATE FUNCTION min(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT CASE WHEN $1 > $2 THEN $2 WHEN $2 IS NOT NULL THEN $1 END'

        CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS 'SELECT strpos($1, $2)'

        CREATE FUNCTION json_patch(target jsonb, patch jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
        -- RFC 7396 §2
        DECLARE
            member record;
        BEGIN
            IF jsonb_typeof(patch) <> 'object' THEN RETURN patch; END IF;
            IF target IS NULL OR jsonb_typeof(target) <> 'object' THEN target := '{}'; END IF;
            FOR member IN SELECT key, value FROM jsonb_each(patch) LOOP
                IF jsonb_typeof(member.value) = 'null' THEN
                    target := target - member.key;
                ELSE
                    target := jsonb_set(
                        target, ARRAY[member.key], json_patch(target -> member.key, member.value));
                END IF;
            END LOOP;
            RETURN target;
        END
        $body$

        CREATE FUNCTION json_patch(target text, patch text) RETURNS text LANGUAGE sql IMMUTABLE
        AS 'SELECT json_patch($1::jsonb, $2::jsonb)::text'
        """

    /// Users and sessions.
    private static let people = """
        CREATE TABLE people (
            number bigint NOT NULL PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE,
            username text COLLATE "C" NOT NULL UNIQUE,
            email text COLLATE "C" UNIQUE,
            display_name text NOT NULL,
            password_hash text NOT NULL,
            is_administrator bigint NOT NULL CHECK (is_administrator IN (0, 1)),
            profile text NOT NULL,
            created_at bigint NOT NULL,
            changed_at bigint NOT NULL,
            disabled_at bigint
        )

        CREATE INDEX people_administrators ON people (is_administrator) WHERE is_administrator = 1

        -- Deleted users with records that are not deleted yet.
        CREATE TABLE removed_people (
            -- The former number in people, with which the grants of the user are found.
            number bigint NOT NULL PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE,
            pseudonym text COLLATE "C" NOT NULL,
            username text NOT NULL,
            email text,
            display_name text NOT NULL,
            -- The digest of the last pushed request that was searched for the user.
            pushed_through bytea NOT NULL DEFAULT ''
        )

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

        CREATE TABLE sessions (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            id text COLLATE "C" NOT NULL,
            person_id text COLLATE "C" NOT NULL REFERENCES people (id),
            authenticated_at bigint NOT NULL,
            last_seen_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            user_agent text NOT NULL,
            source text NOT NULL
        )

        CREATE INDEX sessions_id ON sessions (id)

        CREATE INDEX sessions_person ON sessions (person_id)

        CREATE INDEX sessions_expires ON sessions (expires_at)

        CREATE INDEX sessions_last_seen ON sessions (last_seen_at)
        """

    /// Scopes, clients, client secrets, APIs, logos, branding and signing keys.
    private static let registry = """
        CREATE TABLE scopes (
            name text COLLATE "C" NOT NULL PRIMARY KEY,
            description text NOT NULL,
            -- Whether the metadata lists the scope.
            is_listed bigint NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1)),
            -- Whether its checkbox on the consent page is selected at first.
            starts_ticked bigint NOT NULL DEFAULT 0 CHECK (starts_ticked IN (0, 1))
        )

        CREATE TABLE logos (
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
            bytes bytea NOT NULL
        )

        CREATE TABLE clients (
            rowid bigint GENERATED BY DEFAULT AS IDENTITY,
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            type text COLLATE "C" NOT NULL,
            owner_id text COLLATE "C" REFERENCES people (id),
            name text NOT NULL,
            publisher text,
            consent_text text,
            privacy_uri text,
            terms_uri text,
            logo text COLLATE "C" REFERENCES logos (id),
            redirect_uris text NOT NULL,
            post_logout_redirect_uris text NOT NULL,
            backchannel_logout_uri text,
            origins text COLLATE "C" NOT NULL,
            apple_apps text NOT NULL,
            android_apps text NOT NULL,
            keys bytea,
            keys_uri text,
            scope text COLLATE "C" NOT NULL,
            optional_scope text COLLATE "C" NOT NULL,
            -- The scopes that a service can request without a user.
            machine_scope text COLLATE "C" NOT NULL,
            source text COLLATE "C" NOT NULL DEFAULT 'console'
                CHECK (source IN ('console', 'documents', 'registration')),
            metadata bytea,
            registration_access_token bytea,
            host text COLLATE "C",
            is_first_party bigint NOT NULL CHECK (is_first_party IN (0, 1)),
            is_vouched_for bigint NOT NULL CHECK (is_vouched_for IN (0, 1)),
            is_claimed_https_verified bigint NOT NULL CHECK (is_claimed_https_verified IN (0, 1)),
            pkce_policy text NOT NULL,
            requires_state bigint NOT NULL CHECK (requires_state IN (0, 1)),
            requires_pushed_requests bigint NOT NULL DEFAULT 0 CHECK (requires_pushed_requests IN (0, 1)),
            requires_bound_tokens bigint NOT NULL DEFAULT 0 CHECK (requires_bound_tokens IN (0, 1)),
            refresh_tokens text NOT NULL,
            rotates_refresh_tokens bigint CHECK (rotates_refresh_tokens IN (0, 1)),
            refresh_grace_period bigint,
            refresh_idle_lifetime bigint,
            refresh_lifetime bigint,
            subject_type text NOT NULL,
            access_token_lifetime bigint,
            id_token_lifetime bigint,
            id_token_algorithm text NOT NULL,
            puts_user_claims_in_id_token bigint NOT NULL DEFAULT 0 CHECK (puts_user_claims_in_id_token IN (0, 1)),
            web_views text NOT NULL,
            created_at bigint NOT NULL,
            changed_at bigint NOT NULL,
            revision bigint NOT NULL
        )

        CREATE INDEX clients_owner ON clients (owner_id) WHERE owner_id IS NOT NULL

        CREATE INDEX clients_logo ON clients (logo) WHERE logo IS NOT NULL

        CREATE INDEX clients_source ON clients (source, changed_at) WHERE source <> 'console'

        CREATE INDEX clients_host ON clients (source, host, created_at, id) WHERE source <> 'console'

        CREATE INDEX clients_registered ON clients (created_at) WHERE source = 'console'

        CREATE INDEX clients_associated ON clients (created_at) WHERE \(StoreQuery.isAssociated)

        CREATE INDEX clients_idle_lifetime ON clients (refresh_idle_lifetime) WHERE \(StoreQuery.setsIdleLifetime)

        CREATE TABLE client_origins (
            origin text COLLATE "C" NOT NULL,
            client_id text COLLATE "C" NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
            PRIMARY KEY (origin, client_id)
        )

        CREATE INDEX client_origins_client ON client_origins (client_id)

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

        -- The identifiers of deleted clients, so that no developer registers another client with one of them.
        CREATE TABLE removed_clients (id text COLLATE "C" NOT NULL PRIMARY KEY)

        -- Deleted clients with records that are not deleted yet.
        CREATE TABLE client_removals (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE
        )

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

        CREATE TABLE client_secrets (
            rowid bigint GENERATED BY DEFAULT AS IDENTITY,
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id text COLLATE "C" NOT NULL REFERENCES clients (id),
            created_at bigint NOT NULL
        )

        CREATE INDEX client_secrets_client ON client_secrets (client_id)

        -- How often a client was served without S256.
        CREATE TABLE pkce_exceptions (
            client_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES clients (id),
            count bigint NOT NULL CHECK (count > 0),
            last_at bigint NOT NULL
        )

        -- APIs.
        CREATE TABLE resources (
            resource text COLLATE "C" NOT NULL PRIMARY KEY,
            normalized text COLLATE "C" NOT NULL DEFAULT '',
            client_id text COLLATE "C" NOT NULL UNIQUE,
            name text NOT NULL,
            scope text COLLATE "C" NOT NULL,
            secret bytea NOT NULL CHECK (length(secret) = 32),
            token_type text NOT NULL DEFAULT 'at+jwt' CHECK (token_type IN ('at+jwt', 'jwt')),
            requires_bound_tokens bigint NOT NULL DEFAULT 0 CHECK (requires_bound_tokens IN (0, 1)),
            created_at bigint NOT NULL
        )

        CREATE INDEX resources_normalized ON resources (normalized)

        CREATE TABLE unregistered_client_policy (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            kinds text NOT NULL,
            allowed_hosts text NOT NULL,
            refused_hosts text NOT NULL,
            default_scope text NOT NULL,
            maximum_scope text,
            resources text,
            refresh_tokens text NOT NULL,
            access_token_lifetime bigint,
            refresh_idle_lifetime bigint,
            refresh_lifetime bigint,
            approvers text NOT NULL,
            requires_initial_access_token bigint NOT NULL CHECK (requires_initial_access_token IN (0, 1)),
            revision bigint NOT NULL
        )

        CREATE TABLE initial_access_tokens (
            rowid bigint GENERATED BY DEFAULT AS IDENTITY,
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            name text NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL
        )

        CREATE INDEX initial_access_tokens_expires ON initial_access_tokens (expires_at)

        CREATE TABLE branding (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            site_name text,
            logo text COLLATE "C" REFERENCES logos (id),
            accent text,
            support_uri text,
            revision bigint NOT NULL
        )

        INSERT INTO branding (id, revision) VALUES (1, 0)

        -- The statements of the service on the consent page, by language.
        CREATE TABLE site_statements (
            language text COLLATE "C" NOT NULL PRIMARY KEY,
            text text,
            privacy_uri text,
            CHECK (text IS NOT NULL OR privacy_uri IS NOT NULL)
        )

        CREATE TABLE signing_keys (
            rowid bigint GENERATED BY DEFAULT AS IDENTITY,
            id text COLLATE "C" NOT NULL PRIMARY KEY,
            algorithm text COLLATE "C" NOT NULL,
            sealed bytea NOT NULL,
            created_at bigint NOT NULL,
            signs_from bigint NOT NULL,
            replaced_at bigint
        )

        -- A number that triggers renew with each change of the registry.
        CREATE TABLE registry (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            revision bigint NOT NULL
        )

        CREATE FUNCTION random_revision() RETURNS bigint LANGUAGE sql VOLATILE
        AS $body$ SELECT ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint $body$

        INSERT INTO registry (id, revision) VALUES (1, random_revision())

        CREATE FUNCTION renew_registry() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            UPDATE registry SET revision = random_revision();
            RETURN NULL;
        END
        $body$
        """

    /// The triggers that renew the revision of the registry, after a change by any statement of any process.
    ///
    /// They run for each row, because a statement that changes nothing leaves the revision as it is.
    ///
    /// The new revision is a random number. With a counter, a restored older copy of the database could reach a
    /// revision for which a process has already cached other records.
    private static let renewals = [
        "scopes", "clients", "client_secrets", "resources", "unregistered_client_policy", "branding",
        "site_statements", "signing_keys",
    ].map { table in
        """
        CREATE TRIGGER \(table)_renew_the_registry AFTER INSERT OR UPDATE OR DELETE ON \(table)
            FOR EACH ROW EXECUTE FUNCTION renew_registry()
        """
    }

    /// Consents, grants, codes and refresh tokens.
    private static let grants = """
        CREATE TABLE consents (
            person_id text COLLATE "C" NOT NULL REFERENCES people (id),
            -- The identifier of the client in clients or in client_removals.
            client_id text COLLATE "C" NOT NULL,
            scope text NOT NULL,
            remembered text NOT NULL,
            -- The remembered scopes, by API.
            remembered_at text NOT NULL,
            appearance bytea NOT NULL CHECK (length(appearance) = 32),
            since bigint NOT NULL,
            allowed_at bigint NOT NULL,
            last_used_at bigint,
            PRIMARY KEY (person_id, client_id)
        )

        CREATE INDEX consents_client ON consents (client_id)

        CREATE TABLE grants (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE,
            -- The number of the user in people or in removed_people.
            person_number bigint NOT NULL,
            -- The identifier of the client in clients or in client_removals.
            client_id text COLLATE "C" NOT NULL,
            scope text COLLATE "C" NOT NULL,
            -- The scopes that were allowed only for claims requested by name.
            claim_scope text COLLATE "C" NOT NULL,
            resources text NOT NULL,
            id_token_claims text NOT NULL,
            user_info_claims text NOT NULL,
            session_id text COLLATE "C",
            -- Marks that the client was notified of the end of the session.
            session_ended_at bigint,
            authenticated_at bigint NOT NULL,
            created_at bigint NOT NULL,
            last_used_at bigint NOT NULL,
            revoked_at bigint,
            has_refresh_tokens bigint NOT NULL DEFAULT 0 CHECK (has_refresh_tokens IN (0, 1))
        )

        CREATE INDEX grants_person_client ON grants (person_number, client_id)

        CREATE INDEX grants_client ON grants (client_id)

        CREATE INDEX grants_session ON grants (session_id)
            WHERE session_id IS NOT NULL AND revoked_at IS NULL AND session_ended_at IS NULL

        CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL

        -- A grant with refresh tokens expires after them, so it is not searched for while it has some.
        CREATE INDEX grants_last_used ON grants (last_used_at) WHERE has_refresh_tokens = 0

        CREATE TABLE codes (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            interaction bytea NOT NULL UNIQUE CHECK (length(interaction) = 32),
            grant_id text COLLATE "C" NOT NULL REFERENCES grants (id),
            redirect_uri text,
            redirect_uri_was_given bigint CHECK (redirect_uri_was_given IN (0, 1)),
            -- The scope of the authorization request, which the token request may repeat.
            requested_scope text NOT NULL,
            code_challenge text,
            code_challenge_method text CHECK (code_challenge_method = 'S256'),
            key_thumbprint text,
            nonce bytea,
            authenticated_at bigint NOT NULL,
            issued_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            used_at bigint,
            failed_redemptions bigint NOT NULL CHECK (failed_redemptions >= 0),
            -- The attempt of a redemption, until it is known whether its tokens were sent.
            attempt bytea CHECK (length(attempt) = 16),
            -- The time of the first other redemption while the attempt is stored.
            contested_at bigint,
            CHECK ((code_challenge IS NULL) = (code_challenge_method IS NULL)),
            CHECK ((redirect_uri IS NULL) = (redirect_uri_was_given IS NULL))
        )

        CREATE INDEX codes_grant ON codes (grant_id)

        CREATE INDEX codes_expires ON codes (expires_at)

        CREATE TABLE refresh_tokens (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            grant_number bigint NOT NULL UNIQUE REFERENCES grants (number),
            generation bigint NOT NULL CHECK (generation >= 0),
            rotated_at bigint NOT NULL,
            repeats bigint NOT NULL CHECK (repeats >= 0),
            last_used_at bigint NOT NULL,
            -- Never after last_used_at, and at most an hour before it, so most refreshes change no index.
            resting_since bigint NOT NULL,
            expires_at bigint NOT NULL,
            key_thumbprint text,
            last_attempt bytea CHECK (length(last_attempt) = 16)
        ) WITH (fillfactor = 80)

        CREATE INDEX refresh_tokens_resting ON refresh_tokens (resting_since)

        CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at)

        CREATE TABLE refresh_statistics (
            client_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES clients (id),
            repeats bigint NOT NULL,
            reuses bigint NOT NULL,
            last_reuse_at bigint,
            revocations bigint NOT NULL
        )
        """

    /// Client assertions, pushed requests and device authorizations.
    private static let requests = """
        -- Client assertions that were used.
        CREATE TABLE assertions (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            expires_at bigint NOT NULL,
            attempt bytea CHECK (length(attempt) = 16)
        )

        CREATE INDEX assertions_expires ON assertions (expires_at)

        CREATE TABLE pushed_requests (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            client_id text COLLATE "C" NOT NULL,
            -- The parameters as a query, without the credentials of the client.
            parameters text NOT NULL,
            source text COLLATE "C",
            pushed_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            opened_at bigint
        )

        CREATE INDEX pushed_requests_client ON pushed_requests (client_id, expires_at)

        CREATE INDEX pushed_requests_source ON pushed_requests (client_id, source, expires_at)

        CREATE INDEX pushed_requests_expires ON pushed_requests (expires_at)

        CREATE TABLE device_authorizations (
            digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
            user_code bytea NOT NULL UNIQUE CHECK (length(user_code) = 32),
            client_id text COLLATE "C" NOT NULL,
            scope text NOT NULL,
            resources text NOT NULL,
            -- Always an S256 challenge.
            code_challenge text,
            requested_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            source text COLLATE "C" NOT NULL,
            user_agent text NOT NULL,
            poll_interval bigint NOT NULL CHECK (poll_interval > 0),
            last_polled_at bigint,
            denied_at bigint
        )

        CREATE INDEX device_authorizations_client ON device_authorizations (client_id)

        CREATE INDEX device_authorizations_source ON device_authorizations (source, expires_at)

        CREATE INDEX device_authorizations_expires ON device_authorizations (expires_at)
        """

    /// A queue of back-channel logout deliveries for each client, so that a slow host delays no other client.
    private static let logout = """
        CREATE TABLE logout_deliveries (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            -- The identifier of the client in clients or in client_removals.
            client_id text COLLATE "C" NOT NULL,
            person_id text COLLATE "C",
            -- The encrypted identifier of a deleted user.
            sealed_person_id bytea,
            session_id text COLLATE "C" NOT NULL,
            attempts bigint NOT NULL,
            due_at bigint NOT NULL,
            created_at bigint NOT NULL DEFAULT 0,
            CHECK ((person_id IS NULL) <> (sealed_person_id IS NULL))
        )

        CREATE INDEX logout_deliveries_client ON logout_deliveries (client_id, due_at, number)

        CREATE INDEX logout_deliveries_person ON logout_deliveries (person_id) WHERE person_id IS NOT NULL

        CREATE TABLE logout_queues (
            client_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
            due_at bigint NOT NULL,
            leased_until bigint,
            host_failures bigint NOT NULL
        )

        CREATE INDEX logout_queues_due ON logout_queues (due_at)

        CREATE INDEX logout_queues_leased ON logout_queues (leased_until) WHERE leased_until IS NOT NULL

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

    /// The audit log, from which only the oldest events can be deleted.
    ///
    /// A transaction that deletes events first inserts the position of the last event to delete into `audit_removal`.
    private static let audit = """
        CREATE TABLE audit (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            at bigint NOT NULL,
            kind text COLLATE "C" NOT NULL,
            outcome text NOT NULL,
            person_id text COLLATE "C",
            client_id text COLLATE "C",
            grant_id text,
            source text,
            request_id text,
            detail text
        )

        CREATE INDEX audit_time ON audit (at, number)

        CREATE INDEX audit_person ON audit (person_id, at, number) WHERE person_id IS NOT NULL

        CREATE INDEX audit_client ON audit (client_id, at, number) WHERE client_id IS NOT NULL

        CREATE INDEX audit_kind ON audit (kind, at, number)

        -- Holds a row only within the transaction of a deletion.
        CREATE TABLE audit_removal (through_at bigint NOT NULL, through_number bigint NOT NULL)

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
        """

    /// The last time at which a server recorded that the store responds, the earlier outages of the store, its settings, and
    /// the table that orders commits (`TransactionKind.ordered`).
    private static let operation = """
        CREATE TABLE commit_order ()

        CREATE TABLE service (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            answered_at bigint NOT NULL
        )

        CREATE TABLE outages (
            began_at bigint NOT NULL PRIMARY KEY,
            ended_at bigint NOT NULL
        )

        -- The settings of the server that last started, which administration commands need.
        CREATE TABLE noted_settings (
            name text COLLATE "C" NOT NULL PRIMARY KEY,
            text text NOT NULL
        )
        """
}
