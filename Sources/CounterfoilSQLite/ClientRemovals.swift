import CounterfoilProtocol
import CounterfoilServer
import Foundation
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

/// The SQL statements that delete a client.
enum ClientRemovals {
    /// The statements that delete the row of client ?1 with the records whose number is limited, in an order that keeps
    /// every foreign key valid.
    ///
    /// Its origins and its queue of logout deliveries go by `ON DELETE CASCADE`.
    static let atOnce = [
        "DELETE FROM client_secrets WHERE client_id = ?1",
        "DELETE FROM pkce_exceptions WHERE client_id = ?1",
        "DELETE FROM refresh_statistics WHERE client_id = ?1",
        "DELETE FROM clients WHERE id = ?1",
        "INSERT INTO client_removals (id) VALUES (?1)",
    ]

    /// The query for ?2 grants of client ?1.
    static let grants = "SELECT number, id FROM grants WHERE client_id = ?1 LIMIT ?2"

    /// The statements that delete ?2 other records of client ?1.
    static let others = [
        """
        DELETE FROM consents WHERE (person_id, client_id) IN (
            SELECT person_id, client_id FROM consents WHERE client_id = ?1 LIMIT ?2
        )
        """,
        """
        DELETE FROM device_authorizations WHERE digest IN (
            SELECT digest FROM device_authorizations WHERE client_id = ?1 LIMIT ?2
        )
        """,
        """
        DELETE FROM pushed_requests WHERE digest IN (
            SELECT digest FROM pushed_requests WHERE client_id = ?1 LIMIT ?2
        )
        """,
        """
        DELETE FROM logout_deliveries WHERE number IN (
            SELECT number FROM logout_deliveries WHERE client_id = ?1 LIMIT ?2
        )
        """,
    ]

    /// The condition that the client of a row is not deleted, for tables whose clients need no row in `clients`.
    static let isOfNone = "client_id NOT IN (SELECT id FROM client_removals)"
}

extension Database {
    /// Deletes a client, and at most `rows` of its records; returns false if the client does not exist.
    ///
    /// No value of the client is parsed, so that the end of its access depends on none.
    ///
    /// - Parameters:
    ///   - id: The identifier of the client.
    ///   - rows: The maximum number of records that this transaction can still delete; it is reduced by those that are
    ///     deleted.
    @discardableResult
    func removeClient(_ id: String, atMost rows: inout Int) throws -> Bool {
        let logo = try first("SELECT logo FROM clients WHERE id = ?", id) { columns in try columns.optionalText() }
        guard let logo else { return false }
        for statement in ClientRemovals.atOnce { try run(statement, id) }
        try removeLogoIfUnused(logo.flatMap(LogoIdentifier.init(_:)))
        if rows > 0 { try continueRemoval(ofClient: id, atMost: &rows) }
        return true
    }

    /// Deletes a client like ``removeClient(_:atMost:)``, and remembers its identifier.
    ///
    /// A client that registered itself has a random identifier, and one with a document has a URL. No developer can
    /// choose either of them later, so these identifiers are not remembered.
    @discardableResult
    func removeClientForGood(_ id: String, atMost rows: inout Int) throws -> Bool {
        let isKept = try answers("SELECT source = 'console' FROM clients WHERE id = ?", id)
        guard try removeClient(id, atMost: &rows) else { return false }
        if isKept == [true] { try run("INSERT OR IGNORE INTO removed_clients (id) VALUES (?)", id) }
        return true
    }

    /// Deletes clients like ``removeClient(_:atMost:)``, with the records of one commit.
    func removeClients(_ ids: [String]) throws {
        var rows = ClientRemoval.rowsAtOnce
        for id in ids { try removeClient(id, atMost: &rows) }
    }

    /// Returns true if a deleted client with this identifier has records that are not deleted yet.
    func isBeingRemoved(_ id: ClientIdentifier) throws -> Bool {
        try answers("SELECT EXISTS (SELECT 1 FROM client_removals WHERE id = ?)", id.rawValue) == [true]
    }

    /// Deletes at most `rows` records of deleted clients in the order of their deletion, and returns the number of
    /// deleted rows.
    ///
    /// A client without further records counts as one row.
    func continueClientRemoval(atMost rows: Int) throws -> Int {
        var left = rows
        while left > 0 {
            let id = try first("SELECT id FROM client_removals ORDER BY number LIMIT 1") { columns in
                try columns.text()
            }
            guard let id else { break }
            if try continueRemoval(ofClient: id, atMost: &left) { left -= 1 }
        }
        return rows - left
    }

    /// Deletes at most `rows` records of a deleted client, and returns true if none is left.
    ///
    /// Each step that deletes fewer rows than it may has deleted the last of its kind.
    @discardableResult
    private func continueRemoval(ofClient id: String, atMost rows: inout Int) throws -> Bool {
        rows -= try removeGrants(ClientRemovals.grants, id, atMost: rows)
        for statement in ClientRemovals.others where rows > 0 { rows -= try run(statement, id, rows) }
        guard rows > 0 else { return false }
        try run("DELETE FROM client_removals WHERE id = ?", id)
        return true
    }
}

extension Database {
    /// Deletes clients that identified or registered themselves and are no longer used, and returns their number.
    func removeUnusedClients(_ limits: ExpirationLimits, atMost rows: Int) throws -> Int {
        var removed = 0
        // There is one query for each condition, so that each can use the index.
        for (condition, moment) in [
            (Self.clientIsUnused, limits.unusedClientsBefore), (Self.clientIsIdle, limits.idleClientsBefore),
        ] where removed < rows {
            let clients = try all(
                "SELECT id FROM clients WHERE \(condition) LIMIT ?2", moment.microseconds, rows - removed
            ) { columns in try columns.text() }
            try removeClients(clients)
            removed += clients.count
        }
        return removed
    }

    /// No user allows the client anything, and it has no valid code, since before ?1.
    static let clientIsUnused = """
        source <> 'console' AND source IN ('documents', 'registration') AND changed_at < ?1
            AND NOT EXISTS (SELECT 1 FROM consents WHERE consents.client_id = clients.id)
            AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.client_id = clients.id)
        """

    /// No person registered the client, and no user has used it since before ?1.
    static let clientIsIdle = """
        source <> 'console' AND source IN ('documents', 'registration') AND changed_at < ?1
            AND NOT EXISTS (
                SELECT 1 FROM consents
                WHERE consents.client_id = clients.id
                    AND (consents.allowed_at >= ?1 OR consents.last_used_at >= ?1)
            )
        """
}
