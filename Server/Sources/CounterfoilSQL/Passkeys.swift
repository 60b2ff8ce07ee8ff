public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the passkeys of a user, oldest first.
    public func passkeys(of user: UserIdentifier) async throws(StoreFault) -> [Passkey] {
        try await read { database in
            try database.list(
                """
                SELECT \(Passkey.columns) FROM passkeys WHERE passkeys.person_id = ? AND passkeys.is_security_key = 0
                ORDER BY passkeys.created_at, passkeys.digest
                """,
                user.rawValue,
                noting: unsupported,
                read: Passkey.init(_:)
            )
        }
    }

    /// Reads the security keys of a user, oldest first.
    public func securityKeys(of user: UserIdentifier) async throws(StoreFault) -> [Passkey] {
        try await read { database in
            try database.list(
                """
                SELECT \(Passkey.columns) FROM passkeys WHERE passkeys.person_id = ? AND passkeys.is_security_key = 1
                ORDER BY passkeys.created_at, passkeys.digest
                """,
                user.rawValue,
                noting: unsupported,
                read: Passkey.init(_:)
            )
        }
    }

    /// Reads the passkey or security key with this digest of the credential ID, and its user.
    public func passkey(_ digest: ArtefactDigest) async throws(StoreFault) -> PasskeyFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(Passkey.columns), passkeys.is_security_key, \(User.columns)
                FROM passkeys JOIN people ON people.id = passkeys.person_id
                WHERE passkeys.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                PasskeyFacts(
                    passkey: try Passkey(&columns), isSecurityKey: try columns.flag(), user: try User(&columns))
            }
        }
    }

    /// Adds a passkey, unless its credential ID is known or the user has `Passkey.limitPerUser` passkeys.
    public func addPasskey(
        _ passkey: Passkey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPasskeyOutcome {
        try await commit(recording: events) { database in
            let outcome = try database.obstacle(to: passkey)
            if outcome == .added { try database.insert(passkey, isSecurityKey: false) }
            return outcome
        }
    }

    /// Notes that a user without a passkey is offered one; returns false unless it is the first time.
    public func notePasskeyOffer(
        to user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        // Most sign-ins end here, without a commit.
        let isOpen = try await read { database in
            try database.answers("SELECT \(User.awaitsPasskeyOffer) FROM people WHERE id = ?", user.rawValue)
        }
        guard isOpen == [true] else { return false }
        return try await commit(recording: events) { database in
            try database.run(
                "UPDATE people SET passkey_offered_at = ?2 WHERE id = ?1 AND \(User.awaitsPasskeyOffer)",
                user.rawValue,
                time.microseconds
            ) == 1
        }
    }

    /// Changes the name of a passkey; returns false if the user has no such passkey.
    public func renamePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, to name: String, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(recording: events) { database in
            try database.run(
                "UPDATE passkeys SET name = ?3 WHERE digest = ?1 AND person_id = ?2",
                Data(digest.bytes),
                user.rawValue,
                String(name.prefix(Passkey.nameLimit))
            ) == 1
        }
    }

    /// Deletes a passkey, unless it is the last way in.
    public func removePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, requiredRole: UserQuery.Role?,
        countingIdentitiesOf issuers: Set<String>, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RemovePasskeyOutcome {
        try await commit(ending: .usually(.passkey), recording: events) { database in
            guard try database.has(requiredRole, user) else { return .notFound }
            let allowed = try database.waysIn(of: user, countingIdentitiesOf: issuers).allows(.passkey)
            let removed = try database.run(
                "DELETE FROM passkeys WHERE digest = ?1 AND person_id = ?2 AND is_security_key = 0 AND ?3 = 1",
                Data(digest.bytes), user.rawValue, allowed)
            guard removed == 0 else { return .removed }
            let isFound = try database.answers(
                "SELECT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?1 AND person_id = ?2 AND is_security_key = 0)",
                Data(digest.bytes), user.rawValue)
            return isFound == [true] ? .neededAsWayIn : .notFound
        }
    }

    /// Deletes all passkeys of a user, also if no way in is left; returns false if none was deleted.
    public func removePasskeys(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.passkey), recording: events) { database in
            guard try database.has(requiredRole, user) else { return false }
            return try database.run(
                "DELETE FROM passkeys WHERE person_id = ? AND is_security_key = 0", user.rawValue) > 0
        }
    }
}

extension SQLConnection {
    /// Reads the ways in of a user, where the identities at some issuers are ways in.
    func waysIn(of user: UserIdentifier, countingIdentitiesOf issuers: Set<String>) throws -> WaysIn {
        let identities =
            issuers.isEmpty
            ? []
            : try all(
                """
                SELECT issuer FROM user_identities
                WHERE person_id = ?1 AND EXISTS (SELECT 1 FROM people WHERE id = ?1 AND role IS NULL)
                """, user.rawValue
            ) { columns in try columns.text() }
        let read = try first(
            """
            SELECT EXISTS (
                    SELECT 1 FROM people WHERE id = ?1 AND password_hash IS NOT NULL AND (
                        has_second_factor = 0 OR EXISTS (SELECT 1 FROM second_factors WHERE person_id = people.id))),
                (SELECT count(*) FROM passkeys WHERE person_id = ?1 AND is_security_key = 0)
            """, user.rawValue
        ) { columns in
            WaysIn(
                hasPassword: try columns.flag(), passkeys: Int(try columns.integer()),
                identities: identities.count(where: issuers.contains))
        }
        return read ?? WaysIn(hasPassword: false, passkeys: 0)
    }

    /// Returns true if a challenge has begun a session before.
    func isUsed(_ challenge: ArtefactDigest) throws -> Bool {
        let isUsed = try answers("SELECT EXISTS (SELECT 1 FROM assertions WHERE digest = ?)", Data(challenge.bytes))
        return isUsed == [true]
    }

    /// Records the challenge of a passkey or a security key, which counts once.
    func recordChallenge(of use: PasskeyUse) throws {
        try send(
            "INSERT INTO assertions (digest, expires_at, attempt) VALUES (?, ?, NULL)", Data(use.challenge.bytes),
            use.challengeExpires.microseconds)
    }

    /// Records the use of a passkey or a security key with which a session begins.
    func record(_ use: PasskeyUse, in session: Session) throws {
        try send(
            """
            UPDATE passkeys SET signature_counter = ?2, is_backed_up = ?3, last_used_at = ?4, last_user_agent = ?5,
                last_source = ?6
            WHERE digest = ?1
            """,
            Data(use.digest.bytes),
            Int64(use.signatureCounter),
            use.isBackedUp,
            session.authenticatedAt.microseconds,
            session.userAgent,
            session.source
        )
    }

    /// Returns the outcome of adding a passkey, and adds nothing.
    func obstacle(to passkey: Passkey) throws -> AddPasskeyOutcome {
        let facts = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1 AND disabled_at IS NULL),
                (SELECT count(*) FROM passkeys WHERE person_id = ?1 AND is_security_key = 0)
                    < \(Passkey.limitPerUser),
                NOT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?2)
            """,
            passkey.userID.rawValue,
            Data(passkey.digest.bytes)
        )
        guard facts[0] else { return .userNotActive }
        guard facts[2] else { return .exists }
        return facts[1] ? .added : .tooMany
    }

    func insert(_ passkey: Passkey, isSecurityKey: Bool) throws {
        try send(
            """
            INSERT INTO passkeys (
                digest, credential_id, person_id, public_key, name, model, transports, is_backup_eligible, is_backed_up,
                signature_counter, created_at, last_used_at, last_user_agent, last_source, is_security_key
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            Data(passkey.digest.bytes),
            Data(passkey.credentialID),
            passkey.userID.rawValue,
            Data(passkey.publicKey),
            passkey.name,
            Data(passkey.model),
            passkey.transports.joined(separator: " "),
            passkey.isBackupEligible,
            passkey.isBackedUp,
            Int64(passkey.signatureCounter),
            passkey.createdAt.microseconds,
            passkey.lastUse?.time.microseconds,
            passkey.lastUse?.userAgent ?? "",
            passkey.lastUse?.source ?? "",
            isSecurityKey
        )
    }
}

extension User {
    /// The condition on a row of `people` that the user has no passkey, and was never offered one.
    fileprivate static let awaitsPasskeyOffer = """
        (people.passkey_offered_at IS NULL AND people.disabled_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM passkeys WHERE person_id = people.id AND is_security_key = 0))
        """
}

extension SignInProof {
    /// The condition on a row of `people` under which the proof holds, with ``value`` as its parameter, apart from the
    /// use of a second factor.
    var condition: String {
        switch self {
        case .password: "password_hash = ? AND must_change_password = 0 AND \(SecondFactor.isNone)"
        case .twoFactors: "password_hash = ? AND must_change_password = 0"
        case .continued: "\(User.hash) = ?"
        case .passkey:
            "EXISTS (SELECT 1 FROM passkeys WHERE digest = ? AND person_id = people.id AND is_security_key = 0)"
        case .identity: "EXISTS (SELECT 1 FROM user_identities WHERE id = ? AND person_id = people.id)"
        }
    }

    var value: any SQLValue {
        switch self {
        case .password(let hash), .twoFactors(let hash, _): hash.exposed
        case .continued(let hash, _): hash.compared
        case .passkey(let use): Data(use.digest.bytes)
        case .identity(let id, _): id.rawValue
        }
    }

    /// The passkey or security key that is used; nil for none.
    var key: PasskeyUse? {
        switch self {
        case .passkey(let use), .twoFactors(_, .key(_, let use)): use
        case .password, .twoFactors, .continued, .identity: nil
        }
    }

    /// The second factor that is used; nil for none.
    var secondFactor: SecondFactorUse? { if case .twoFactors(_, let use) = self { use } else { nil } }
}

extension Passkey {
    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        passkeys.credential_id, passkeys.person_id, passkeys.public_key, passkeys.name, passkeys.model,
        passkeys.transports, passkeys.is_backup_eligible, passkeys.is_backed_up, passkeys.signature_counter,
        passkeys.created_at, passkeys.last_used_at, passkeys.last_user_agent, passkeys.last_source
        """

    init(_ columns: inout Columns) throws {
        columns.record = "passkey"
        self.init(
            credentialID: try columns.bytes(),
            userID: try columns.value(UserIdentifier.init(_:)),
            publicKey: try columns.bytes(),
            name: try columns.text(),
            model: try columns.bytes(),
            transports: try columns.list { $0 },
            isBackupEligible: try columns.flag(),
            isBackedUp: try columns.flag(),
            signatureCounter: UInt32(clamping: try columns.integer()),
            createdAt: try columns.date(),
            lastUse: try Use(&columns)
        )
    }
}

extension Passkey.Use {
    /// Reads the last use of a passkey; nil if there was none.
    fileprivate init?(_ columns: inout Columns) throws {
        let time = try columns.optionalDate()
        let (userAgent, source) = (try columns.text(), try columns.text())
        guard let time else { return nil }
        self.init(time: time, userAgent: userAgent, source: source)
    }
}
