public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads an identity with its user.
    public func identity(_ subject: ExternalSubject) async throws(StoreFault) -> UserIdentityFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(UserIdentity.columns), \(User.columns)
                FROM user_identities JOIN people ON people.id = user_identities.person_id
                WHERE user_identities.issuer = ? AND user_identities.subject = ?
                """, subject.issuer, subject.subject
            ) { columns in
                UserIdentityFacts(identity: try UserIdentity(&columns), user: try User(&columns))
            }
        }
    }

    /// Reads the identities of a user, oldest first.
    public func identities(of user: UserIdentifier) async throws(StoreFault) -> [UserIdentity] {
        try await read { database in
            try database.all(
                """
                SELECT \(UserIdentity.columns) FROM user_identities WHERE user_identities.person_id = ?
                ORDER BY user_identities.created_at, user_identities.id
                """, user.rawValue, read: UserIdentity.init(_:))
        }
    }

    /// Adds an identity, unless it belongs to a user or the user has `UserIdentity.limitPerUser` identities.
    public func addIdentity(
        _ identity: UserIdentity, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddIdentityOutcome {
        try await commit(recording: events) { database in
            guard try database.isActive(identity.userID) else { return .userNotActive }
            guard try !database.isKnown(identity.subject) else { return .exists }
            let isFull = try database.answers(
                "SELECT (SELECT count(*) FROM user_identities WHERE person_id = ?) >= \(UserIdentity.limitPerUser)",
                identity.userID.rawValue)
            guard isFull == [false] else { return .tooMany }
            try database.insert(identity)
            return .added
        }
    }

    /// Adds a user with an identity.
    public func addUser(
        _ user: User, with identity: UserIdentity, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddIdentifiedUserOutcome {
        try await commit(recording: events) { database in
            guard try !database.isKnown(identity.subject) else { return .identityExists }
            let isTaken = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1)
                    OR EXISTS (SELECT 1 FROM removed_people WHERE id = ?1)
                    OR EXISTS (SELECT 1 FROM clients WHERE id = ?1)
                """, user.id.rawValue)
            guard isTaken == [false] else { return .identifierTaken }
            switch try database.add(user, asFirstOwner: false) {
            case .added: break
            case .usernameTaken: return .usernameTaken
            case .emailTaken, .ownerExists: return .emailTaken
            }
            try database.insert(identity)
            return .added
        }
    }

    /// Deletes an identity, unless it is needed as a way in.
    public func removeIdentity(
        _ id: UserIdentityIdentifier, of user: UserIdentifier, countingIdentitiesOf issuers: Set<String>,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RemoveIdentityOutcome {
        try await commit(ending: .usually(.userIdentity), recording: events) { database in
            let issuer = try database.first(
                "SELECT issuer FROM user_identities WHERE id = ?1 AND person_id = ?2", id.rawValue, user.rawValue
            ) { columns in try columns.text() }
            guard let issuer else { return .notFound }
            guard
                try !issuers.contains(issuer)
                    || database.waysIn(of: user, countingIdentitiesOf: issuers).allows(.identity)
            else { return .neededAsWayIn }
            try database.send("DELETE FROM user_identities WHERE id = ?", id.rawValue)
            return .removed
        }
    }
}

extension SQLConnection {
    func isKnown(_ subject: ExternalSubject) throws -> Bool {
        try answers(
            "SELECT EXISTS (SELECT 1 FROM user_identities WHERE issuer = ? AND subject = ?)", subject.issuer,
            subject.subject) == [true]
    }

    func insert(_ identity: UserIdentity) throws {
        try send(
            """
            INSERT INTO user_identities (issuer, subject, id, person_id, created_at, last_used_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            identity.subject.issuer,
            identity.subject.subject,
            identity.id.rawValue,
            identity.userID.rawValue,
            identity.createdAt.microseconds,
            identity.lastUsedAt?.microseconds
        )
    }
}

extension UserIdentity {
    /// The column names, each with the name of the table as a prefix, for joins.
    fileprivate static let columns = """
        user_identities.id, user_identities.issuer, user_identities.subject, user_identities.person_id,
        user_identities.created_at, user_identities.last_used_at
        """

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "identity of a user"
        let id = try columns.value(UserIdentityIdentifier.init(_:))
        let issuer = try columns.text()
        self.init(
            id: id,
            subject: try columns.value { ExternalSubject(issuer: issuer, subject: $0) },
            userID: try columns.value(UserIdentifier.init(_:)),
            createdAt: try columns.date(),
            lastUsedAt: try columns.optionalDate()
        )
    }
}
