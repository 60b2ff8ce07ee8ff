package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// Queues mails to users, within limits by address and by source.
package struct MailQueue: Sendable {
    /// The maximum number of mails that users can ask for to one address within the window.
    package static let mailsPerAddress = 5
    /// The maximum number of mails that one user can ask for within the window, to any addresses.
    package static let mailsPerUser = 10
    /// The maximum number of mails that users can ask for from one source within the window.
    package static let mailsPerSource = 30
    /// The length of the sliding window, in seconds.
    package static let window: TimeInterval = 3600
    /// The time in seconds for which the link of a person who asked for an account is valid.
    package static let signUpLifetime = 30 * 60

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

    /// Queues a mail with a link by which the user verifies the address, or changes it to another one.
    ///
    /// If the address is that of another user, this user gets a notice in place of the link. The caller and the sender
    /// of the request cannot tell the difference.
    ///
    /// - Throws: ``TooMany`` if a limit has been reached; nothing is queued then.
    package func sendLink(
        to address: EmailAddress, of user: User, in language: Language, for request: IncomingRequest, now: Date,
        recording event: AuditEvent
    ) async throws -> Outcome {
        try await admit(address, of: user.id, for: request, now: now)
        let secret = MailLinkSecret(random: random)
        let verification = EmailVerification(
            userID: user.id, email: address, replacing: user.email, digest: ArtefactDigest(of: secret),
            expires: now.addingTimeInterval(TimeInterval(MailKind.verification.linkLifetime)))
        let holder = try await store.user(withEmail: address)
        let mail =
            if let holder, holder.id != user.id {
                try mail(.addressTaken, to: address, of: holder.id, in: holder.language ?? language, now: now)
            } else {
                try mail(
                    address == user.email ? .verification : .newAddress, to: address, of: user.id, in: language,
                    secret: secret, now: now)
            }
        switch try await store.beginEmailVerification(verification, sending: mail, recording: [event]) {
        case .queued: return .queued
        case .addressChanged: return .addressChanged
        case .queueFull: return .queueFull
        }
    }

    /// The result of a request for a link by which a user sets a new password; no response shows it.
    package enum RecoveryOutcome: Sendable {
        case queued
        /// No mail is sent; the cause is for the audit log.
        case refused(SignIn.Cause)
    }

    /// Queues a mail with a link by which a user sets a new password, if there is such a user with an address.
    ///
    /// No caller learns whether there is: the limits that are reported are those of the typed name and of the source.
    /// The mails count apart from those that a caller asks for to a typed address, whose limit is reported.
    ///
    /// Strangers could use up the limits of a name and its address. The requests in a browser in which the user has
    /// signed in before count there instead, and those from such a network in this network (``SignInKeys``).
    ///
    /// - Parameters:
    ///   - user: The user with the typed name; nil if there is none.
    ///   - name: The typed name, as the server reads it.
    ///   - earlier: The browser of the request, if the user has signed in there before.
    ///   - browser: The digest of the token of the browser, in which alone the link works.
    ///   - destination: The path and query at which the sign-in continues.
    ///   - request: The request of the user.
    ///   - now: The time of the request.
    ///   - event: The event of the mail.
    /// - Throws: ``TooMany`` if a limit of the name or the source has been reached.
    func sendRecovery(
        to user: User?, named name: String, knownIn earlier: EarlierSignIns.Browser?,
        askingIn browser: ArtefactDigest, continuingAt destination: String, for request: IncomingRequest, now: Date,
        recording event: AuditEvent
    ) async throws -> RecoveryOutcome {
        let source = request.countedSource(issuer)
        let isKnownNetwork = await EarlierNetworks(attempts: attempts).contain(source, for: user, named: name, now: now)
        let network = isKnownNetwork ? source?.networks.first : nil
        let ofName =
            earlier.map { key(.recoveryBrowser, of: $0.mark) } ?? key(.recoveryName, of: name.lowercased(), in: network)
        // Without an address the request counts under a key of no use, so that it takes the same time.
        let decoy = key(.noRecovery, of: name.lowercased())
        let ofAddress = user?.email.map { key(.recoveryAddress, of: $0.rawValue, in: network) } ?? decoy
        // The wider networks of a known one can contain an attacker.
        let ofSource = sourceKeys(of: network.map { [$0] } ?? source?.networks ?? [])
        let attempt =
            earlier == nil
            ? CountedAttempt([ofName] + ofSource, concealed: [ofAddress], decoy: decoy.digest)
            : CountedAttempt([ofName])
        let verdict = await attempts.admit(attempt, now: now)
        if case .tooEarly(let seconds, let key) = verdict {
            throw TooMany(retryAfter: seconds, cause: key == ofName.digest ? .throttledUser : .throttledSource)
        }
        func refused(_ reason: AuditEvent.Reason, _ detail: String? = nil) -> RecoveryOutcome {
            .refused(SignIn.Cause(reason: reason, user: user?.id, detail: detail))
        }
        guard let user else { return refused(.unknownUser) }
        guard user.disabledAt == nil else { return refused(.disabled) }
        guard let address = user.email else { return refused(.userLink, "the account has no email address") }
        guard user.profile.isEmailVerified == true || !user.hasRights else {
            return refused(.userLink, "the email address of a user with rights of the administration is not verified")
        }
        guard verdict == .admitted else { return refused(.throttledUser, "mails to the address") }
        let secret = MailLinkSecret(random: random)
        let link = UserLink(
            digest: ArtefactDigest(ofUserLink: secret), userID: user.id,
            origin: .mail(UserLink.Request(email: address, browser: browser, destination: destination)),
            expires: now.addingTimeInterval(TimeInterval(MailKind.recovery.linkLifetime)))
        let mail = try mail(.recovery, to: address, of: user.id, in: request.language, secret: secret, now: now)
        switch try await store.addUserLink(link, sending: mail, recording: [event]) {
        case .added: return .queued
        case .userNotActive: return refused(.accountChanged)
        case .queueFull: return refused(.overloaded, "too many mails wait")
        }
    }

    /// Returns the address to which the user changes by a link; nil if the link is not valid, or verifies the address
    /// that the user has.
    package func newAddress(
        _ secret: String, of user: User, now: Date
    ) async throws(StoreFault) -> EmailAddress? {
        guard let secret = MailLinkSecret(secret), let link = try await store.emailVerification(of: user.id),
            link.digest == ArtefactDigest(of: secret), now < link.expires, link.former == user.email,
            link.email != user.email, try await store.user(withEmail: link.email) == nil
        else { return nil }
        return link.email
    }

    /// Uses up a link, and makes its address the verified one of the user; returns false if the link is not valid.
    package func verify(
        _ secret: String, of user: User, now: Date, recording event: AuditEvent
    ) async throws(StoreFault) -> Bool {
        guard let secret = MailLinkSecret(secret) else { return false }
        return try await store.verifyEmail(
            of: user.id, proving: ArtefactDigest(of: secret), at: now, recording: [event])
    }

    /// Queues a mail to a person who asked for an account, with the same work whether the address has one or not.
    ///
    /// If it has none, the mail has a link to the page on which the person creates the account. If it has one, the mail
    /// says so.
    ///
    /// - Parameters:
    ///   - address: The typed address.
    ///   - browser: The digest of the browser that asked, the only one in which the link works.
    ///   - pendingRequest: The authorization request to continue with; empty for none.
    ///   - request: The request with the form.
    ///   - now: The time of the request.
    ///   - event: The event for the audit log.
    /// - Throws: ``TooMany`` if a limit has been reached; nothing is queued then.
    func sendSignUp(
        to address: EmailAddress, from browser: ArtefactDigest, continuing pendingRequest: String,
        for request: IncomingRequest, now: Date, recording event: AuditEvent
    ) async throws -> BeginSignUpOutcome {
        try await admit(address, of: nil, for: request, now: now)
        let isTaken = try await store.user(withEmail: address) != nil
        let secret = SignUpSecret(random: random)
        let mail = try NewMail(
            isTaken ? .accountExists : .signUp, to: address, of: nil, in: request.language,
            secret: isTaken ? nil : secret.exposed, with: serverKey, random: random, now: now)
        let signUp = SignUp(
            digest: ArtefactDigest(of: secret), email: address, browser: browser, pendingRequest: pendingRequest,
            expiresAt: now.addingTimeInterval(TimeInterval(Self.signUpLifetime)))
        return try await store.beginSignUp(signUp, sending: mail, recording: [event])
    }

    private func mail(
        _ kind: MailKind, to address: EmailAddress, of user: UserIdentifier, in language: Language,
        secret: MailLinkSecret? = nil, from origin: ChangeOrigin? = nil, now: Date
    ) throws -> NewMail {
        try NewMail(
            kind, to: address, of: user, in: language, secret: secret?.exposed, from: origin, with: serverKey,
            random: random, now: now)
    }

    private func admit(
        _ address: EmailAddress, of user: UserIdentifier?, for request: IncomingRequest, now: Date
    ) async throws(TooMany) {
        let ofAddress = key(.mailAddress, of: address.rawValue)
        let ofUser = user.map { user in
            CountedKey(
                attempts.keys.digest(of: user.rawValue, as: .mailUser),
                limit: AttemptLimit(failures: Self.mailsPerUser, window: Self.window))
        }
        let ofRecipient = [ofAddress, ofUser].compactMap(\.self)
        let attempt = CountedAttempt(ofRecipient + sourceKeys(of: request.countedSource(issuer)?.networks ?? []))
        guard case .tooEarly(let seconds, let key) = await attempts.admit(attempt, now: now) else { return }
        throw TooMany(
            retryAfter: seconds,
            cause: ofRecipient.contains { $0.digest == key } ? .throttledUser : .throttledSource)
    }

    private func key(
        _ kind: AttemptKeys.Kind, of value: String, in network: CountedSource.Network? = nil
    ) -> CountedKey {
        CountedKey(
            attempts.keys.digest(of: value, in: network, as: kind),
            limit: AttemptLimit(failures: Self.mailsPerAddress, window: Self.window))
    }

    private func sourceKeys(of networks: [CountedSource.Network]) -> [CountedKey] {
        networks.map { network in
            CountedKey(
                attempts.keys.digest(of: network.name, as: .mailSource),
                limit: AttemptLimit(failures: network.limit(Self.mailsPerSource), window: Self.window))
        }
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
    /// ``mailsPerAddress`` of each kind within the window. They count apart from those of other kinds and from the
    /// mails that the user asks for, with which an attacker could otherwise use up the notice before the change.
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
            in: user.language ?? language, from: origin, now: now)
    }
}

extension User {
    /// The language that the account names; nil if it names none in which the server has texts.
    fileprivate var language: Language? { profile.locale.flatMap { Language(tag: $0) } }
}
