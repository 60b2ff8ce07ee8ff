public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores a link in place of the user's former one of its origin and browser, and queues the mail with it.
    public func addUserLink(
        _ link: UserLink, sending mail: NewMail?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddUserLinkOutcome {
        try await commit(recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (
                        SELECT 1 FROM people WHERE id = ?1 AND disabled_at IS NULL
                            AND coalesce(?2, email, '') = coalesce(email, '')
                    ), EXISTS (SELECT 1 FROM mails LIMIT 1 OFFSET ?3)
                """,
                link.userID.rawValue,
                link.request?.email.rawValue,
                NewMail.queueLimit - 1
            )
            guard facts.first == true, try database.has(link.requiredRole, link.userID) else { return .userNotActive }
            guard mail == nil || facts.last == false else { return .queueFull }
            try database.deleteLinks(replacedBy: link)
            try database.send(
                """
                INSERT INTO user_links (digest, person_id, origin, email, browser, destination, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                Data(link.digest.bytes),
                link.userID.rawValue,
                link.originName,
                link.request?.email.rawValue,
                link.request.map { Data($0.browser.bytes) },
                link.request?.destination,
                link.expires.microseconds
            )
            if let mail { try database.queue(mail) }
            return .added
        }
    }

    /// Reads a link with its user, even if the link has expired.
    public func userLink(_ digest: ArtefactDigest) async throws(StoreFault) -> UserLinkFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(UserLink.columns), \(User.columns)
                FROM user_links JOIN people ON people.id = user_links.person_id WHERE user_links.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                UserLinkFacts(link: try UserLink(&columns), user: try User(&columns))
            }
        }
    }

    /// Sets a password, if the permission still holds, and uses the permission up.
    public func resetPassword(
        _ reset: PasswordReset, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ResetPasswordOutcome {
        try await commit(
            ending: .usually(.password, .session, .grant, .recoveryCode), recording: events
        ) { database in
            guard try database.isActive(reset.userID) else { return .userNotActive }
            guard try database.allows(reset.permission, of: reset.userID, at: time) else { return .permissionOutdated }
            if case .passkey(let passkey) = reset.new, try database.obstacle(to: passkey) != .added {
                return .permissionOutdated
            }
            if case .link(let digest, _) = reset.permission { try database.verifyAddress(by: digest, at: time) }
            guard
                try database.replacePassword(
                    of: reset.userID, from: reset.former, to: reset.new.passwordHash, keeping: nil, at: time)
            else { return .permissionOutdated }
            if case .passkey(let passkey) = reset.new { try database.insert(passkey, isSecurityKey: false) }
            if let use = reset.permission.secondFactor { try database.record(use, of: reset.userID) }
            if case .operator(isTemporary: true, _) = reset.permission {
                try database.send("UPDATE people SET must_change_password = 1 WHERE id = ?", reset.userID.rawValue)
            }
            return .reset
        }
    }
}

extension SQLConnection {
    /// Checks that a user has a role; true if no role is required, or if there is no such user.
    func has(_ required: UserQuery.Role?, _ user: UserIdentifier) throws -> Bool {
        guard let required else { return true }
        return try answers(
            "SELECT coalesce(role, 'none') = ?2 FROM people WHERE id = ?1", user.rawValue, required.rawValue) != [false]
    }

    /// Deletes the links of a user, which end with a change of the account.
    func deleteLinks(of user: UserIdentifier) throws {
        try send("DELETE FROM user_links WHERE person_id = ?", user.rawValue)
    }

    /// Deletes the former link of the same origin and browser, and those in mails beyond the limit.
    fileprivate func deleteLinks(replacedBy link: UserLink) throws {
        guard let request = link.request else {
            return try send(
                "DELETE FROM user_links WHERE person_id = ?1 AND origin = ?2", link.userID.rawValue, link.originName)
        }
        try send(
            """
            DELETE FROM user_links WHERE person_id = ?1 AND origin = ?2
                AND (
                    browser = ?3 OR digest NOT IN (
                        SELECT newest.digest FROM user_links newest
                        WHERE newest.person_id = ?1 AND newest.origin = ?2 AND newest.browser <> ?3
                        ORDER BY newest.expires_at DESC, newest.digest LIMIT ?4
                    )
                )
            """,
            link.userID.rawValue,
            link.originName,
            Data(request.browser.bytes),
            UserLink.mailsPerUser - 1
        )
    }

    /// Deletes the links in mails to another address than that of the user.
    func deleteLinksToFormerAddress(of user: UserIdentifier) throws {
        try send(
            """
            DELETE FROM user_links WHERE person_id = ?1 AND email IS NOT NULL
                AND email <> coalesce((SELECT people.email FROM people WHERE people.id = ?1), '')
            """, user.rawValue)
    }

    fileprivate func allows(_ permission: PasswordReset.Permission, of user: UserIdentifier, at time: Date) throws
        -> Bool
    {
        if case .link(let digest, _) = permission {
            let isValid = try answers(
                """
                SELECT EXISTS (
                    SELECT 1 FROM user_links JOIN people ON people.id = user_links.person_id
                    WHERE user_links.digest = ?1 AND user_links.person_id = ?2 AND user_links.expires_at > ?3
                        AND (user_links.email IS NULL OR user_links.email = people.email)
                )
                """, Data(digest.bytes), user.rawValue, time.microseconds)
            guard isValid == [true] else { return false }
        }
        if case .operator(_, let requiredRole) = permission { return try has(requiredRole, user) }
        if let use = permission.secondFactor {
            if case .key(_, let key) = use, try isUsed(key.challenge) { return false }
            return try holds(use, of: user)
        }
        return try answers("SELECT \(SecondFactor.isNone) FROM people WHERE id = ?", user.rawValue) == [true]
    }

    /// Notes that an address is verified, if a link was sent to it.
    fileprivate func verifyAddress(by digest: ArtefactDigest, at time: Date) throws {
        try send(
            """
            UPDATE people SET profile = json_patch(profile, ?2), changed_at = ?3
            WHERE id = (SELECT person_id FROM user_links WHERE digest = ?1 AND email IS NOT NULL)
            """, Data(digest.bytes), #"{"email_verified":true}"#, time.microseconds)
    }
}

extension PasswordReset.Replacement {
    fileprivate var passwordHash: PasswordHash? { if case .password(let hash) = self { hash } else { nil } }
}

extension PasswordReset.Permission {
    /// The second factor that is used; nil for none.
    fileprivate var secondFactor: SecondFactorUse? {
        switch self {
        case .link(_, let use), .formerPassword(let use): use
        case .recoveryCode(let digest): .recoveryCode(digest)
        case .operator: nil
        }
    }
}

extension UserLink {
    fileprivate static let columns = """
        user_links.digest, user_links.person_id, user_links.origin, user_links.email, user_links.browser,
        user_links.destination, user_links.expires_at
        """

    fileprivate var request: Request? { if case .mail(let request) = origin { request } else { nil } }

    /// The name of the origin in the store.
    fileprivate var originName: String { request == nil ? "operator" : "mail" }

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "user link"
        let digest = try columns.digest()
        let userID = try columns.value(UserIdentifier.init(_:))
        let isMail = try columns.word { ["mail": true, "operator": false][$0] }
        let email = try columns.optionalValue(EmailAddress.init(_:))
        let browser = try columns.optionalBytes().flatMap(ArtefactDigest.init(stored:))
        let destination = try columns.optionalText()
        let expires = try columns.date()
        guard isMail else {
            self.init(digest: digest, userID: userID, origin: .operator, expires: expires)
            return
        }
        guard let email, let browser else { throw StoreFault.damaged("a link in a mail has no address or no browser") }
        let request = Request(email: email, browser: browser, destination: destination ?? "")
        self.init(digest: digest, userID: userID, origin: .mail(request), expires: expires)
    }
}
