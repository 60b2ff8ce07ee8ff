public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension SQLStore {
    /// Reads every scope, in the order of names.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await read { database in
            try database.list(
                "SELECT name, description, is_listed, starts_ticked FROM scopes ORDER BY name", noting: unsupported,
                read: ScopeDefinition.init(_:))
        }
    }

    /// Adds a scope, unless its name is taken.
    public func addScope(
        _ scope: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddScopeOutcome {
        try await commit(recording: events) { database in
            let added = try database.run(
                """
                INSERT INTO scopes (name, description, is_listed, starts_ticked) VALUES (?, ?, ?, ?)
                ON CONFLICT (name) DO NOTHING
                """,
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked
            )
            return added == 1 ? .added : .exists
        }
    }

    /// Changes a scope if its stored definition still equals `former`.
    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await commit(recording: events) { database in
            guard let stored = try database.scope(scope.token) else { return .notFound }
            guard stored == former else { return .changedMeanwhile }
            try database.send(
                "UPDATE scopes SET description = ?2, is_listed = ?3, starts_ticked = ?4 WHERE name = ?1",
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked
            )
            return .updated
        }
    }

    /// Deletes a scope and removes it from grants and consents; a grant that has no scope left is revoked.
    ///
    /// If `takesFromUses` is true, the scope is also removed from clients and APIs. If it is false and a client or API
    /// has the scope, nothing is written. A standard scope is never deleted.
    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date,
        recording events: @escaping @Sendable (ScopeUses) -> [AuditEvent]
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        guard !token.isStandard else { return .isStandard }
        return try await commit { database in
            guard try database.scope(token) != nil else { return .notFound }
            let uses = try database.uses(of: token)
            guard try takesFromUses || !database.isUsed(token) else { return .inUse(uses) }
            try database.takeFromUses(token, at: time)
            try database.takeFromGrants(token, at: time)
            try database.send("DELETE FROM scopes WHERE name = ?", token.rawValue)
            try database.append(events(uses))
            return .removed(from: uses)
        }
    }
}

extension SQLConnection {
    fileprivate func scope(_ token: Scope.Token) throws -> ScopeDefinition? {
        try first(
            "SELECT name, description, is_listed, starts_ticked FROM scopes WHERE name = ?", token.rawValue,
            read: ScopeDefinition.init(_:))
    }

    /// Returns the SQL condition that a column with a space-delimited list contains the first parameter (?1).
    private static func holdsFirst(_ column: String) -> String {
        "instr(' ' || \(column) || ' ', ' ' || ?1 || ' ') > 0"
    }

    /// Returns the SQL expression for a space-delimited list without the first parameter (?1).
    ///
    /// A stored list contains each element once, with one space between two elements, so `replace` removes exactly this
    /// element.
    private static func withoutFirst(_ column: String) -> String {
        "trim(replace(' ' || \(column) || ' ', ' ' || ?1 || ' ', ' '))"
    }

    /// Reads the clients and APIs that have a scope, without those whose identifier this version cannot parse.
    fileprivate func uses(of token: Scope.Token) throws -> ScopeUses {
        ScopeUses(
            clients: try all(
                """
                SELECT id FROM clients WHERE \(Self.holdsFirst("scope")) OR \(Self.holdsFirst("optional_scope"))
                ORDER BY created_at, id
                """, token.rawValue
            ) { columns in ClientIdentifier(try columns.text()) }.compactMap { $0 },
            resources: try all(
                "SELECT resource FROM resources WHERE \(Self.holdsFirst("scope")) ORDER BY resource", token.rawValue
            ) { columns in try? Resource(try columns.text()) }.compactMap { $0 })
    }

    /// Returns true if a client or an API has a scope, even one whose identifier this version cannot parse.
    fileprivate func isUsed(_ token: Scope.Token) throws -> Bool {
        try answers(
            """
            SELECT EXISTS (
                SELECT 1 FROM clients WHERE \(Self.holdsFirst("scope")) OR \(Self.holdsFirst("optional_scope"))
            ) OR EXISTS (SELECT 1 FROM resources WHERE \(Self.holdsFirst("scope")))
            """, token.rawValue) == [true]
    }

    /// Removes a scope from APIs and clients, and increases the revision of these clients.
    ///
    /// The statements change the stored texts, so that they also reach a client or an API with a value that this
    /// version does not know, and keep that value.
    fileprivate func takeFromUses(_ token: Scope.Token, at time: Date) throws {
        try send(
            """
            UPDATE clients SET scope = \(Self.withoutFirst("scope")),
                optional_scope = \(Self.withoutFirst("optional_scope")),
                machine_scope = \(Self.withoutFirst("machine_scope")),
                changed_at = max(changed_at, ?2), revision = revision + 1
            WHERE \(Self.holdsFirst("scope")) OR \(Self.holdsFirst("optional_scope"))
            """, token.rawValue, time.microseconds)
        try send(
            "UPDATE resources SET scope = \(Self.withoutFirst("scope")) WHERE \(Self.holdsFirst("scope"))",
            token.rawValue)
    }

    /// Removes a scope from every active grant and every consent, and revokes the grants that have no other scope.
    ///
    /// Each statement changes all affected grants at once, so the number of statements does not depend on the number
    /// of grants. No identifier of a user or a client is parsed, so an invalid one keeps no scope.
    fileprivate func takeFromGrants(_ token: Scope.Token, at time: Date) throws {
        let name = token.rawValue
        let isMeant = "revoked_at IS NULL AND \(Self.holdsFirst("scope"))"
        // A concurrent redemption may already have read the former scope. This statement sets the number of failed
        // redemptions to its limit, so `consumeCode` refuses the unused codes of these grants.
        try send(
            """
            UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
            WHERE \(CodeRecord.isRedeemable)
                AND EXISTS (SELECT 1 FROM grants WHERE grants.id = codes.grant_id AND \(isMeant))
            """, name)
        let revoked = try all(
            "SELECT client_id, count(*) FROM grants WHERE revoked_at IS NULL AND scope = ? GROUP BY client_id", name
        ) { columns in (try columns.text(), Int(try columns.integer())) }
        for (client, count) in revoked { try countRefresh(of: client, revocations: count) }
        try send(
            "UPDATE grants SET revoked_at = ?2 WHERE revoked_at IS NULL AND scope = ?1", name, time.microseconds)
        try send("UPDATE grants SET scope = \(Self.withoutFirst("scope")) WHERE \(isMeant)", name)
        let consents = try all(
            "SELECT person_id, client_id FROM consents WHERE \(Self.holdsFirst("scope"))", name
        ) { columns in (try columns.text(), try columns.text()) }
        for (person, client) in consents { try followConsent(of: person, to: client) }
    }
}

extension ScopeDefinition {
    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "scope"
        self.init(
            token: try columns.word(Scope.Token.init(_:)), description: try columns.text(),
            isListed: try columns.flag(), startsTicked: try columns.flag())
    }
}
