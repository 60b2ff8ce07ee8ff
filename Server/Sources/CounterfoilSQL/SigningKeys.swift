public import CounterfoilStore
public import CounterfoilTokens
public import Foundation

extension SQLStore {
    /// Reads every signing key, oldest first; the private keys are encrypted with the server key.
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        try await read { database in
            try database.list(
                """
                SELECT id, algorithm, sealed, created_at, signs_from, replaced_at FROM signing_keys
                ORDER BY created_at, rowid
                """, noting: unsupported, skippingInvalid: false
            ) { columns in
                columns.record = "signing key"
                return SealedSigningKey(
                    id: try columns.value { KeyIdentifier($0) },
                    algorithm: try columns.word(SigningAlgorithm.init(rawValue:)),
                    sealed: try columns.bytes(),
                    createdAt: try columns.date(),
                    signsFrom: try columns.date(),
                    replacedAt: try columns.optionalDate()
                )
            }
        }
    }

    /// Reads what all clients together need of the signing keys.
    public func signingNeeds() async throws(StoreFault) -> SigningNeeds {
        let rows = try await read { database in
            try database.all(
                """
                SELECT id_token_algorithm, count(*) FILTER (WHERE type <> 'service'), max(access_token_lifetime),
                    max(id_token_lifetime)
                FROM clients GROUP BY id_token_algorithm
                """
            ) { columns in
                (
                    algorithm: SigningAlgorithm(rawValue: try columns.text()), clients: Int(try columns.integer()),
                    access: try columns.optionalInteger().map(Int.init),
                    identity: try columns.optionalInteger().map(Int.init)
                )
            }
        }
        return rows.reduce(into: SigningNeeds()) { needs, row in
            if let algorithm = row.algorithm, row.clients > 0 { needs.clients[algorithm] = row.clients }
            needs.accessTokenLifetime = [needs.accessTokenLifetime, row.access].compactMap(\.self).max()
            needs.idTokenLifetime = [needs.idTokenLifetime, row.identity].compactMap(\.self).max()
        }
    }

    /// Stores the first key of an algorithm, unless the algorithm already has a key.
    public func addFirstSigningKey(
        _ key: SealedSigningKey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await commit(recording: events) { database in
            let added = try database.run(
                """
                INSERT INTO signing_keys (id, algorithm, sealed, created_at, signs_from)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE algorithm = ?2)
                """,
                key.id.rawValue,
                key.algorithm.rawValue,
                Data(key.sealed),
                key.createdAt.microseconds,
                key.signsFrom.microseconds
            )
            return added == 1 ? .added : .algorithmHasKey
        }
    }

    /// Stores the successor of a key, unless the key already has a successor.
    ///
    /// The former key counts as replaced from the time at which the server starts to sign with the successor. So does
    /// any other key of the algorithm that would have signed after that time.
    public func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await commit(recording: events) { database in
            let replaced = try database.run(
                "UPDATE signing_keys SET replaced_at = ?2 WHERE id = ?1 AND algorithm = ?3 AND replaced_at IS NULL",
                former.rawValue,
                key.signsFrom.microseconds,
                key.algorithm.rawValue
            )
            guard replaced == 1 else { return .algorithmHasKey }
            try database.send(
                "UPDATE signing_keys SET replaced_at = ?1 WHERE algorithm = ?2 AND replaced_at > ?1",
                key.signsFrom.microseconds,
                key.algorithm.rawValue
            )
            try database.send(
                "INSERT INTO signing_keys (id, algorithm, sealed, created_at, signs_from) VALUES (?, ?, ?, ?, ?)",
                key.id.rawValue,
                key.algorithm.rawValue,
                Data(key.sealed),
                key.createdAt.microseconds,
                key.signsFrom.microseconds
            )
            return .added
        }
    }

    /// Deletes a key that has a successor; returns false if the key does not exist or has no successor.
    ///
    /// Once clients and APIs reload the JWKS, they reject every token that was signed with the key, even if it has not
    /// expired.
    public func removeSigningKey(_ id: KeyIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.signingKey), recording: events) { database in
            try database.run("DELETE FROM signing_keys WHERE id = ? AND replaced_at IS NOT NULL", id.rawValue) == 1
        }
    }

    /// Deletes the keys that were replaced before a time, and returns their number.
    ///
    /// A key with an algorithm that this version does not know stays, because this version cannot know for how long its
    /// tokens are valid.
    @discardableResult
    public func removeSigningKeys(
        replacedBefore time: Date, recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await commit(ending: .sometimes(.signingKey)) { database in
            let removed = try SigningAlgorithm.allCases.reduce(0) { removed, algorithm in
                try removed
                    + database.run(
                        "DELETE FROM signing_keys WHERE replaced_at < ? AND algorithm = ?", time.microseconds,
                        algorithm.rawValue)
            }
            if removed > 0 { try database.append(events(removed)) }
            return removed
        }
    }
}
