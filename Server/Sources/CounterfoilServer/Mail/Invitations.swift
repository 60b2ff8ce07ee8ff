@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The creation of invitations, with which operators let persons create accounts of their own.
package struct Invitations: Sendable {
    /// The number of days for which an invitation is valid, unless the operator chooses another one.
    package static let standardDays = 7

    private let issuer: Issuer
    private let store: any SignUpStore
    private let serverKey: ServerKey
    private let random: RandomBytes

    package init(
        issuer: Issuer, store: any SignUpStore, serverKey: ServerKey, random: RandomBytes = RandomBytes()
    ) {
        self.issuer = issuer
        self.store = store
        self.serverKey = serverKey
        self.random = random
    }

    /// The choices of an operator about an invitation.
    package struct Draft: Sendable {
        /// The email address of the account; nil for an account without one.
        package var email: EmailAddress?
        /// The role of the account; nil for none.
        package var role: UserRole?
        /// The client that the person is invited to use; nil for none.
        package var clientID: ClientIdentifier?
        /// The number of days for which the link is valid.
        package var days: Int
        /// The language of the mail; nil if no mail is sent.
        package var mailLanguage: Language?

        package init(
            email: EmailAddress? = nil, role: UserRole? = nil, clientID: ClientIdentifier? = nil,
            days: Int = Invitations.standardDays, mailLanguage: Language? = nil
        ) {
            self.email = email
            self.role = role
            self.clientID = clientID
            self.days = days
            self.mailLanguage = mailLanguage
        }
    }

    /// The result of ``invite(_:now:recording:)``.
    package enum Outcome: Sendable {
        /// The link is shown to the operator once; nil if it was mailed.
        ///
        /// The use of a mailed link verifies the address, so only the reader of the mail may know it.
        case invited(Invitation, link: String?)
        /// A user has the email address already.
        case emailTaken
        /// As many invitations as the server has at once can be used.
        case tooMany
        /// Too many mails wait.
        case queueFull
    }

    /// Creates an invitation, and queues the mail with its link if there is an address and a language.
    ///
    /// - Parameters:
    ///   - draft: The choices of the operator.
    ///   - now: The time of the creation.
    ///   - event: Returns the event for the audit log, with a detail.
    package func invite(
        _ draft: Draft, now: Date, recording event: (Invitation, String) -> AuditEvent
    ) async throws -> Outcome {
        let secret = SignUpSecret(random: random)
        let lifetime = draft.days * 86_400
        var mail: NewMail?
        if let email = draft.email, let language = draft.mailLanguage {
            mail = try NewMail(
                .invitation, to: email, of: nil, in: language, secret: secret.exposed, lifetime: lifetime,
                with: serverKey, random: random, now: now)
        }
        let invitation = Invitation(
            digest: ArtefactDigest(of: secret), email: draft.email, isMailed: mail != nil,
            role: draft.role, clientID: draft.clientID, createdAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(lifetime)))
        let detail =
            "created the invitation \(invitation.shortID)"
            + (invitation.role.map { ", with the role \($0.rawValue)" } ?? "")
        let outcome = try await store.addInvitation(
            invitation, sending: mail, recording: [event(invitation, detail).named(.userInvited)])
        switch outcome {
        case .added:
            let link = invitation.isMailed ? nil : MailKind.invitation.link(with: secret.exposed, at: issuer)
            return .invited(invitation, link: link)
        case .emailTaken: return .emailTaken
        case .tooMany: return .tooMany
        case .queueFull: return .queueFull
        }
    }
}

extension RegistryReader {
    /// Returns the client that an invitation can name; nil if there is none, or if no person has registered it.
    package func invitableClient(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        guard let client = try await client(id), !client.isUnregistered else { return nil }
        return client
    }
}

extension SignUpStore {
    /// Withdraws an invitation; returns false if it was just used or withdrawn.
    ///
    /// - Parameters:
    ///   - invitation: The invitation.
    ///   - event: Returns the event for the audit log, with a detail.
    package func withdraw(
        _ invitation: Invitation, recording event: (String) -> AuditEvent
    ) async throws(StoreFault) -> Bool {
        try await removeInvitation(
            invitation.digest,
            recording: [event("withdrew the invitation \(invitation.shortID)").named(.invitationWithdrawn)])
    }
}

extension ServerComponents {
    /// The creation of invitations by administrators.
    package var invitations: Invitations {
        Invitations(issuer: settings.issuer, store: store, serverKey: serverKey, random: random)
    }
}
