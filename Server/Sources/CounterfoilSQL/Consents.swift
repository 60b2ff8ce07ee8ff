public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the consent of a user to a client; nil if there is none, or it was withdrawn.
    public func consent(
        of user: UserIdentifier,
        to client: ClientIdentifier
    ) async throws(StoreFault) -> Consent? {
        try await read { database in try database.consent(of: user, to: client) }
    }

    /// Reads the consents of a user with their clients, most recently allowed first.
    public func consents(of user: UserIdentifier) async throws(StoreFault) -> [ConsentFacts] {
        try await read { database in
            try database.list(
                """
                SELECT \(Consent.columns), \(RegisteredClient.columns)
                FROM consents JOIN clients ON clients.id = consents.client_id
                WHERE consents.person_id = ?
                ORDER BY consents.allowed_at DESC, consents.client_id
                """,
                user.rawValue,
                noting: unsupported
            ) { columns in
                ConsentFacts(consent: try Consent(&columns), client: try RegisteredClient(&columns))
            }
        }
    }

    /// Reads at most `limit` consents of a user with their clients, in the order of the client identifiers.
    public func consents(
        of user: UserIdentifier, after last: ClientIdentifier?, limit: Int
    ) async throws(StoreFault) -> [ConsentFacts] {
        try await read { database in
            try database.list(
                """
                SELECT \(Consent.columns), \(RegisteredClient.columns)
                FROM consents JOIN clients ON clients.id = consents.client_id
                WHERE consents.person_id = ? AND consents.client_id > ? ORDER BY consents.client_id
                """,
                user.rawValue,
                last?.rawValue ?? "",
                atMost: limit,
                noting: unsupported
            ) { columns in
                ConsentFacts(consent: try Consent(&columns), client: try RegisteredClient(&columns))
            }
        }
    }

    /// Removes the scopes that are not in `kept` from every active grant of a user to a client.
    ///
    /// A grant that has no scope left is revoked. The consent keeps only what the remaining grants allow, and is
    /// deleted if no grant remains. If `kept` is empty, no value of the consent or of a grant is read, so that a value
    /// that this version does not know keeps no access.
    public func narrowConsent(
        of user: UserIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> NarrowConsentOutcome {
        try await commit(ending: .usually(.grant, .grantScope, .consent), recording: events) { database in
            guard !kept.isEmpty else {
                return try database.withdrawConsent(of: user, to: client, at: time) ? .narrowed : .notFound
            }
            guard try database.consent(of: user, to: client) != nil else { return .notFound }
            for (scope, claimScope) in try database.liveScopes(of: user, to: client) {
                let (left, leftForClaims) = (scope.intersection(kept), claimScope.intersection(kept))
                let isLess =
                    left.tokens.count < scope.tokens.count || leftForClaims.tokens.count < claimScope.tokens.count
                guard isLess else { continue }
                // Equal scopes are stored as equal texts, so a comparison of texts finds the grants with these scopes.
                let grants = """
                    \(Grant.isOfFirst) AND client_id = ?2 AND scope = ?3 AND claim_scope = ?4 AND revoked_at IS NULL
                    """
                // A concurrent redemption may already have read the former scope. This statement sets the number of
                // failed redemptions to its limit, so `consumeCode` refuses the unused codes of these grants.
                try database.send(
                    """
                    UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
                    WHERE \(CodeRecord.isRedeemable) AND grant_id IN (SELECT id FROM grants WHERE \(grants))
                    """,
                    user.rawValue,
                    client.rawValue,
                    scope.description,
                    claimScope.description
                )
                let narrowed = try database.run(
                    "UPDATE grants SET scope = ?5, claim_scope = ?6, revoked_at = ?7 WHERE \(grants)",
                    user.rawValue,
                    client.rawValue,
                    scope.description,
                    claimScope.description,
                    left.isEmpty ? scope.description : left.description,
                    left.isEmpty ? claimScope.description : leftForClaims.description,
                    left.isEmpty ? time.microseconds : nil
                )
                if left.isEmpty { try database.countRefresh(of: client, revocations: narrowed) }
            }
            try database.followConsent(of: user, to: client)
            return .narrowed
        }
    }
}

extension SQLConnection {
    func consent(of user: UserIdentifier, to client: ClientIdentifier) throws -> Consent? {
        try consent(of: user.rawValue, to: client.rawValue)
    }

    private func consent(of user: String, to client: String) throws -> Consent? {
        try first(
            """
            SELECT \(Consent.columns) FROM consents
            WHERE consents.person_id = ?1 AND consents.client_id = ?2
                AND EXISTS (SELECT 1 FROM clients WHERE clients.id = ?2)
            """,
            user,
            client,
            read: Consent.init(_:)
        )
    }

    /// Deletes a consent and revokes every active grant; returns false if there is no consent.
    fileprivate func withdrawConsent(
        of user: UserIdentifier, to client: ClientIdentifier, at time: Date
    ) throws -> Bool {
        let withdrawn = try run(
            """
            DELETE FROM consents WHERE person_id = ?1 AND client_id = ?2
                AND EXISTS (SELECT 1 FROM clients WHERE clients.id = ?2)
            """, user.rawValue, client.rawValue)
        guard withdrawn == 1 else { return false }
        let live = "\(Grant.isOfFirst) AND client_id = ?2 AND revoked_at IS NULL"
        try send(
            """
            UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
            WHERE \(CodeRecord.isRedeemable) AND grant_id IN (SELECT id FROM grants WHERE \(live))
            """, user.rawValue, client.rawValue)
        let revoked = try run(
            "UPDATE grants SET revoked_at = ?3 WHERE \(live)", user.rawValue, client.rawValue, time.microseconds)
        if revoked > 0 { try countRefresh(of: client, revocations: revoked) }
        return true
    }

    /// Inserts a consent, or updates the stored one except for `since` and `last_used_at`.
    ///
    /// `unsupported` are the lines that the stored consent remembers in a form that this version does not know.
    func keep(_ consent: Consent, with unsupported: [String]) throws {
        try send(
            """
            INSERT INTO consents
                (person_id, client_id, scope, remembered, remembered_at, appearance, since, allowed_at, last_used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (person_id, client_id) DO UPDATE SET
                scope = excluded.scope, remembered = excluded.remembered, remembered_at = excluded.remembered_at,
                appearance = excluded.appearance, allowed_at = excluded.allowed_at
            """,
            consent.userID.rawValue,
            consent.clientID.rawValue,
            consent.scope.description,
            consent.remembered.description,
            (consent.rememberedAtLines + unsupported).joined(separator: "\n"),
            Data(consent.appearance.bytes),
            consent.since.microseconds,
            consent.allowedAt.microseconds,
            consent.lastUsedAt?.microseconds
        )
    }

    /// Narrows a consent to the scopes of its active grants, after a grant was revoked or narrowed.
    ///
    /// Deletes the consent if no active grant is left. If the consent or a grant has a value that is invalid, or that
    /// this version does not know, the consent forgets what it remembers, so that the user is asked again. The end of a
    /// grant never depends on such a value.
    func followConsent(of user: UserIdentifier, to client: ClientIdentifier) throws {
        try followConsent(of: user.rawValue, to: client.rawValue)
    }

    /// Narrows the consent with a pair of identifiers, which may be invalid.
    func followConsent(of user: String, to client: String) throws {
        do {
            if let consent = try consent(of: user, to: client) { try follow(consent) }
        } catch StoreFault.unsupported, StoreFault.damaged {
            let consent = "person_id = ?1 AND client_id = ?2"
            try send(
                """
                DELETE FROM consents WHERE \(consent) AND NOT EXISTS (
                    SELECT 1 FROM grants WHERE \(Grant.isOfFirst) AND client_id = ?2 AND revoked_at IS NULL
                )
                """, user, client)
            try send("UPDATE consents SET remembered = '', remembered_at = '' WHERE \(consent)", user, client)
        }
    }

    private func follow(_ consent: Consent) throws {
        guard let narrowed = consent.following(try liveGrants(of: consent.userID, to: consent.clientID)) else {
            try send(
                "DELETE FROM consents WHERE person_id = ? AND client_id = ?",
                consent.userID.rawValue,
                consent.clientID.rawValue
            )
            return
        }
        try keep(narrowed, with: [])
    }

    /// Reads the distinct combinations of allowed scopes and APIs in the active grants of a user to a client.
    private func liveGrants(
        of user: UserIdentifier, to client: ClientIdentifier
    ) throws -> [(scope: Scope, resources: [Resource])] {
        try all(
            """
            SELECT DISTINCT scope, claim_scope, resources FROM grants
            WHERE \(Grant.isOfFirst) AND client_id = ?2 AND revoked_at IS NULL
            """,
            user.rawValue,
            client.rawValue
        ) { columns in
            columns.record = "grant"
            return (try columns.scope().union(try columns.scope()), try columns.resources())
        }
    }

    /// Reads the distinct pairs of `scope` and `claim_scope` in the active grants of a user to a client.
    fileprivate func liveScopes(
        of user: UserIdentifier, to client: ClientIdentifier
    ) throws -> [(scope: Scope, claimScope: Scope)] {
        try all(
            """
            SELECT DISTINCT scope, claim_scope FROM grants
            WHERE \(Grant.isOfFirst) AND client_id = ?2 AND revoked_at IS NULL
            """,
            user.rawValue,
            client.rawValue
        ) { columns in (try columns.scope(), try columns.scope()) }
    }
}

extension Consent {
    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        consents.person_id, consents.client_id, consents.scope, consents.remembered, consents.remembered_at,
        consents.appearance, consents.since, consents.allowed_at, consents.last_used_at
        """

    init(_ columns: inout Columns) throws {
        columns.record = "consent"
        self.init(
            userID: try columns.value(UserIdentifier.init(_:)),
            clientID: try columns.value(ClientIdentifier.init(_:)),
            scope: try columns.scope(),
            remembered: try columns.scope(),
            rememberedAt: try columns.rememberedAt(),
            appearance: try columns.appearance(),
            since: try columns.date(),
            allowedAt: try columns.date(),
            lastUsedAt: try columns.optionalDate()
        )
    }
}

extension Consent {
    /// The remembered scopes as lines of text, one for each API.
    ///
    /// A line contains the resource indicator of the API and the scope tokens, delimited by spaces. Neither an
    /// indicator nor a token contains a space.
    fileprivate var rememberedAtLines: [String] { rememberedAt.map { "\($0.key) \($0.value)" }.sorted() }

    /// Parses the lines; those in a form that this version does not know are returned as they are.
    static func rememberedLines(_ text: String) -> (scopes: [Resource: Scope], unsupported: [String]) {
        var remembered: [Resource: Scope] = [:]
        var unsupported: [String] = []
        for line in text.split(separator: "\n").map(String.init) {
            let words = line.split(separator: " ").map(String.init)
            let tokens = words.dropFirst().compactMap { Scope.Token($0) }
            if let resource = try? Resource(words.first ?? ""), tokens.count == words.count - 1 {
                remembered[resource] = Scope(tokens)
            } else {
                unsupported.append(line)
            }
        }
        return (remembered, unsupported)
    }
}

extension Columns {
    /// Reads the remembered scopes; an API in a form that this version does not know is left out, so the user is asked
    /// there.
    fileprivate mutating func rememberedAt() throws(StoreFault) -> [Resource: Scope] {
        Consent.rememberedLines(try text()).scopes
    }

    fileprivate mutating func appearance() throws(StoreFault) -> ClientAppearance {
        guard let appearance = ClientAppearance(stored: try bytes()) else { throw damage() }
        return appearance
    }
}
