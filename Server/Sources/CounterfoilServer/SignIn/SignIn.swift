@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The authentication of users by username or email address and password.
///
/// The outcome and the response time are the same for an unknown user, a user without a password, and a wrong password.
package struct SignIn: Sendable {
    let store: any UserStore
    let hasher: PasswordHasher
    let attempts: AttemptCounter
    let limits: SignInLimits
    let throttle: SignInThrottle
    /// The maximum number of successful sign-ins of one user from one source.
    let signInsPerMinute: Int
    let earlierSignIns: EarlierSignIns
    let issuer: Issuer

    /// The outcome of a sign-in, or of the password check of a signed-in user.
    package enum Outcome: Sendable {
        /// The password is correct, and the account is not disabled.
        case signedIn(User)
        /// The user is unknown, the password is wrong, the account is disabled, or the account has had too many
        /// failures.
        ///
        /// The cause is for the audit log only.
        case refused(Cause)
        /// There were too many failures or sign-ins, and the password was not verified; `retryAfter` is the time to
        /// wait, in seconds.
        case tooEarly(retryAfter: Int, Cause)
    }

    /// The cause of a refusal, which the user must not learn.
    package struct Cause: Sendable {
        package let reason: AuditEvent.Reason
        /// The account with the typed name; nil if there is none.
        package let user: UserIdentifier?
        /// A text for the audit log that explains the reason; nil for none.
        package var detail: String?
    }

    /// The kind of caller, which decides whether the server may report that the account has too many failures.
    private enum Caller {
        /// An anonymous caller, who must not learn that a username and an email address belong to the same account.
        case anonymous
        /// A caller that is signed in to the account.
        case themself
    }

    /// Verifies a username or email address and a password that were typed on a sign-in page.
    func attempt(
        name: String, password: String, in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        try await attempt(name, in: request, by: .anonymous, now: now) { user, party in
            try await judge(user, password: password, for: party)
        }
    }

    /// Verifies another secret than the password that was typed with a username or email address, within the limits of
    /// passwords.
    ///
    /// - Parameter isRight: Returns true if the secret is that of the user; without a user, it does the same work.
    func attempt(
        name: String, in request: IncomingRequest, now: Date, verifying isRight: (User?) async throws -> Bool
    ) async throws -> Outcome {
        try await attempt(name, in: request, by: .anonymous, now: now) { user, _ in
            guard try await isRight(user), let user else {
                return .refused(user == nil ? .unknownUser : .secondFactor, detail: "recovery code")
            }
            return user.disabledAt == nil ? .proved(user) : .refused(.disabled, detail: nil)
        }
    }

    /// Verifies the password of a user who is already signed in; failures count as on the sign-in page.
    ///
    /// A password that the user must change confirms nothing.
    package func confirm(
        _ user: User, password: String, in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        guard !user.mustChangePassword else { return .refused(Cause(reason: .newPasswordNeeded, user: user.id)) }
        return try await attempt(user.username.rawValue, in: request, by: .themself, now: now) { user, party in
            try await judge(user, password: password, for: party)
        }
    }

    private func attempt(
        _ name: String, in request: IncomingRequest, by caller: Caller, now: Date,
        judging judge: (User?, BoundedQueue.Party) async throws -> Verdict
    ) async throws -> Outcome {
        // The name counts as the server reads it, so that another spelling gives no further guesses.
        let name = name.asTypedName()
        let source = request.countedSource(issuer)
        let party = hasher.party(of: name, from: source)
        // A full queue would refuse the attempt anyhow, after it was counted.
        try hasher.checkCapacity(for: party)
        let user = try await user(named: name)
        let early = throttle.wait(user?.id, from: source, within: signInsPerMinute, now: now)
        if let early {
            return .tooEarly(
                retryAfter: early,
                Cause(reason: .throttledUser, user: user?.id, detail: "successful sign-ins from one source"))
        }
        let isKnownNetwork = await earlierNetworks.contain(source, for: user, named: name, now: now)
        let keys = SignInKeys(
            name: name, user: user?.id, source: source, browser: earlierSignIns.browser(in: request, of: user),
            isKnownNetwork: isKnownNetwork, keys: attempts.keys, limits: limits)
        let attempt = caller == .themself ? keys.ofUser : keys.ofAnyone
        let verdict = await attempts.admit(attempt, now: now)
        if case .tooEarly(let seconds, let key) = verdict {
            let reason: AuditEvent.Reason = keys.isOfSource(key) ? .throttledSource : .throttledUser
            return .tooEarly(retryAfter: seconds, Cause(reason: reason, user: user?.id))
        }
        do {
            let proved: User
            switch try await judge(verdict == .admitted ? user : nil, party) {
            case .proved(let user): proved = user
            case .refused(let reason, let detail):
                let isConcealed = verdict == .concealed
                return .refused(
                    Cause(
                        reason: isConcealed ? .throttledUser : reason, user: user?.id,
                        detail: isConcealed ? "by username and email address together" : detail))
            }
            throttle.note(proved.id, from: source, within: signInsPerMinute, now: now)
            await attempts.succeed(clearing: keys.cleared, withdrawing: keys.shared, admittedAt: now)
            return .signedIn(proved)
        } catch {
            await attempts.withdraw(attempt.counted(after: verdict), admittedAt: now)
            throw error
        }
    }

    private enum Verdict {
        case proved(User)
        case refused(AuditEvent.Reason, detail: String?)
    }

    /// Verifies a password; the user is proved if the password is correct and the account is not disabled.
    ///
    /// Without a user, the hasher does the same work and the result is a refusal.
    private func judge(
        _ user: User?, password: String, for party: BoundedQueue.Party
    ) async throws -> Verdict {
        let isDisabled = user?.disabledAt != nil
        guard let typed = Password(typed: password),
            let match = try await hasher.verify(typed, against: user?.passwordHash, for: party), let user
        else {
            let detail =
                isDisabled
                ? "the account is disabled"
                : user.map { $0.passwordHash == nil } == true ? "the account has no password" : nil
            return .refused(user == nil ? .unknownUser : .wrongPassword, detail: detail)
        }
        if isDisabled { return .refused(.disabled, detail: nil) }
        switch match {
        case .prepared: return .proved(user)
        case .asTyped, .foreign: return .proved(await renewingHash(of: user, with: typed))
        }
    }

    /// Replaces a hash of a password as typed, so that the user can type the password on every keyboard, and a hash of
    /// another program, which is often cheaper to guess.
    ///
    /// If that fails, the sign-in continues, and the next one tries again.
    private func renewingHash(of user: User, with password: Password) async -> User {
        var renewed = user
        do {
            guard let former = user.passwordHash else { return user }
            let hash = try await hasher.hash(password)
            renewed.passwordHash = hash
            let isStored = try await store.replacePasswordHash(of: user.id, from: former, to: hash)
            if isStored { return renewed }
            // Another sign-in with this password may have replaced it first.
            guard let stored = try await store.user(user.id),
                try await hasher.verify(password, against: stored.passwordHash) == .prepared
            else { return user }
            return stored
        } catch {
            return user
        }
    }

    private var earlierNetworks: EarlierNetworks { EarlierNetworks(attempts: attempts) }

    /// Remembers the browser and the network in which a session has just begun, where the guesses of others elsewhere
    /// then do not count; returns the `Set-Cookie` value, or nil if the encryption fails.
    func remember(_ session: LiveSession, in request: IncomingRequest, now: Date) async -> String? {
        await remember(session.user, staysSignedIn: session.isPersistent, in: request, now: now)
    }

    /// Remembers the browser and the network in which the user of a session has just changed or removed the password.
    ///
    /// Otherwise the guesses of others would count there until the next sign-in.
    package func remember(
        _ session: LiveSession, with hash: PasswordHash?, in request: IncomingRequest, now: Date
    ) async -> String? {
        var user = session.user
        user.passwordHash = hash
        return await remember(user, staysSignedIn: session.isPersistent, in: request, now: now)
    }

    private func remember(
        _ user: User, staysSignedIn: Bool, in request: IncomingRequest, now: Date
    ) async -> String? {
        await earlierNetworks.note(request.countedSource(issuer), for: user, now: now)
        return earlierSignIns.remember(user, staysSignedIn: staysSignedIn)
    }

    /// Returns the user with a username or an email address; nil if there is none.
    func user(named name: String) async throws(StoreFault) -> User? {
        if let username = Username(name) { return try await store.user(named: username) }
        if let email = EmailAddress(name) { return try await store.user(withEmail: email) }
        return nil
    }
}

extension Auditor {
    /// Records that a sign-in was refused.
    ///
    /// - Parameter purpose: The purpose of the sign-in, if it is not the beginning of a session; nil for that.
    package func refuse(
        _ kind: AuditEvent.Kind, because cause: SignIn.Cause, of request: IncomingRequest,
        client: ClientIdentifier? = nil, for purpose: String? = nil, now: Date
    ) async {
        let detail = [purpose, cause.detail].compactMap(\.self).joined(separator: ", ")
        await refuse(
            kind, because: cause.reason, request, user: cause.user, client: client,
            detail: detail.isEmpty ? nil : detail, now: now)
    }
}
