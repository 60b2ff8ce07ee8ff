import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The SQL statements that delete a client.
enum ClientRemovals {
    /// The statements that delete the row of client ?1 with the records whose number is limited, in an order that keeps
    /// every foreign key valid.
    ///
    /// Its origins, its counts and its queue of logout deliveries go by `ON DELETE CASCADE`.
    static let atOnce = [
        "DELETE FROM client_secrets WHERE client_id = ?1",
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

extension SQLConnection {
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
        for statement in ClientRemovals.atOnce { try send(statement, id) }
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
        if isKept == [true] { try send("INSERT INTO removed_clients (id) VALUES (?) ON CONFLICT (id) DO NOTHING", id) }
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
        try send("DELETE FROM client_removals WHERE id = ?", id)
        return true
    }
}

extension SQLConnection {
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
    ///
    /// The deletion of a suspended client with a document would end its suspension.
    static let clientIsUnused = """
        source <> 'console' AND source IN ('documents', 'registration') AND changed_at < ?1
            AND suspended_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM consents WHERE consents.client_id = clients.id)
            AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.client_id = clients.id)
        """

    /// No person registered the client, and no user has used it since before ?1.
    static let clientIsIdle = """
        source <> 'console' AND source IN ('documents', 'registration') AND changed_at < ?1
            AND suspended_at IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM consents
                WHERE consents.client_id = clients.id
                    AND (consents.allowed_at >= ?1 OR consents.last_used_at >= ?1)
            )
        """
}
