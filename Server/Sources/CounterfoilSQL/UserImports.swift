public import CounterfoilStore

extension SQLStore {
    /// Returns the outcome that an import would have for each user.
    public func outcomes(ofImporting users: [ImportedUser]) async throws(StoreFault) -> [ImportUserOutcome] {
        try await read { database in try users.map { try database.obstacle(toImporting: $0) ?? .added } }
    }

    /// Adds users in one transaction, without those whose unique values are taken.
    public func importUsers(
        _ users: [ImportedUser], recording events: @escaping @Sendable (User) -> [AuditEvent]
    ) async throws(StoreFault) -> [ImportUserOutcome] {
        try await commit { database in
            try users.map { imported -> ImportUserOutcome in
                if let obstacle = try database.obstacle(toImporting: imported) { return obstacle }
                let id = imported.user.id
                // The users of an import are not new ones, so they are in no count of sign-ups.
                try database.insert(imported.user)
                for group in imported.attributes.groups { try database.insert(group, of: id) }
                for (name, value) in imported.attributes.values { try database.set(name, to: value, of: id) }
                for identity in imported.identities { try database.insert(identity) }
                try database.append(events(imported.user), ofExisting: id)
                return .added
            }
        }
    }
}

extension SQLConnection {
    /// Returns the reason why a user cannot be added; nil if there is none.
    fileprivate func obstacle(toImporting imported: ImportedUser) throws -> ImportUserOutcome? {
        let user = imported.user
        let facts = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1 AND username = ?2),
                EXISTS (SELECT 1 FROM people WHERE username = ?2 AND coalesce(email, '') = ?3),
                EXISTS (SELECT 1 FROM people WHERE id = ?1) OR EXISTS (SELECT 1 FROM removed_people WHERE id = ?1)
                    OR EXISTS (SELECT 1 FROM clients WHERE id = ?1),
                EXISTS (SELECT 1 FROM people WHERE username = ?2), EXISTS (SELECT 1 FROM people WHERE email = ?3)
            """,
            user.id.rawValue, user.username.rawValue, user.email?.rawValue ?? "")
        if imported.keepsIdentifier ? facts[0] : facts[1] { return .exists }
        if facts[2] { return .identifierTaken }
        if facts[3] { return .usernameTaken }
        if facts[4] { return .emailTaken }
        return try imported.identities.contains { try isKnown($0.subject) } ? .identityTaken : nil
    }
}
