public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads the second factor of a user.
    public func secondFactor(of user: UserIdentifier) async throws(StoreFault) -> SecondFactorState {
        try await read { database in
            let found = try database.first(
                """
                SELECT \(SecondFactor.columns), (SELECT count(*) FROM recovery_codes WHERE person_id = ?1)
                FROM second_factors WHERE person_id = ?1
                """,
                user.rawValue
            ) { columns in
                (factor: try SecondFactor(&columns), codes: Int(try columns.integer()))
            }
            if let found { return .active(found.factor, recoveryCodes: found.codes) }
            let hasOne = try database.answers("SELECT has_second_factor FROM people WHERE id = ?", user.rawValue)
            return hasOne == [true] ? .lost : .none
        }
    }

    /// Returns true if a user has a recovery code with this digest that is not used.
    public func hasRecoveryCode(
        _ digest: ArtefactDigest, of user: UserIdentifier
    ) async throws(StoreFault) -> Bool {
        try await read { database in try database.holds(.recoveryCode(digest), of: user) }
    }

    /// Adds a second factor to a user who has none, and ends the sessions of the user except `kept`.
    public func addSecondFactor(
        _ factor: SecondFactor, recoveryCodes: [ArtefactDigest], key: Passkey?, keeping kept: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSecondFactorOutcome {
        let use = SecondFactorUse.setup(factor, recoveryCodes: recoveryCodes, key: key)
        return try await commit(ending: .usually(.secondFactor, .session, .grant), recording: events) { database in
            guard try database.isActive(factor.userID) else { return .userNotActive }
            guard try database.hasNoSecondFactor(factor.userID) else { return .exists }
            guard try database.holds(use, of: factor.userID) else { return .keyExists }
            try database.record(use, of: factor.userID)
            _ = try database.signOutEverywhere(factor.userID, except: kept, at: factor.createdAt)
            return .added
        }
    }

    /// Changes the second factor of a user, if the proof still holds.
    public func changeSecondFactor(
        of user: UserIdentifier, to change: SecondFactorChange, proving use: SecondFactorUse,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeSecondFactorOutcome {
        try await commit(
            ending: .usually(.secondFactor, .recoveryCode, .passkey, .session, .grant), recording: events
        ) { database in
            guard try database.isActive(user) else { return .userNotActive }
            guard try database.holds(use, of: user) else { return .proofOutdated }
            if case .key(_, let key) = use, try database.isUsed(key.challenge) { return .proofOutdated }
            if let refusal = try database.refusal(of: change, by: user) { return refusal }
            try database.record(use, of: user)
            try database.make(change, of: user)
            return .changed
        }
    }

    /// Removes the second factor of a user, also if its record is lost; returns false if the user has none.
    public func resetSecondFactor(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.recoveryCode, .passkey), recording: events) { database in
            guard try database.has(requiredRole, user),
                try database.answers("SELECT NOT \(SecondFactor.isNone) FROM people WHERE id = ?", user.rawValue)
                    == [true]
            else { return false }
            try database.make(.removal, of: user)
            return true
        }
    }

    /// Counts the second factors by the fingerprint of the server key that encrypted their secrets.
    public func secondFactorKeys() async throws(StoreFault) -> [String: Int] {
        try await read { database in
            let counts = try database.all("SELECT sealed_by, count(*) FROM second_factors GROUP BY sealed_by") {
                columns in (try columns.text(), Int(try columns.integer()))
            }
            return Dictionary(uniqueKeysWithValues: counts)
        }
    }

    /// Reads second factors whose secret another server key has encrypted, in the order of their users.
    public func secondFactors(
        notSealedBy keyName: String, after user: UserIdentifier?, limit: Int
    ) async throws(StoreFault) -> [SecondFactor] {
        try await read { database in
            // Most calls find nothing. This is known from the index.
            let isAny = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM second_factors WHERE sealed_by < ?1)
                    OR EXISTS (SELECT 1 FROM second_factors WHERE sealed_by > ?1)
                """,
                keyName)
            guard isAny == [true] else { return [] }
            return try database.all(
                """
                SELECT \(SecondFactor.columns) FROM second_factors WHERE sealed_by <> ?1 AND person_id > ?2
                ORDER BY person_id LIMIT ?3
                """,
                keyName,
                user?.rawValue ?? "",
                limit,
                read: SecondFactor.init(_:)
            )
        }
    }

    /// Replaces the encrypted form of a secret, unless another server has done so.
    public func replaceSealedSecret(
        of factor: SecondFactor, with sealed: [UInt8], by keyName: String
    ) async throws(StoreFault) {
        try await commit { database in
            try database.send(
                """
                UPDATE second_factors SET sealed_secret = ?3, sealed_by = ?4
                WHERE digest = ?1 AND sealed_secret = ?2
                """,
                Data(factor.digest.bytes),
                Data(factor.sealedSecret),
                Data(sealed),
                keyName
            )
        }
    }
}

extension SQLConnection {
    /// Returns true if the proof of a second factor still holds for a user.
    func holds(_ use: SecondFactorUse, of user: UserIdentifier) throws -> Bool {
        let answers =
            switch use {
            case .code(let digest, let step):
                try answers(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM second_factors
                        WHERE person_id = ?1 AND digest = ?2 AND has_app = 1 AND last_step < ?3
                    )
                    """, user.rawValue, Data(digest.bytes), step)
            case .recoveryCode(let digest):
                try answers(
                    "SELECT EXISTS (SELECT 1 FROM recovery_codes WHERE person_id = ?1 AND digest = ?2)", user.rawValue,
                    Data(digest.bytes))
            case .key(let digest, let use):
                try answers(
                    """
                    SELECT EXISTS (SELECT 1 FROM second_factors WHERE person_id = ?1 AND digest = ?2)
                        AND EXISTS (SELECT 1 FROM passkeys WHERE person_id = ?1 AND digest = ?3)
                    """, user.rawValue, Data(digest.bytes), Data(use.digest.bytes))
            case .remembered(let digest), .confirmed(let digest):
                try answers(
                    "SELECT EXISTS (SELECT 1 FROM second_factors WHERE person_id = ?1 AND digest = ?2)", user.rawValue,
                    Data(digest.bytes))
            case .setup(_, _, let key): [try isNew(key) && hasNoSecondFactor(user)]
            }
        return answers == [true]
    }

    /// Returns true if a user has no second factor, not even a lost one.
    fileprivate func hasNoSecondFactor(_ user: UserIdentifier) throws -> Bool {
        try answers("SELECT \(SecondFactor.isNone) FROM people WHERE id = ?1", user.rawValue) == [true]
    }

    /// Returns true unless a user has a passkey or a security key with the credential ID of this one.
    private func isNew(_ key: Passkey?) throws -> Bool {
        guard let key else { return true }
        return try answers("SELECT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?)", Data(key.digest.bytes)) == [false]
    }

    /// Records the proof of a second factor, so that it counts once.
    func record(_ use: SecondFactorUse, of user: UserIdentifier) throws {
        switch use {
        case .code(let digest, let step):
            try send("UPDATE second_factors SET last_step = ?2 WHERE digest = ?1", Data(digest.bytes), step)
        case .recoveryCode(let digest):
            try send("DELETE FROM recovery_codes WHERE digest = ?", Data(digest.bytes))
        case .key(_, let key): try recordChallenge(of: key)
        case .remembered, .confirmed: break
        case .setup(let factor, let codes, let key):
            try send("UPDATE people SET has_second_factor = 1 WHERE id = ?", user.rawValue)
            try send(
                """
                INSERT INTO second_factors (person_id, digest, sealed_secret, sealed_by, created_at, has_app, last_step)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, values: [user.rawValue] + factor.values)
            try insert(codes, of: user)
            if let key { try insert(key, isSecurityKey: true) }
        }
    }

    /// Returns the reason why a user cannot make a change; nil if the user can.
    fileprivate func refusal(of change: SecondFactorChange, by user: UserIdentifier) throws
        -> ChangeSecondFactorOutcome?
    {
        switch change {
        case .confirmation, .removal, .recoveryCodes, .replacement: return nil
        case .keyAddition(let key):
            let facts = try answers(
                """
                SELECT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?2),
                    (SELECT count(*) FROM passkeys WHERE person_id = ?1 AND is_security_key = 1)
                        >= \(Passkey.limitPerUser)
                """, user.rawValue, Data(key.digest.bytes))
            return facts[0] ? .keyExists : facts[1] ? .tooManyKeys : nil
        case .keyRemoval(let digest):
            let facts = try answers(
                """
                SELECT EXISTS (SELECT 1 FROM passkeys WHERE digest = ?1 AND person_id = ?2 AND is_security_key = 1),
                    EXISTS (SELECT 1 FROM second_factors WHERE person_id = ?2 AND has_app = 0)
                        AND (SELECT count(*) FROM passkeys WHERE person_id = ?2 AND is_security_key = 1) = 1
                """, Data(digest.bytes), user.rawValue)
            guard facts[0] else { return .keyNotFound }
            return facts[1] ? .lastKey : nil
        }
    }

    fileprivate func make(_ change: SecondFactorChange, of user: UserIdentifier) throws {
        switch change {
        case .removal, .recoveryCodes, .replacement:
            try send("DELETE FROM recovery_codes WHERE person_id = ?", user.rawValue)
        case .confirmation, .keyAddition, .keyRemoval: break
        }
        switch change {
        case .confirmation: break
        case .removal:
            try send("DELETE FROM passkeys WHERE person_id = ? AND is_security_key = 1", user.rawValue)
            try send("DELETE FROM second_factors WHERE person_id = ?", user.rawValue)
            try send("UPDATE people SET has_second_factor = 0 WHERE id = ?", user.rawValue)
        case .recoveryCodes(let codes): try insert(codes, of: user)
        case .replacement(let factor, let codes, let kept):
            try send("DELETE FROM second_factors WHERE person_id = ?", user.rawValue)
            try record(.setup(factor, recoveryCodes: codes), of: user)
            _ = try signOutEverywhere(user, except: kept, at: factor.createdAt)
        case .keyAddition(let key): try insert(key, isSecurityKey: true)
        case .keyRemoval(let digest):
            try send(
                "DELETE FROM passkeys WHERE digest = ?1 AND person_id = ?2 AND is_security_key = 1",
                Data(digest.bytes), user.rawValue)
        }
    }

    private func insert(_ codes: [ArtefactDigest], of user: UserIdentifier) throws {
        for code in codes {
            try send(
                "INSERT INTO recovery_codes (digest, person_id) VALUES (?, ?)", Data(code.bytes), user.rawValue)
        }
    }
}

extension SecondFactor {
    fileprivate static let columns = "person_id, digest, sealed_secret, sealed_by, created_at, has_app, last_step"

    /// The condition on a row of `people` that the user has no second factor, not even a lost one.
    static let isNone = """
        (people.has_second_factor = 0 AND NOT EXISTS (SELECT 1 FROM second_factors WHERE person_id = people.id))
        """

    /// The values of the columns after `person_id`.
    fileprivate var values: [(any SQLValue)?] {
        [Data(digest.bytes), Data(sealedSecret), keyName, createdAt.microseconds, hasApp, lastStep]
    }

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "second factor"
        self.init(
            userID: try columns.value(UserIdentifier.init(_:)),
            digest: try columns.digest(),
            sealedSecret: try columns.bytes(),
            keyName: try columns.text(),
            createdAt: try columns.date(),
            hasApp: try columns.flag(),
            lastStep: try columns.integer()
        )
    }
}
