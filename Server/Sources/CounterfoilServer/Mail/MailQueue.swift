package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// Queues mails to users, within limits by address and by source.
package struct MailQueue: Sendable {
    /// The maximum number of mails that users can ask for to one address within the window.
    package static let mailsPerAddress = 5
    /// The maximum number of mails that users can ask for from one source within the window.
    package static let mailsPerSource = 30
    /// The length of the sliding window, in seconds.
    package static let window: TimeInterval = 3600

    let issuer: Issuer
    var store: any UncachedStore
    let serverKey: ServerKey
    let attempts: AttemptCounter
    let random: RandomBytes

    /// The error after too many mails.
    package struct TooMany: Error {
        /// The time to wait, in seconds.
        package let retryAfter: Int
        package let cause: AuditEvent.Reason
    }

    /// The result of a request for a link.
    package enum Outcome: Sendable, Hashable {
        case queued
        /// The user has another address than the session knows, or none.
        case addressChanged
        case queueFull
    }

    /// Queues a mail with a link by which the user verifies the address.
    ///
    /// - Throws: ``TooMany`` if a limit has been reached; nothing is queued then.
    package func sendVerification(
        to user: User, in language: Language, for request: IncomingRequest, now: Date, recording event: AuditEvent
    ) async throws -> Outcome {
        guard let address = user.email else { return .addressChanged }
        try await admit(address, for: request, now: now)
        let secret = MailLinkSecret(random: random)
        let verification = EmailVerification(
            userID: user.id, email: address, digest: ArtefactDigest(of: secret),
            expires: now.addingTimeInterval(TimeInterval(MailContents.linkLifetime)))
        let mail = try mail(.verification, to: address, of: user.id, in: language, secret: secret, now: now)
        switch try await store.beginEmailVerification(verification, sending: mail, recording: [event]) {
        case .queued: return .queued
        case .addressChanged: return .addressChanged
        case .queueFull: return .queueFull
        }
    }

    /// Uses up a link, and notes that its address is the user's; returns false if the link is not valid.
    package func verify(
        _ secret: String, of user: User, now: Date, recording event: AuditEvent
    ) async throws(StoreFault) -> Bool {
        guard let secret = MailLinkSecret(secret) else { return false }
        return try await store.verifyEmail(
            of: user.id, proving: ArtefactDigest(of: secret), at: now, recording: [event])
    }

    private func mail(
        _ kind: MailKind, to address: EmailAddress, of user: UserIdentifier, in language: Language,
        secret: MailLinkSecret? = nil, from origin: ChangeOrigin? = nil, now: Date
    ) throws -> NewMail {
        let id = MailIdentifier(random: random)
        let contents = MailContents(
            kind: kind.rawValue, recipient: address.rawValue, language: language.rawValue, secret: secret?.exposed,
            origin: origin)
        let bytes = Array(try JSONEncoder().encode(contents))
        return NewMail(
            id: id, userID: user, sealed: try serverKey.seal(mail: bytes, identifier: id), createdAt: now,
            expires: now.addingTimeInterval(MailContents.patience))
    }

    private func admit(_ address: EmailAddress, for request: IncomingRequest, now: Date) async throws(TooMany) {
        let ofAddress = CountedKey(
            attempts.keys.digest(of: address.rawValue, as: .mailAddress),
            limit: AttemptLimit(failures: Self.mailsPerAddress, window: Self.window))
        let ofSource = request.countedSource(issuer)?.networks.map { network in
            CountedKey(
                attempts.keys.digest(of: network.name, as: .mailSource),
                limit: AttemptLimit(failures: network.limit(Self.mailsPerSource), window: Self.window))
        }
        let attempt = CountedAttempt([ofAddress] + (ofSource ?? []))
        guard case .tooEarly(let seconds, let key) = await attempts.admit(attempt, now: now) else { return }
        throw TooMany(
            retryAfter: seconds, cause: key == ofAddress.digest ? .throttledUser : .throttledSource)
    }
}

extension MailQueue {
    /// Creates the queue for a command, which sends nothing itself.
    package init(of store: any AuthorizationServerStore, issuer: Issuer, serverKey: ServerKey) {
        self.init(
            issuer: issuer, store: store, serverKey: serverKey,
            attempts: AttemptCounter(store: store, serverKey: serverKey, metrics: ServerMetrics()),
            random: RandomBytes())
    }
}

extension MailQueue: AccountNotices {
    /// Creates the notice of a change, which is queued in the commit of the change.
    ///
    /// Only a verified address gets it, because another one may belong to a stranger. An address gets
    /// ``mailsPerAddress`` of each kind within the window. They count apart from those of other kinds and from the mails
    /// that the user asks for, with which an attacker could otherwise use up the notice before the change.
    package func notice(
        of change: AccountChange, to user: User, from origin: ChangeOrigin?, in language: Language, now: Date
    ) async throws -> NewMail? {
        guard let address = user.email, user.profile.isEmailVerified == true else { return nil }
        let kind = MailKind(noticeOf: change)
        let key = CountedKey(
            attempts.keys.digest(of: "\(kind.rawValue)\0\(address)", as: .noticeAddress),
            limit: AttemptLimit(failures: Self.mailsPerAddress, window: Self.window))
        if case .tooEarly = await attempts.admit(CountedAttempt([key]), now: now) { return nil }
        return try mail(
            kind, to: address, of: user.id,
            in: user.profile.locale.flatMap { Language(tag: $0) } ?? language, from: origin, now: now)
    }
}
