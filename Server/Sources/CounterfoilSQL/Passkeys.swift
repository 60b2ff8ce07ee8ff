public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads the passkeys of a user, oldest first.
    public func passkeys(of user: UserIdentifier) async throws(StoreFault) -> [Passkey] {
        try await read { database in
            try database.list(
                """
                SELECT \(Passkey.columns) FROM passkeys WHERE passkeys.person_id = ?
                ORDER BY passkeys.created_at, passkeys.digest
                """,
                user.rawValue,
                noting: unsupported,
                read: Passkey.init(_:)
            )
        }
    }

    /// Reads the passkey with this digest of the credential ID, and its user.
    public func passkey(_ digest: ArtefactDigest) async throws(StoreFault) -> PasskeyFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(Passkey.columns), \(User.columns)
                FROM passkeys JOIN people ON people.id = passkeys.person_id
                WHERE passkeys.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                PasskeyFacts(passkey: try Passkey(&columns), user: try User(&columns))
            }
        }
    }

    /// Adds a passkey, unless its credential ID is known or the user has `Passkey.limitPerUser` passkeys.
    public func addPasskey(
        _ passkey: Passkey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPasskeyOutcome {
        try await commit(recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM people WHERE id = ?1 AND disabled_at IS NULL),
                    (SELECT count(*) FROM passkeys WHERE person_id = ?1) < \(Passkey.limitPerUser),
                    NOT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?2)
                """,
                passkey.userID.rawValue,
                Data(passkey.digest.bytes)
            )
            guard facts[0] else { return .userNotActive }
            guard facts[2] else { return .exists }
            guard facts[1] else { return .tooMany }
            try database.insert(passkey)
            return .added
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

    /// Deletes a passkey; returns false if the user has no such passkey.
    public func removePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.passkey), recording: events) { database in
            try database.run(
                "DELETE FROM passkeys WHERE digest = ? AND person_id = ?", Data(digest.bytes), user.rawValue) == 1
        }
    }

    /// Deletes all passkeys of a user; returns their number.
    public func removePasskeys(
        of user: UserIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await commit(ending: .usually(.passkey)) { database in
            let removed = try database.run("DELETE FROM passkeys WHERE person_id = ?", user.rawValue)
            if removed > 0 { try database.append(events) }
            return removed
        }
    }
}

extension SQLConnection {
    /// Returns true if a challenge has begun a session before.
    func isUsed(_ challenge: ArtefactDigest) throws -> Bool {
        let isUsed = try answers("SELECT EXISTS (SELECT 1 FROM assertions WHERE digest = ?)", Data(challenge.bytes))
        return isUsed == [true]
    }

    /// Records the use of a passkey by which a session begins, and its challenge.
    func record(_ use: PasskeyUse, in session: Session) throws {
        try send(
            "INSERT INTO assertions (digest, expires_at, attempt) VALUES (?, ?, NULL)", Data(use.challenge.bytes),
            use.challengeExpires.microseconds)
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

    fileprivate func insert(_ passkey: Passkey) throws {
        try send(
            """
            INSERT INTO passkeys (
                digest, credential_id, person_id, public_key, name, model, transports, is_backup_eligible, is_backed_up,
                signature_counter, created_at, last_used_at, last_user_agent, last_source
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
            passkey.lastUse?.source ?? ""
        )
    }
}

extension SignInProof {
    /// The condition on a row of `people` under which the proof holds, with ``value`` as its parameter, apart from the
    /// use of a second factor.
    var condition: String {
        switch self {
        case .password: "password_hash = ? AND \(SecondFactor.isNone)"
        case .twoFactors: "password_hash = ?"
        case .continued: "\(User.hash) = ?"
        case .passkey: "EXISTS (SELECT 1 FROM passkeys WHERE digest = ? AND person_id = people.id)"
        }
    }

    var value: any SQLValue {
        switch self {
        case .password(let hash), .twoFactors(let hash, _): hash.exposed
        case .continued(let hash, _): hash.compared
        case .passkey(let use): Data(use.digest.bytes)
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
