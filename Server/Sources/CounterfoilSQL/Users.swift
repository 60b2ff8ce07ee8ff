public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the user with this identifier, even if the user is disabled; nil if there is none.
    public func user(_ id: UserIdentifier) async throws(StoreFault) -> User? {
        try await user("SELECT \(User.columns) FROM people WHERE people.id = ?", id.rawValue)
    }

    /// Reads the user with this user name, even if the user is disabled; nil if there is none.
    public func user(named username: Username) async throws(StoreFault) -> User? {
        try await user("SELECT \(User.columns) FROM people WHERE people.username = ?", username.rawValue)
    }

    /// Reads the identifier of the user with this user name, and no other column.
    public func userID(named username: Username) async throws(StoreFault) -> UserIdentifier? {
        try await read { database in
            try database.first("SELECT id FROM people WHERE username = ?", username.rawValue) { columns in
                try columns.value(UserIdentifier.init(_:))
            }
        }
    }

    /// Reads the user names of these users in one transaction, and no other column.
    public func usernames(of users: Set<UserIdentifier>) async throws(StoreFault) -> [UserIdentifier: String] {
        guard let first = users.first else { return [:] }
        let (limit, all) = (100, Array(users))
        let marks = Array(repeating: "?", count: limit).joined(separator: ", ")
        let ids = Dictionary(uniqueKeysWithValues: users.map { ($0.rawValue, $0) })
        return try await read { database in
            var names: [UserIdentifier: String] = [:]
            for start in stride(from: 0, to: all.count, by: limit) {
                var values: [(any SQLValue)?] = all[start...].prefix(limit).map(\.rawValue)
                // The text of the statement is always the same, so that it is prepared once.
                values += Array(repeating: first.rawValue, count: limit - values.count)
                let rows = try database.all(
                    "SELECT id, username FROM people WHERE id IN (\(marks))", values: values
                ) { columns in (id: try columns.text(), name: try columns.text()) }
                for row in rows { if let id = ids[row.id] { names[id] = row.name } }
            }
            return names
        }
    }

    /// Reads the user with this email address, even if the user is disabled; nil if there is none.
    public func user(withEmail email: EmailAddress) async throws(StoreFault) -> User? {
        try await user("SELECT \(User.columns) FROM people WHERE people.email = ?", email.rawValue)
    }

    /// Returns true if any user is an owner, even a disabled one.
    public func hasOwner() async throws(StoreFault) -> Bool {
        try await read { database in try database.answers(Self.hasOwner) == [true] }
    }

    /// Adds a user, unless the user name or the email address is taken.
    public func addUser(
        _ user: User, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddUserOutcome {
        try await commit(recording: events) { database in try database.add(user, asFirstOwner: false)
        }
    }

    /// Adds a user as the first owner, unless an owner exists, or the user name or email address is taken.
    public func addFirstOwner(
        _ user: User, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddUserOutcome {
        try await commit(recording: events) { database in
            let outcome = try database.add(user, asFirstOwner: true)
            if outcome == .added { try database.send("DELETE FROM setup_nonce") }
            return outcome
        }
    }

    /// Replaces the password hash of a user, or its absence, if what is stored still equals `former`.
    ///
    /// In the same transaction it ends every session of the user except `session`, revokes the grants that were not
    /// given in that session, and invalidates all unused codes of the user. It also revokes the grants with an unused
    /// `device_code`.
    public func changePassword(
        of user: UserIdentifier,
        from former: PasswordHash?,
        to new: PasswordHash?,
        keeping session: ArtefactDigest?,
        countingIdentitiesOf issuers: Set<String>,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await commit(ending: .usually(.password, .session, .grant), recording: events) { database in
            if new == nil, try !database.waysIn(of: user, countingIdentitiesOf: issuers).allows(.password) {
                return try database.isActive(user) ? .neededAsWayIn : .userNotActive
            }
            guard try database.replacePassword(of: user, from: former, to: new, keeping: session, at: time) else {
                return try database.isActive(user) ? .changedMeanwhile : .userNotActive
            }
            return .changed
        }
    }

    /// Replaces the password hash of a user if the stored hash still equals `former`, and changes nothing else.
    public func replacePasswordHash(
        of user: UserIdentifier, from former: PasswordHash, to new: PasswordHash
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.password)) { database in
            try database.run(
                "UPDATE people SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2",
                user.rawValue,
                former.exposed,
                new.exposed
            ) == 1
        }
    }

    /// Changes the display name, email address and profile of a user.
    public func updateUser(
        _ user: User, from former: User, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome {
        try await commit(recording: events) { database in try database.update(user, from: former, at: time) }
    }

    /// Disables a user and ends all sessions of the user in one transaction, without reading the record.
    @discardableResult
    public func disableUser(
        _ user: UserIdentifier, requiredRole: UserQuery.Role?, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome {
        try await commit(ending: .usually(.userDisabled, .session, .grant), recording: events) { database in
            guard try database.has(requiredRole, user) else { return .changedMeanwhile }
            guard try !database.isSo("disabled_at IS NOT NULL", of: user) else { return .unchanged }
            if let obstacle = try database.obstacle(toLosing: user) { return obstacle }
            try database.disable(user, at: time)
            return .changed
        }
    }

    /// Enables a user.
    public func enableUser(
        _ user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome {
        try await commit(recording: events) { database in
            guard try !database.isSo("disabled_at IS NULL", of: user) else { return .unchanged }
            let enabled = try database.run(
                "UPDATE people SET disabled_at = NULL, changed_at = ?2 WHERE id = ?1", user.rawValue, time.microseconds)
            return enabled == 1 ? .changed : .notFound
        }
    }

    /// Gives a user another role, or none.
    public func setRole(
        _ role: UserRole?, of user: UserIdentifier, from former: UserRole?, at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome {
        try await commit(ending: .usually(.userDemoted, .session, .grant), recording: events) { database in
            let stored = try database.first("SELECT coalesce(role, '') FROM people WHERE id = ?", user.rawValue) {
                try $0.text()
            }
            guard let stored else { return .notFound }
            guard stored != role?.rawValue ?? "" else { return .unchanged }
            guard stored == former?.rawValue ?? "" else { return .changedMeanwhile }
            if let obstacle = try database.obstacle(toLosing: user) { return obstacle }
            try database.send(
                "UPDATE people SET role = ?2, changed_at = ?3 WHERE id = ?1", user.rawValue, role?.rawValue,
                time.microseconds)
            // A sign-in with rights can need more than the one of the session or of an app, and a link may be of a
            // weaker user.
            if role?.rights.isSubset(of: former?.rights ?? []) == false || role == .owner {
                _ = try database.signOutEverywhere(user, except: nil, at: time)
                try database.deleteLinks(of: user)
            }
            return .changed
        }
    }

    private func user(_ sql: String, _ key: String) async throws(StoreFault) -> User? {
        try await read { database in try database.first(sql, key, read: User.init(_:)) }
    }
}

extension SQLConnection {
    /// Checks whether a user exists and is not disabled.
    func isActive(_ user: UserIdentifier) throws -> Bool {
        let isActive = try answers(
            "SELECT EXISTS (SELECT 1 FROM people WHERE id = ? AND disabled_at IS NULL)",
            user.rawValue
        )
        return isActive == [true]
    }

    /// Replaces the password hash of an enabled user if the stored hash still equals `former`, and ends what the former
    /// password gave access to, and the links of the user; returns false if nothing was written.
    func replacePassword(
        of user: UserIdentifier, from former: PasswordHash?, to new: PasswordHash?, keeping session: ArtefactDigest?,
        at time: Date
    ) throws -> Bool {
        let changed = try run(
            """
            UPDATE people SET password_hash = ?3, must_change_password = 0
            WHERE id = ?1 AND \(User.hash) = ?2 AND disabled_at IS NULL
            """,
            user.rawValue,
            former.compared,
            new?.exposed
        )
        guard changed == 1 else { return false }
        _ = try signOutEverywhere(user, except: session, at: time)
        try revokeGrants("\(Grant.isOfFirst) AND \(Grant.hasUnusedDeviceCode)", [user.rawValue], at: time)
        try send(
            """
            UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
            WHERE \(CodeRecord.isRedeemable) AND grant_id IN (SELECT id FROM grants WHERE \(Grant.isOfFirst))
            """,
            user.rawValue
        )
        try deleteLinks(of: user)
        return true
    }

    /// Checks whether a user exists and fulfils a condition.
    func isSo(_ condition: String, of user: UserIdentifier) throws -> Bool {
        try answers("SELECT EXISTS (SELECT 1 FROM people WHERE id = ? AND \(condition))", user.rawValue) == [true]
    }

    /// Returns the reason why a user must stay an owner who can sign in; nil if there is none.
    func obstacle(toLosing user: UserIdentifier) throws -> ChangeStandingOutcome? {
        let isLast = try first(User.removalFacts, user.rawValue) { columns in
            _ = try columns.integer()
            return try columns.flag()
        }
        guard let isLast else { return .notFound }
        return isLast ? .lastOwner : nil
    }

    /// Changes the display name, email address, profile and external identifier of a user who is as `former`.
    func update(_ user: User, from former: User, at time: Date) throws -> UpdateUserOutcome {
        let facts = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1),
                EXISTS (SELECT 1 FROM people WHERE email = ?2 AND id <> ?1)
            """,
            user.id.rawValue,
            user.email?.rawValue
        )
        guard facts == [true, false] else { return facts.first == true ? .emailTaken : .notFound }
        // A record with a value that this version does not know is not changed.
        let stored = try first(
            "SELECT \(User.columns) FROM people WHERE people.id = ?", user.id.rawValue, read: User.init(_:))
        guard let stored, stored.displayName == former.displayName, stored.email == former.email,
            stored.profile == former.profile, stored.role == former.role, stored.externalID == former.externalID
        else { return .changedMeanwhile }
        // `json_patch` keeps the members of the profile that this version does not know (RFC 7396).
        try send(
            """
            UPDATE people SET email = ?2, display_name = ?3, display_name_key = ?4,
                profile = json_patch(profile, ?5), changed_at = ?6, external_id = ?7
            WHERE id = ?1
            """,
            user.id.rawValue,
            user.email?.rawValue,
            user.displayName,
            UserSearch.key(of: user.displayName),
            try user.profile.patch,
            time.microseconds,
            user.externalID?.rawValue
        )
        try deleteLinksToFormerAddress(of: user.id)
        return .updated
    }

    /// Adds a user, unless the user name or the email address is taken.
    func add(_ user: User, asFirstOwner: Bool) throws -> AddUserOutcome {
        let taken = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE role = 'owner'),
                EXISTS (SELECT 1 FROM people WHERE username = ?),
                EXISTS (SELECT 1 FROM people WHERE email = ?)
            """,
            user.username.rawValue,
            user.email?.rawValue
        )
        if asFirstOwner, taken[0] { return .ownerExists }
        if taken[1] { return .usernameTaken }
        if taken[2] { return .emailTaken }
        var added = user
        if asFirstOwner { added.role = .owner }
        try insert(added)
        try add(1, of: .newUser, at: user.createdAt, in: counterSlot)
        return .added
    }

    /// Inserts a user whose identifier, username and email address are free.
    func insert(_ user: User) throws {
        try send(
            """
            INSERT INTO people
                (number, id, username, email, display_name, display_name_key, password_hash, role, profile,
                terms_version, terms_accepted_at, created_at, changed_at, disabled_at, must_change_password, external_id)
            VALUES (\(User.nextNumber), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            user.id.rawValue,
            user.username.rawValue,
            user.email?.rawValue,
            user.displayName,
            UserSearch.key(of: user.displayName),
            user.passwordHash?.exposed,
            user.role?.rawValue,
            try user.profile.text,
            user.acceptedTerms?.version,
            user.acceptedTerms?.acceptedAt.microseconds,
            user.createdAt.microseconds,
            user.changedAt.microseconds,
            user.disabledAt?.microseconds,
            user.mustChangePassword,
            user.externalID?.rawValue
        )
    }
}

extension User {
    /// The number of a new user, greater than that of every user and of every deleted user with records.
    fileprivate static let nextNumber = """
        1 + max(coalesce((SELECT max(number) FROM people), 0), coalesce((SELECT max(number) FROM removed_people), 0))
        """

    /// The password hash of a row of `people`, in the form of `PasswordHash?.compared`.
    static let hash = "coalesce(people.password_hash, '')"

    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        people.id, people.username, people.email, people.display_name, people.password_hash, people.role,
        people.profile, people.terms_version, people.terms_accepted_at, people.created_at, people.changed_at,
        people.disabled_at, people.must_change_password, people.external_id
        """

    init(_ columns: inout Columns) throws {
        columns.record = "user"
        self.init(
            id: try columns.value(UserIdentifier.init(_:)),
            username: try columns.value(Username.init(_:)),
            email: try columns.optionalValue(EmailAddress.init(_:)),
            displayName: try columns.text(),
            passwordHash: try columns.optionalText().map(PasswordHash.init(encoded:)),
            role: try columns.optionalForm(UserRole.init(rawValue:)),
            profile: try columns.profile(),
            acceptedTerms: try columns.acceptedTerms(),
            createdAt: try columns.date(),
            changedAt: try columns.date(),
            disabledAt: try columns.optionalDate(),
            mustChangePassword: try columns.flag(),
            externalID: try columns.optionalValue(ExternalIdentifier.init(_:))
        )
    }
}

extension PasswordHash? {
    /// The text that is compared with ``User/hash``; empty for no password, which no hash is.
    var compared: String { self?.exposed ?? "" }
}

extension Columns {
    fileprivate mutating func acceptedTerms() throws -> AcceptedTerms? {
        guard let version = try optionalText() else {
            _ = try optionalInteger()
            return nil
        }
        return AcceptedTerms(version: version, acceptedAt: try date())
    }
}
