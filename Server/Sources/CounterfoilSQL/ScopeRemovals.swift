public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Counts the scopes of clients and of the latest grants, from at most `rows` of each.
    public func scopeUsage(atMost rows: Int) async throws(StoreFault) -> ScopeUsage {
        try await read { database in
            let clients = try database.all(
                """
                SELECT scope, optional_scope, count(*) FROM (SELECT scope, optional_scope FROM clients LIMIT ?1) AS counted
                GROUP BY scope, optional_scope
                """, rows
            ) { columns in
                ScopeUsage.Clients(
                    scope: try columns.scope(), optionalScope: try columns.scope(), count: Int(try columns.integer()))
            }
            let grants = try database.all(
                """
                SELECT scope, count(*)
                FROM (SELECT scope, revoked_at FROM grants ORDER BY number DESC LIMIT ?1) AS latest
                WHERE revoked_at IS NULL GROUP BY scope
                """, rows
            ) { columns in ScopeUsage.Grants(scope: try columns.scope(), count: Int(try columns.integer())) }
            let more = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM clients LIMIT 1 OFFSET ?1),
                    EXISTS (SELECT 1 FROM grants LIMIT 1 OFFSET ?1)
                """, rows)
            return ScopeUsage(
                clients: clients, grants: grants, hasAllClients: more.first == false, hasAllGrants: more.last == false)
        }
    }

    /// Reads the clients and APIs to which a scope is assigned, at most `limit` of each.
    public func scopeUses(of token: Scope.Token, atMost limit: Int) async throws(StoreFault) -> ScopeUses {
        try await read { database in try database.uses(of: token, atMost: Int64(limit)) }
    }

    /// Finds clients that can request one of some scopes, in one pass over at most `rows` clients.
    public func clients(
        withAnyOf scope: Scope, atMost limit: Int, among rows: Int
    ) async throws(StoreFault) -> (clients: [ClientIdentifier], isWhole: Bool) {
        let examined = try await read { database in
            try database.all("SELECT id, scope, optional_scope FROM clients LIMIT ?1", rows + 1) { columns in
                (id: try columns.text(), scopes: [try columns.scope(), try columns.scope()])
            }
        }
        let found = examined.prefix(rows).filter { client in
            client.scopes.contains { $0.tokens.contains(where: scope.contains) }
        }
        return (Array(found.compactMap { ClientIdentifier($0.id) }.prefix(limit)), examined.count <= rows)
    }

    /// Deletes a scope and removes it from grants and consents; a grant that has no scope left is revoked.
    ///
    /// If `takesFromUses` is true, the scope is also removed from clients and APIs. If it is false and a client or API
    /// has the scope, nothing is written. A standard scope is never deleted.
    ///
    /// The scope is first removed from the grants in small transactions, between which others can commit. The last
    /// transaction removes it from the few grants that got it meanwhile, and deletes it. So if a fault ends the call,
    /// the scope still exists, and the call can be repeated.
    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date,
        recording events: @escaping @Sendable (ScopeUses) -> [AuditEvent]
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        guard !token.isStandard else { return .isStandard }
        let obstacle = try await read { database in
            try database.obstacle(toRemoving: token, takingFromUses: takesFromUses)
        }
        if let obstacle { return obstacle }
        try await takeFromPresentGrants(token, at: time)
        return try await commit(
            ending: .usually(.scope, .grant, .grantScope, .consent, .clientChanged, .clientMachineScope, .apiChanged)
        ) { database in
            if let obstacle = try database.obstacle(toRemoving: token, takingFromUses: takesFromUses) {
                return obstacle
            }
            let uses = try database.uses(of: token)
            try database.takeFromUses(token, at: time)
            try database.takeFromGrants(token, numbered: GrantRange(), at: time)
            try database.takeFromConsents(token)
            try database.send("DELETE FROM scopes WHERE name = ?", token.rawValue)
            try database.append(events(uses))
            return .removed(from: uses)
        }
    }

    /// Removes a scope from the grants that have it now, in transactions of a limited size.
    private func takeFromPresentGrants(_ token: Scope.Token, at time: Date) async throws(StoreFault) {
        var last: Int64 = 0
        while let page = try await read({ [last] database in try database.grants(with: token, after: last) }) {
            if page.hasScope {
                try await commit(ending: .usually(.grant, .grantScope, .consent)) { database in
                    try database.takeFromGrants(token, numbered: page.range, at: time)
                }
                // Another process cannot take the write lock of a file while this one always has it.
                try? await Task.sleep(for: ScopeRemoval.pause)
            }
            last = page.range.last
        }
    }
}

/// The limits of the transactions that remove a scope from grants.
package enum ScopeRemoval {
    /// The maximum number of grants that one transaction narrows.
    package static let grantsAtOnce = 200
    /// The maximum number of grants that one query searches for the scope.
    static let grantsPerSearch = 5000
    static let pause = Duration.milliseconds(10)
}

/// A range of grants by their numbers; by default that of all grants.
private struct GrantRange: Sendable {
    /// The number before the first one.
    var before = Int64.min
    var last = Int64.max
}

/// The result of a search in the grants of a range.
private struct SearchedGrants: Sendable {
    let range: GrantRange
    /// Whether a grant in the range has the scope.
    let hasScope: Bool
}

extension SQLConnection {
    /// Returns the outcome of a removal that a rule forbids; nil if the scope can be removed.
    fileprivate func obstacle(
        toRemoving token: Scope.Token, takingFromUses takesFromUses: Bool
    ) throws -> RemoveScopeOutcome? {
        guard try scope(token) != nil else { return .notFound }
        guard try takesFromUses || !isUsed(token) else { return .inUse(try uses(of: token)) }
        return nil
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
    fileprivate func uses(of token: Scope.Token, atMost limit: Int64 = .max) throws -> ScopeUses {
        ScopeUses(
            clients: try all(
                """
                SELECT id FROM clients WHERE \(Self.holdsFirst("scope")) OR \(Self.holdsFirst("optional_scope"))
                ORDER BY created_at, id LIMIT ?2
                """, token.rawValue, limit
            ) { columns in ClientIdentifier(try columns.text()) }.compactMap { $0 },
            resources: try all(
                "SELECT resource FROM resources WHERE \(Self.holdsFirst("scope")) ORDER BY resource LIMIT ?2",
                token.rawValue, limit
            ) { columns in try? Resource(try columns.text()) }.compactMap { $0 })
    }

    /// Returns true if a client or an API has a scope, even one whose identifier this version cannot parse.
    private func isUsed(_ token: Scope.Token) throws -> Bool {
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

    /// Searches the grants after a number for active ones with a scope; returns nil if there are no further grants.
    ///
    /// The searched range ends before it has more such grants than one transaction narrows.
    fileprivate func grants(with token: Scope.Token, after last: Int64) throws -> SearchedGrants? {
        let end = try first(
            """
            SELECT max(number) FROM (SELECT number FROM grants WHERE number > ?1 ORDER BY number LIMIT ?2) AS page
            """, last, ScopeRemoval.grantsPerSearch
        ) { columns in try columns.optionalInteger() }
        guard let end, let end else { return nil }
        let found = try all(
            """
            SELECT number FROM grants
            WHERE number > ?2 AND number <= ?3 AND revoked_at IS NULL AND \(Self.holdsFirst("scope"))
            ORDER BY number LIMIT ?4
            """, token.rawValue, last, end, ScopeRemoval.grantsAtOnce
        ) { columns in try columns.integer() }
        let isLimited = found.count == ScopeRemoval.grantsAtOnce
        return SearchedGrants(
            range: GrantRange(before: last, last: isLimited ? found.last ?? end : end), hasScope: !found.isEmpty)
    }

    /// Removes a scope from the active grants of a range, and from the consents that then allow it no longer.
    ///
    /// It revokes the grants that have no other scope. Each statement changes all affected grants at once. No
    /// identifier of a user or a client is parsed, so an invalid one keeps no scope.
    fileprivate func takeFromGrants(_ token: Scope.Token, numbered range: GrantRange, at time: Date) throws {
        let name = token.rawValue
        let isActive = "grants.number > ?2 AND grants.number <= ?3 AND grants.revoked_at IS NULL"
        let isMeant = "\(isActive) AND \(Self.holdsFirst("grants.scope"))"
        // A concurrent redemption may already have read the former scope. This statement sets the number of failed
        // redemptions to its limit, so `consumeCode` refuses the unused codes of these grants.
        try send(
            """
            UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
            WHERE \(CodeRecord.isRedeemable) AND grant_id IN (SELECT grants.id FROM grants WHERE \(isMeant))
            """, name, range.before, range.last)
        let consents = try all(
            "SELECT DISTINCT people.id, grants.client_id FROM \(Grant.withUser) WHERE \(isMeant)", name,
            range.before, range.last
        ) { columns in (try columns.text(), try columns.text()) }
        let revoked = try all(
            "SELECT client_id, count(*) FROM grants WHERE \(isActive) AND scope = ?1 GROUP BY client_id", name,
            range.before, range.last
        ) { columns in (try columns.text(), Int(try columns.integer())) }
        for (client, count) in revoked { try countRefresh(of: client, revocations: count) }
        try send(
            "UPDATE grants SET revoked_at = ?4 WHERE \(isActive) AND scope = ?1", name, range.before, range.last,
            time.microseconds)
        try send(
            "UPDATE grants SET scope = \(Self.withoutFirst("scope")) WHERE \(isMeant)", name, range.before, range.last)
        for (user, client) in consents { try followConsent(of: user, to: client) }
    }

    /// Removes a scope that no active grant has from the consents that still allow it.
    fileprivate func takeFromConsents(_ token: Scope.Token) throws {
        let consents = try all(
            "SELECT person_id, client_id FROM consents WHERE \(Self.holdsFirst("scope"))", token.rawValue
        ) { columns in (try columns.text(), try columns.text()) }
        for (user, client) in consents { try followConsent(of: user, to: client) }
    }
}
