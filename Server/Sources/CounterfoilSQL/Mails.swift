public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores a link in place of the user's former one, and queues the mail with it.
    public func beginEmailVerification(
        _ verification: EmailVerification, sending mail: NewMail, recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginEmailVerificationOutcome {
        try await commit(recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (
                        SELECT 1 FROM people
                        WHERE id = ?1 AND coalesce(email, '') = coalesce(?2, '') AND disabled_at IS NULL
                    ),
                    EXISTS (SELECT 1 FROM mails LIMIT 1 OFFSET ?3)
                """,
                verification.userID.rawValue,
                verification.former?.rawValue,
                NewMail.queueLimit - 1
            )
            guard facts.first == true else { return .addressChanged }
            guard facts.last == false else { return .queueFull }
            try database.send(
                """
                INSERT INTO email_verifications (person_id, digest, email, former_email, expires_at)
                VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (person_id) DO UPDATE SET digest = ?2, email = ?3, former_email = ?4, expires_at = ?5
                """,
                verification.userID.rawValue,
                Data(verification.digest.bytes),
                verification.email.rawValue,
                verification.former?.rawValue,
                verification.expires.microseconds
            )
            try database.queue(mail)
            return .queued
        }
    }

    /// Reads the newest link of a user, even if it has expired; nil if there is none.
    public func emailVerification(of user: UserIdentifier) async throws(StoreFault) -> EmailVerification? {
        try await read { database in
            try database.first(
                "SELECT person_id, email, former_email, digest, expires_at FROM email_verifications WHERE person_id = ?",
                user.rawValue
            ) { columns in
                EmailVerification(
                    userID: try columns.value(UserIdentifier.init(_:)), email: try columns.value(EmailAddress.init(_:)),
                    replacing: try columns.optionalValue(EmailAddress.init(_:)), digest: try columns.digest(),
                    expires: try columns.date())
            }
        }
    }

    /// Uses up a link, and makes its address the verified one of the user.
    public func verifyEmail(
        of user: UserIdentifier, proving digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(recording: events) { database in
            // An address that the user has got meanwhile is not replaced by the link of an earlier one.
            let changed = try database.run(
                """
                UPDATE people SET email = link.email, profile = json_patch(profile, ?4), changed_at = ?3
                FROM email_verifications AS link
                WHERE people.id = ?1 AND people.disabled_at IS NULL AND link.person_id = people.id
                    AND link.digest = ?2 AND link.expires_at > ?3
                    AND coalesce(people.email, '') = coalesce(link.former_email, '')
                    AND NOT EXISTS (
                        SELECT 1 FROM people AS others WHERE others.email = link.email AND others.id <> people.id
                    )
                """,
                user.rawValue,
                Data(digest.bytes),
                time.microseconds,
                #"{"email_verified":true}"#
            )
            guard changed == 1 else { return false }
            try database.send("DELETE FROM email_verifications WHERE person_id = ?", user.rawValue)
            try database.deleteLinksToFormerAddress(of: user)
            return true
        }
    }

    /// Leases due mails, those first that are due earliest.
    public func takeMails(dueAt now: Date, until later: Date, limit: Int) async throws(StoreFault) -> [QueuedMail] {
        // Most calls find nothing due. They end after this read, without the write lock.
        let isDue = try await read { database in
            try database.answers("SELECT EXISTS (SELECT 1 FROM mails WHERE due_at <= ?)", now.microseconds)
        }
        guard isDue == [true] else { return [] }
        return try await commit { database in
            let due = try database.all(
                """
                SELECT id, person_id, sealed, created_at, expires_at, attempts FROM mails
                WHERE due_at <= ?1 ORDER BY due_at, id LIMIT ?2
                """,
                now.microseconds,
                limit
            ) { columns in try columns.queuedMail(leasedUntil: later) }
            for queued in due {
                try database.send(
                    "UPDATE mails SET due_at = ?2 WHERE id = ?1", queued.mail.id.rawValue, later.microseconds)
            }
            return due
        }
    }

    /// Records the result of an attempt to send a mail, and ends its lease.
    public func settleMail(_ queued: QueuedMail, _ settlement: MailSettlement) async throws(StoreFault) {
        try await commit { database in
            let id = queued.mail.id.rawValue
            switch settlement {
            case .done: try database.send("DELETE FROM mails WHERE id = ?", id)
            case .failed(let retryAt):
                try database.send(
                    "UPDATE mails SET attempts = attempts + 1, due_at = ?3 WHERE id = ?1 AND due_at = ?2", id,
                    queued.leasedUntil.microseconds, retryAt.microseconds)
            case .untried(let dueAt):
                try database.send(
                    "UPDATE mails SET due_at = ?3 WHERE id = ?1 AND due_at = ?2", id, queued.leasedUntil.microseconds,
                    dueAt.microseconds)
            }
        }
    }

    /// Reads the number and the age of the waiting mails, for metrics.
    public func mailBacklog() async throws(StoreFault) -> MailBacklog {
        let found = try await read { database in
            try database.first(MailBacklog.query) { columns in
                let count = Int(try columns.integer())
                return MailBacklog(count: count, oldest: count == 0 ? nil : try columns.date())
            }
        }
        return found ?? MailBacklog(count: 0, oldest: nil)
    }
}

extension MailBacklog {
    /// The query for the number and the age of the waiting mails; it reads only the index `mails_created`.
    package static let query = """
        SELECT (
            SELECT count(*) FROM (SELECT 1 AS one FROM mails ORDER BY created_at LIMIT \(MailBacklog.limit)) AS found
        ), (SELECT min(created_at) FROM mails)
        """
}

extension SQLConnection {
    /// Queues a mail that is due at once.
    func queue(_ mail: NewMail) throws {
        try send(
            """
            INSERT INTO mails (id, person_id, sealed, attempts, due_at, created_at, expires_at)
            VALUES (?1, ?2, ?3, 0, ?4, ?4, ?5)
            """,
            mail.id.rawValue,
            mail.userID?.rawValue,
            Data(mail.sealed),
            mail.createdAt.microseconds,
            mail.expires.microseconds
        )
    }
}

extension Columns {
    fileprivate mutating func queuedMail(leasedUntil: Date) throws -> QueuedMail {
        record = "mail"
        let mail = NewMail(
            id: try value(MailIdentifier.init(_:)), userID: try optionalValue(UserIdentifier.init(_:)),
            sealed: try bytes(),
            createdAt: try date(), expires: try date())
        return QueuedMail(mail: mail, attempts: Int(clamping: try integer()), leasedUntil: leasedUntil)
    }
}
