public import CounterfoilStore

extension SQLStore {
    /// Finds the records of a user that lists leave out, and the account if it cannot be read.
    public func unreadableRecords(of user: UserIdentifier) async throws(StoreFault) -> [UnreadableRecord] {
        try await read { database in
            let id = user.rawValue
            var found = try database.unreadable(
                "SELECT \(User.columns) FROM people WHERE people.id = ?", id, key: 0
            ) { columns in _ = try User(&columns) }
            found += try database.unreadable(
                "SELECT \(Session.columns) FROM sessions WHERE sessions.person_id = ?", id, key: 1
            ) { columns in _ = try Session(&columns) }
            found += try database.unreadable(
                """
                SELECT \(Grant.columns), refresh_tokens.digest IS NOT NULL, \(RefreshFamily.columns)
                FROM \(Grant.withUser) LEFT JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
                WHERE \(Grant.isOfFirst) ORDER BY grants.client_id, grants.id
                """, id, key: 0
            ) { columns in
                _ = try Grant(&columns)
                if try columns.flag() { _ = try RefreshFamily(&columns) }
            }
            found += try database.unreadable(
                """
                SELECT \(Consent.columns), \(RegisteredClient.columns)
                FROM consents JOIN clients ON clients.id = consents.client_id
                WHERE consents.person_id = ? ORDER BY consents.client_id
                """, id, key: 1
            ) { columns in
                _ = try Consent(&columns)
                _ = try RegisteredClient(&columns)
            }
            found += try database.unreadable(
                "SELECT \(RegisteredClient.columns) FROM clients WHERE clients.owner_id = ? ORDER BY clients.id", id,
                key: 0
            ) { columns in _ = try RegisteredClient(&columns) }
            return found
        }
    }
}

extension SQLConnection {
    /// Returns the rows that cannot be read, each with the text of its key column.
    fileprivate func unreadable(
        _ sql: String, _ user: String, key: Int, read: (inout Columns) throws -> Void
    ) throws -> [UnreadableRecord] {
        var found: [UnreadableRecord] = []
        try forEachRow(sql, user) { columns in
            do {
                try read(&columns)
            } catch StoreFault.unsupported(let value) {
                found.append(UnreadableRecord(id: columns.text(at: key), value: value))
            } catch StoreFault.damaged {
                found.append(UnreadableRecord(id: columns.text(at: key), value: columns.invalid))
            }
        }
        return found
    }
}
