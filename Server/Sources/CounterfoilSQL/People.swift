public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the user with this identifier, even if the user is disabled; nil if there is none.
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        try await person("SELECT \(Person.columns) FROM people WHERE people.id = ?", id.rawValue)
    }

    /// Reads the user with this user name, even if the user is disabled; nil if there is none.
    public func person(named username: Username) async throws(StoreFault) -> Person? {
        try await person("SELECT \(Person.columns) FROM people WHERE people.username = ?", username.rawValue)
    }

    /// Reads the identifier of the user with this user name, and no other column.
    public func personID(named username: Username) async throws(StoreFault) -> PersonIdentifier? {
        try await read { database in
            try database.first("SELECT id FROM people WHERE username = ?", username.rawValue) { columns in
                try columns.value(PersonIdentifier.init(_:))
            }
        }
    }

    /// Reads the user with this email address, even if the user is disabled; nil if there is none.
    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        try await person("SELECT \(Person.columns) FROM people WHERE people.email = ?", email.rawValue)
    }

    /// Returns true if any user is an administrator, even a disabled one.
    public func hasAdministrator() async throws(StoreFault) -> Bool {
        try await read { database in try database.answers(Self.hasAdministrator) == [true] }
    }

    /// Adds a user, unless the user name or the email address is taken.
    public func addPerson(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        try await commit(recording: events) { database in try database.add(person, asFirstAdministrator: false)
        }
    }

    /// Adds a user as the first administrator, unless an administrator exists, or the user name or email address is
    /// taken.
    public func addFirstAdministrator(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        try await commit(recording: events) { database in
            let outcome = try database.add(person, asFirstAdministrator: true)
            if outcome == .added { try database.send("DELETE FROM setup_nonce") }
            return outcome
        }
    }

    /// Replaces the password hash of a user if the stored hash still equals `former`.
    ///
    /// In the same transaction it ends every session of the user except `session`, revokes the grants that were not
    /// given in that session, and invalidates all unused codes of the user. It also revokes the grants with an unused
    /// `device_code`.
    public func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await commit(ending: .usually(.password, .session, .grant), recording: events) { database in
            let changed = try database.run(
                "UPDATE people SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2 AND disabled_at IS NULL",
                person.rawValue,
                former.exposed,
                new.exposed
            )
            guard changed == 1 else {
                return try database.isActive(person) ? .changedMeanwhile : .personNotActive
            }
            _ = try database.signOutEverywhere(person, except: session, at: time)
            try database.revokeGrants(
                "\(Grant.isOfFirst) AND \(Grant.hasUnusedDeviceCode)", [person.rawValue], at: time)
            try database.send(
                """
                UPDATE codes SET failed_redemptions = \(CodeRecord.failedRedemptionLimit)
                WHERE \(CodeRecord.isRedeemable) AND grant_id IN (SELECT id FROM grants WHERE \(Grant.isOfFirst))
                """,
                person.rawValue
            )
            return .changed
        }
    }

    /// Replaces the password hash of a user if the stored hash still equals `former`, and changes nothing else.
    public func replacePasswordHash(
        of person: PersonIdentifier, from former: PasswordHash, to new: PasswordHash
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.password)) { database in
            try database.run(
                "UPDATE people SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2",
                person.rawValue,
                former.exposed,
                new.exposed
            ) == 1
        }
    }

    /// Changes the display name, email address, profile and disabled state of a user.
    ///
    /// If the user is disabled, all sessions of the user end in the same transaction.
    public func updatePerson(
        _ person: Person, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdatePersonOutcome {
        let endings: DeclaredEndings =
            person.disabledAt == nil ? .none : .usually(.userDisabled, .session, .grant)
        return try await commit(ending: endings, recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1),
                    EXISTS (SELECT 1 FROM people WHERE email = ?2 AND id <> ?1)
                """,
                person.id.rawValue,
                person.email?.rawValue
            )
            guard facts == [true, false] else { return facts.first == true ? .emailTaken : .notFound }
            // A record with a value that this version does not know is not changed.
            _ = try database.first(
                "SELECT \(Person.columns) FROM people WHERE people.id = ?", person.id.rawValue, read: Person.init(_:))
            // `json_patch` keeps the members of the profile that this version does not know (RFC 7396).
            try database.send(
                """
                UPDATE people SET email = ?2, display_name = ?3, profile = json_patch(profile, ?4), changed_at = ?5, disabled_at = ?6
                WHERE id = ?1
                """,
                person.id.rawValue,
                person.email?.rawValue,
                person.displayName,
                try person.profile.patch,
                time.microseconds,
                person.disabledAt?.microseconds
            )
            if person.disabledAt != nil { _ = try database.endSessions(of: person.id, at: time) }
            return .updated
        }
    }

    /// Disables a user and ends all sessions of the user in one transaction, without reading the record.
    @discardableResult
    public func disablePerson(
        _ person: PersonIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.userDisabled, .session, .grant), recording: events) { database in
            let disabled = try database.run(
                "UPDATE people SET disabled_at = coalesce(disabled_at, ?2), changed_at = ?2 WHERE id = ?1",
                person.rawValue,
                time.microseconds
            )
            guard disabled == 1 else { return false }
            _ = try database.endSessions(of: person, at: time)
            return true
        }
    }

    /// Reads at most `limit` users after a user name, in the order of user names; nil starts with the first user.
    public func people(after username: Username?, limit: Int) async throws(StoreFault) -> [Person] {
        try await read { database in
            try database.list(
                "SELECT \(Person.columns) FROM people WHERE people.username > ? ORDER BY people.username",
                username?.rawValue ?? "",
                atMost: limit,
                noting: unsupported,
                read: Person.init(_:)
            )
        }
    }

    private func person(_ sql: String, _ key: String) async throws(StoreFault) -> Person? {
        try await read { database in try database.first(sql, key, read: Person.init(_:)) }
    }
}

extension SQLConnection {
    /// Checks whether a user exists and is not disabled.
    func isActive(_ person: PersonIdentifier) throws -> Bool {
        let isActive = try answers(
            "SELECT EXISTS (SELECT 1 FROM people WHERE id = ? AND disabled_at IS NULL)",
            person.rawValue
        )
        return isActive == [true]
    }

    fileprivate func add(_ person: Person, asFirstAdministrator: Bool) throws -> AddPersonOutcome {
        let taken = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE is_administrator = 1),
                EXISTS (SELECT 1 FROM people WHERE username = ?),
                EXISTS (SELECT 1 FROM people WHERE email = ?)
            """,
            person.username.rawValue,
            person.email?.rawValue
        )
        if asFirstAdministrator, taken[0] { return .administratorExists }
        if taken[1] { return .usernameTaken }
        if taken[2] { return .emailTaken }
        try send(
            """
            INSERT INTO people
                (number, id, username, email, display_name, password_hash, is_administrator, profile, created_at,
                changed_at, disabled_at)
            VALUES (\(Person.nextNumber), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            person.id.rawValue,
            person.username.rawValue,
            person.email?.rawValue,
            person.displayName,
            person.passwordHash.exposed,
            person.isAdministrator || asFirstAdministrator,
            try person.profile.text,
            person.createdAt.microseconds,
            person.changedAt.microseconds,
            person.disabledAt?.microseconds
        )
        return .added
    }
}

extension Person {
    /// The number of a new user, greater than that of every user and of every deleted user with records.
    fileprivate static let nextNumber = """
        1 + max(coalesce((SELECT max(number) FROM people), 0), coalesce((SELECT max(number) FROM removed_people), 0))
        """

    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        people.id, people.username, people.email, people.display_name, people.password_hash, people.is_administrator,
        people.profile, people.created_at, people.changed_at, people.disabled_at
        """

    init(_ columns: inout Columns) throws {
        columns.record = "user"
        self.init(
            id: try columns.value(PersonIdentifier.init(_:)),
            username: try columns.value(Username.init(_:)),
            email: try columns.optionalValue(EmailAddress.init(_:)),
            displayName: try columns.text(),
            passwordHash: PasswordHash(encoded: try columns.text()),
            isAdministrator: try columns.flag(),
            profile: try columns.profile(),
            createdAt: try columns.date(),
            changedAt: try columns.date(),
            disabledAt: try columns.optionalDate()
        )
    }
}

extension PersonProfile {
    /// The JSON text of the profile, as it is stored.
    fileprivate var text: String {
        get throws { try Self.storable(try JSONEncoder().encode(self)) }
    }

    /// The JSON text of the change of a stored profile to this one.
    fileprivate var patch: String {
        get throws { try Self.storable(try JSONEncoder().encode(mergePatch)) }
    }

    /// Returns a JSON text; throws if a string in it contains NUL, whose escape not every database accepts.
    private static func storable(_ json: Data) throws(StoreFault) -> String {
        var rest = json[...]
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            let escaped = rest[backslash...].dropFirst()
            guard !escaped.starts(with: "u0000".utf8) else {
                throw .damaged("a text to be stored contains a NUL character")
            }
            // The character after a backslash begins no escape, not even another backslash.
            rest = escaped.dropFirst()
        }
        return String(decoding: json, as: UTF8.self)
    }

    fileprivate init?(text: String) {
        // Most profiles are empty, and need no JSON decoder.
        if text == "{}" {
            self.init()
            return
        }
        guard let profile = try? JSONDecoder().decode(PersonProfile.self, from: Data(text.utf8)) else { return nil }
        self = profile
    }
}

extension Columns {
    /// Reads a profile; throws `StoreFault.unsupported` if this version cannot read one of its members.
    fileprivate mutating func profile() throws(StoreFault) -> PersonProfile {
        guard let profile = PersonProfile(text: try text()) else { throw .unsupported(unsupported()) }
        return profile
    }
}
