public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Deletes the account of a user with its sessions and consents, in one transaction.
    ///
    /// The row of the user goes at once, and every query for grants, codes and tokens joins that row. They are
    /// therefore invalid before `continueRemovals` has deleted them.
    public func beginRemoval(
        of user: UserIdentifier, by terms: RemovalTerms,
        recording events: @escaping @Sendable ([ClientIdentifier]) -> [AuditEvent], at time: Date
    ) async throws(StoreFault) -> BeginRemovalOutcome {
        try await commit(
            ending: .usually(
                .userDeleted, .session, .passkey, .recoveryCode, .userGroup, .userAttribute, .userIdentity, .consent,
                .client, .clientSecret, .clientChanged, .clientDeveloper)
        ) { database in
            let facts = try database.first(User.removalFacts, user.rawValue) { columns in
                (number: try columns.integer(), isLastOwner: try columns.flag())
            }
            guard let facts, try database.has(terms.requiredRole, user) else { return .notFound }
            guard !facts.isLastOwner else { return .lastOwner }
            let owned = try database.all(
                "SELECT id FROM clients WHERE owner_id = ? ORDER BY created_at, rowid", user.rawValue
            ) { columns in try columns.text() }
            // No client can be addressed by an invalid identifier, so it is deleted with its owner and not returned.
            let clients = owned.compactMap { ClientIdentifier($0) }
            switch terms.ownedClients {
            case .refuse:
                guard owned.isEmpty else { return .ownsClients(clients) }
            case .delete(let named):
                let others = clients.filter { !named.contains($0) }
                guard others.isEmpty else { return .ownsClients(others) }
                var rows = ClientRemoval.rowsAtOnce
                for client in owned { try database.removeClientForGood(client, atMost: &rows) }
            case .transfer(let owner):
                let exists = try database.answers(
                    "SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", owner.rawValue)
                guard owner != user, exists == [true] else { return .newOwnerNotFound }
                try database.send(
                    """
                    UPDATE clients SET owner_id = ?2, changed_at = ?3, revision = revision + 1 WHERE owner_id = ?1
                    """, user.rawValue, owner.rawValue, time.microseconds)
                for client in clients { try database.settleDevelopers(ofOwned: client) }
            }
            try database.removeDeveloper(ofEveryClient: user)
            try database.queueLogouts(ofUser: facts.number, sealedAs: Data(terms.sealedUserID), at: time)
            try database.send(
                "UPDATE logout_deliveries SET person_id = NULL, sealed_person_id = ?2 WHERE person_id = ?1",
                user.rawValue, Data(terms.sealedUserID))
            try database.keepSubject(of: terms, at: time)
            try database.send("DELETE FROM sessions WHERE person_id = ?", user.rawValue)
            for table in [
                "passkeys", "recovery_codes", "second_factors", "user_groups", "user_attributes", "user_identities",
            ] {
                try database.send("DELETE FROM \(table) WHERE person_id = ?", user.rawValue)
            }
            try database.send("DELETE FROM consents WHERE person_id = ?", user.rawValue)
            try database.send(
                """
                INSERT INTO removed_people (number, id, pseudonym, username, email, display_name)
                SELECT number, id, ?2, username, email, display_name FROM people WHERE id = ?1
                """, user.rawValue, terms.pseudonym.rawValue)
            try database.removeTester(user, at: time)
            try database.send("DELETE FROM people WHERE id = ?", user.rawValue)
            try database.append(events(clients))
            return .begun(clients)
        }
    }

    /// Deletes at most `rows` records of deleted users and clients.
    ///
    /// When the last record of a user is deleted, it also erases what the files of the database still contain of it, as
    /// far as the database can.
    public func continueRemovals(atMost rows: Int) async throws(StoreFault) -> Int {
        // Most calls find nothing. They end after this read, without the write lock.
        let isAny = try await read { database in
            try database.answers(
                "SELECT EXISTS (SELECT 1 FROM removed_people) OR EXISTS (SELECT 1 FROM client_removals)")
        }
        guard isAny == [true] else { return 0 }
        let done = try await commit(ending: .sometimes(.consent)) { database in
            let ofUser = try database.continueRemoval(atMost: max(1, rows))
            guard ofUser.rows == 0 else { return ofUser }
            return (try database.continueClientRemoval(atMost: max(1, rows)), false)
        }
        if done.isComplete { await database.engine.eraseDeleted() }
        return done.rows
    }
}

extension User {
    /// The query for the number of user ?1, and whether the user is an owner and no other owner can sign in.
    static let removalFacts = """
        SELECT people.number, coalesce(people.role, '') = 'owner' AND NOT EXISTS (
            SELECT 1 FROM people AS others
            WHERE others.role = 'owner' AND others.id <> ?1 AND others.disabled_at IS NULL
                AND (others.password_hash IS NOT NULL OR EXISTS (
                    SELECT 1 FROM passkeys WHERE passkeys.person_id = others.id AND passkeys.is_security_key = 0))
        )
        FROM people WHERE people.id = ?1
        """
}

extension RemovedUser {
    fileprivate static let columns = "id, pseudonym, username, email, display_name"
    /// The query for a page of ?2 pushed requests after the digest ?1.
    static let pushedRequests =
        "SELECT \(PushedRequest.columns) FROM pushed_requests WHERE digest > ?1 ORDER BY digest LIMIT ?2"
    /// The query for ?2 events of user ?1.
    static let events = "SELECT number, detail FROM audit WHERE person_id = ?1 LIMIT ?2"
    /// The query for ?2 grants of the user with the former number ?1.
    static let grants = "SELECT number, id FROM grants WHERE person_number = ?1 LIMIT ?2"

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            id: try columns.value(UserIdentifier.init(_:)),
            pseudonym: try columns.value(UserIdentifier.init(_:)),
            // No value that an administrator could have to correct first keeps the records of a deleted user.
            username: try columns.text(),
            email: try columns.optionalText(),
            displayName: try columns.text()
        )
    }
}

extension SQLConnection {
    /// Reads a deleted user with records that are not deleted yet; nil if there is none with this identifier.
    func removedUser(_ id: UserIdentifier) throws -> RemovedUser? {
        try first(
            "SELECT \(RemovedUser.columns) FROM removed_people WHERE id = ?", id.rawValue,
            read: RemovedUser.init(_:))
    }

    /// Removes the name of a user from the clients in development that name it.
    fileprivate func removeTester(_ user: UserIdentifier, at time: Date) throws {
        let name = "' ' || (SELECT username FROM people WHERE id = ?1) || ' '"
        let others = "replace(' ' || testers || ' ', \(name), ' ')"
        try send(
            """
            UPDATE clients SET testers = trim(\(others)), changed_at = ?2, revision = revision + 1
            WHERE testers <> '' AND \(others) <> ' ' || testers || ' '
            """, user.rawValue, time.microseconds)
    }

    /// Queues a logout notification for each client and session of the active grants of a user.
    ///
    /// These include grants whose session has expired without a notification, because its row may be deleted already.
    fileprivate func queueLogouts(ofUser number: Int64, sealedAs sealed: Data, at time: Date) throws {
        try send(
            """
            INSERT INTO logout_deliveries (client_id, sealed_person_id, session_id, attempts, due_at)
            SELECT DISTINCT grants.client_id, ?2, grants.session_id, 0, ?3
            FROM grants JOIN clients ON clients.id = grants.client_id
            WHERE grants.person_number = ?1 AND grants.session_id IS NOT NULL AND grants.revoked_at IS NULL
                AND grants.session_ended_at IS NULL AND clients.backchannel_logout_uri IS NOT NULL
            """, number, sealed, time.microseconds)
    }

    /// Deletes or changes records of the deleted user with the smallest number.
    ///
    /// Each step that handles fewer rows than it may has handled the last of its kind.
    fileprivate func continueRemoval(atMost rows: Int) throws -> (rows: Int, isComplete: Bool) {
        let removal = try first(
            "SELECT number, pushed_through, \(RemovedUser.columns) FROM removed_people ORDER BY number LIMIT 1"
        ) { columns in
            (
                number: try columns.integer(), pushedThrough: Data(try columns.bytes()),
                user: try RemovedUser(&columns)
            )
        }
        guard let removal else { return (0, false) }
        var left = rows
        left -= try removeGrants(RemovedUser.grants, removal.number, atMost: left)
        if left > 0 { left -= try pseudonymizeEvents(of: removal.user, atMost: left) }
        if left > 0 {
            left -= try removePushedRequests(
                naming: removal.user, number: removal.number, after: removal.pushedThrough, atMost: left)
        }
        guard left > 0 else { return (rows, false) }
        try send("DELETE FROM removed_people WHERE number = ?", removal.number)
        return (rows - left + 1, true)
    }

    /// Deletes grants with their codes and token families, and returns their number.
    ///
    /// - Parameters:
    ///   - query: The query for the numbers and identifiers of ?2 grants.
    ///   - key: The first parameter of the query.
    ///   - rows: The maximum number of grants.
    func removeGrants(_ query: String, _ key: any SQLValue, atMost rows: Int) throws -> Int {
        let grants = try all(query, key, rows) { columns in
            (number: try columns.integer(), id: try columns.text())
        }
        for grant in grants {
            try send("DELETE FROM codes WHERE grant_id = ?", grant.id)
            try send("DELETE FROM refresh_tokens WHERE grant_number = ?", grant.number)
            try send("DELETE FROM grants WHERE number = ?", grant.number)
        }
        return grants.count
    }

    private func pseudonymizeEvents(of user: RemovedUser, atMost rows: Int) throws -> Int {
        let events = try all(RemovedUser.events, user.id.rawValue, rows) { columns in
            (number: try columns.integer(), detail: try columns.optionalText())
        }
        for event in events {
            try send(
                """
                UPDATE audit SET person_id = ?2, grant_id = NULL, source = NULL, request_id = NULL, detail = ?3
                WHERE number = ?1
                """,
                event.number, user.pseudonym.rawValue, user.detail(keptOf: event.detail))
        }
        return events.count
    }

    /// Searches the next pushed requests for the user, and returns how many it searched.
    private func removePushedRequests(
        naming user: RemovedUser, number: Int64, after digest: Data, atMost rows: Int
    ) throws -> Int {
        let requests = try all(RemovedUser.pushedRequests, digest, rows, read: PushedRequest.init(_:))
        for request in requests where user.isNamed(in: request) { try removePushedRequest(request.digest) }
        if let last = requests.last {
            try send(
                "UPDATE removed_people SET pushed_through = ?2 WHERE number = ?1", number, Data(last.digest.bytes))
        }
        return requests.count
    }
}
