import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores an invitation, and queues its mail, unless a user has the email address, or a limit is reached.
    public func addInvitation(
        _ invitation: Invitation, sending mail: NewMail?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddInvitationOutcome {
        try await commit(recording: events) { database in
            let facts = try database.answers(
                """
                SELECT EXISTS (SELECT 1 FROM people WHERE email = ?1),
                    EXISTS (SELECT 1 FROM invitations WHERE expires_at > ?2 LIMIT 1 OFFSET ?3),
                    EXISTS (SELECT 1 FROM mails LIMIT 1 OFFSET ?4)
                """,
                invitation.email?.rawValue,
                invitation.createdAt.microseconds,
                Invitation.limit - 1,
                NewMail.queueLimit - 1
            )
            guard facts.first == false else { return .emailTaken }
            guard facts[1] == false else { return .tooMany }
            guard mail == nil || facts.last == false else { return .queueFull }
            try database.send(
                """
                INSERT INTO invitations (\(Invitation.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                Data(invitation.digest.bytes),
                invitation.email?.rawValue,
                invitation.isMailed,
                invitation.role?.rawValue,
                invitation.clientID?.rawValue,
                invitation.createdAt.microseconds,
                invitation.expiresAt.microseconds
            )
            if let mail { try database.queue(mail) }
            return .added
        }
    }

    /// Reads the invitations that are not used, oldest first, even if they have expired.
    public func invitations() async throws(StoreFault) -> [Invitation] {
        try await read { database in
            try database.all(
                "SELECT \(Invitation.columns) FROM invitations ORDER BY created_at, digest",
                read: Invitation.init(_:))
        }
    }

    /// Reads an invitation; nil if there is none with this digest, or if it has expired.
    public func invitation(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> Invitation? {
        try await read { database in
            try database.first(
                "SELECT \(Invitation.columns) FROM invitations WHERE digest = ? AND expires_at > ?",
                Data(digest.bytes), time.microseconds, read: Invitation.init(_:))
        }
    }

    /// Deletes an invitation; returns false if there is none with this digest.
    public func removeInvitation(
        _ digest: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.invitation), recording: events) { database in
            try database.run("DELETE FROM invitations WHERE digest = ?", Data(digest.bytes)) == 1
        }
    }

    /// Stores a request for an account, and queues the mail about it.
    public func beginSignUp(
        _ signUp: SignUp, sending mail: NewMail, recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSignUpOutcome {
        try await commit(recording: events) { database in
            let isFull = try database.answers(
                "SELECT EXISTS (SELECT 1 FROM mails LIMIT 1 OFFSET ?)", NewMail.queueLimit - 1)
            guard isFull == [false] else { return .queueFull }
            try database.send(
                "INSERT INTO sign_ups (\(SignUp.columns)) VALUES (?, ?, ?, ?, ?)",
                Data(signUp.digest.bytes),
                signUp.email.rawValue,
                Data(signUp.browser.bytes),
                signUp.pendingRequest,
                signUp.expiresAt.microseconds
            )
            try database.queue(mail)
            return .queued
        }
    }

    /// Reads a request for an account; nil if there is none with this digest, or if it has expired.
    public func signUp(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> SignUp? {
        try await read { database in
            try database.first(
                "SELECT \(SignUp.columns) FROM sign_ups WHERE digest = ? AND expires_at > ?",
                Data(digest.bytes), time.microseconds, read: SignUp.init(_:))
        }
    }

    /// Uses up a link, and adds the user with it.
    public func addUser(
        _ user: User, by link: SignUpLink, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> SignUpOutcome {
        let (table, digest, endings): (String, ArtefactDigest, DeclaredEndings) =
            switch link {
            case .invitation(let digest): ("invitations", digest, .usually(.invitation))
            case .signUp(let digest): ("sign_ups", digest, .sometimes(.invitation))
            }
        return try await commit(ending: endings, recording: events) { database in
            let isValid = try database.answers(
                """
                SELECT EXISTS (
                    SELECT 1 FROM \(table)
                    WHERE digest = ?1 AND expires_at > ?2 AND coalesce(email, '') = coalesce(?3, '')
                )
                """,
                Data(digest.bytes),
                time.microseconds,
                user.email?.rawValue
            )
            guard isValid == [true] else { return .linkOver }
            switch try database.add(user, asFirstOwner: false) {
            case .added: break
            case .usernameTaken: return .usernameTaken
            case .emailTaken, .ownerExists: return .emailTaken
            }
            try database.send("DELETE FROM \(table) WHERE digest = ?", Data(digest.bytes))
            // The other links to the address create no account any more.
            for table in ["invitations", "sign_ups"] {
                try database.send("DELETE FROM \(table) WHERE email = ?", user.email?.rawValue)
            }
            return .added
        }
    }

    /// Notes that a user has accepted a version of the terms.
    public func acceptTerms(
        _ terms: AcceptedTerms, by user: UserIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(recording: events) { database in
            try database.run(
                "UPDATE people SET terms_version = ?2, terms_accepted_at = ?3 WHERE id = ?1",
                user.rawValue,
                terms.version,
                terms.acceptedAt.microseconds
            ) == 1
        }
    }
}

extension Invitation {
    fileprivate static let columns = "digest, email, is_mailed, role, client_id, created_at, expires_at"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "invitation"
        self.init(
            digest: try columns.digest(), email: try columns.optionalValue(EmailAddress.init(_:)),
            isMailed: try columns.flag(), role: try columns.optionalForm(UserRole.init(rawValue:)),
            clientID: try columns.optionalValue { ClientIdentifier($0) }, createdAt: try columns.date(),
            expiresAt: try columns.date())
    }
}

extension SignUp {
    fileprivate static let columns = "digest, email, browser, pending_request, expires_at"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "sign-up"
        self.init(
            digest: try columns.digest(), email: try columns.value(EmailAddress.init(_:)),
            browser: try columns.digest(), pendingRequest: try columns.text(), expiresAt: try columns.date())
    }
}
