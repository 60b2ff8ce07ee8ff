@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
import Logging
import WebAuthn

/// The verification and the setup of second factors.
package struct SecondFactors: Sendable {
    /// The maximum number of wrong codes of the app of one user within the window.
    static let failuresPerUser = 5
    /// The maximum number of wrong codes of the app of one user within a day.
    ///
    /// A right code clears the other limit of the user, and not this one.
    static let failuresPerDay = 30
    /// The maximum number of wrong recovery codes of one user within the window.
    static let recoveryFailuresPerUser = 10
    /// The maximum number of wrong codes from one IP address within the window.
    static let failuresPerSource = 50
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 15 * 60

    package let store: any PasskeyStore & SecondFactorStore
    let serverKey: ServerKey
    let attempts: AttemptCounter
    let settings: ServerSettings
    let logger: Logger
    let random: RandomBytes
    let wallClock: @Sendable () -> Date

    /// The outcome of a verification.
    package enum Outcome: Sendable {
        /// The code is right; the commit that uses it decides whether it counts. The note is for the audit log.
        case proved(SecondFactorUse, of: SecondFactor, note: String)
        /// The code is wrong, was used before, or cannot be verified.
        case refused(SignIn.Cause, CodeMessage)
        /// There were too many wrong codes, and this one was not verified; `retryAfter` is in seconds.
        case tooEarly(retryAfter: Int, SignIn.Cause)
    }

    /// Verifies the answer of a user, within the limits of wrong ones.
    package func verify(
        _ answer: SecondFactorAnswer, of user: User, in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        let attempt = attempt(answer, user.id, request.countedSource(settings.issuer))
        if case .tooEarly(let seconds, let key) = await attempts.admit(attempt, now: now) {
            let isOfUser = keys(for: answer, of: user.id).contains { $0.digest == key }
            let reason: AuditEvent.Reason = isOfUser ? .throttledUser : .throttledSource
            return .tooEarly(
                retryAfter: seconds, SignIn.Cause(reason: reason, user: user.id, detail: "codes of the second factor"))
        }
        let outcome: Outcome
        do { outcome = try await judge(answer, of: user, now: now) } catch {
            await attempts.withdraw(attempt.keys, admittedAt: now)
            throw error
        }
        if case .proved = outcome {
            await attempts.succeed(
                clearing: attempt.keys.prefix(1).map(\.digest), withdrawing: attempt.keys.dropFirst().map(\.digest),
                admittedAt: now)
        }
        return outcome
    }

    /// Returns the digest of a recovery code if the user has it; nil if not.
    ///
    /// Without a user it does the same work. The caller counts the attempt.
    func digest(of code: RecoveryCode, of user: User?) async throws -> ArtefactDigest? {
        let id = user?.id ?? UserIdentifier(random: random)
        var secret: AuthenticatorSecret?
        switch try await store.secondFactor(of: id) {
        case .active(let factor, _): secret = self.secret(of: factor)
        case .none: break
        case .lost: if let user { reportLoss(of: user) }
        }
        let digest = code.digest(with: secret ?? newSecret())
        let isLeft = try await store.hasRecoveryCode(digest, of: id)
        return isLeft && secret != nil ? digest : nil
    }

    private func judge(_ answer: SecondFactorAnswer, of user: User, now: Date) async throws -> Outcome {
        let factor: SecondFactor
        switch try await store.secondFactor(of: user.id) {
        case .active(let present, _): factor = present
        case .none: return refused(user, "the second factor was turned off", .changed)
        case .lost:
            reportLoss(of: user)
            return refused(user, "the record of the second factor is missing", .unavailable)
        }
        if case .key(let json, let ticket) = answer {
            return try await judge(json, answering: ticket, of: user, beside: factor, now: now)
        }
        guard let secret = secret(of: factor) else {
            logger.error(
                "failed to decrypt the secret of a second factor",
                metadata: ["user": "\(user.id)", "server_key": "\(factor.keyName)"])
            return refused(user, "no server key decrypts the secret", .unavailable)
        }
        switch answer {
        case .recoveryCode(let code):
            let digest = code.digest(with: secret)
            guard try await store.hasRecoveryCode(digest, of: user.id) else { return refused(user, nil, .wrong) }
            return .proved(.recoveryCode(digest), of: factor, note: AccountChange.recoveryCodeUsed.detail)
        case .code where !factor.hasApp: return refused(user, "the user has no authenticator app", .wrong)
        case .code(let code):
            switch secret.judge(code, after: factor.lastStep, at: wallClock()) {
            case .right(let step):
                return .proved(.code(factor.digest, step: step), of: factor, note: "second factor: code")
            case .used: return refused(user, "the code was used before", .used)
            case .wrong: return refused(user, nil, .wrong)
            }
        case .key: return refused(user, nil, .wrongKey)
        }
    }

    /// Reads the means by which a user can prove the second factor.
    package func keys(of user: User) async throws -> SecondFactorKeys {
        var keys = SecondFactorKeys()
        if case .active(let factor, _) = try await store.secondFactor(of: user.id) { keys.hasApp = factor.hasApp }
        guard PasskeyCeremonies(settings.issuer) != nil else { return keys }
        keys.securityKeys = try await store.securityKeys(of: user.id)
        keys.passkeys = try await store.passkeys(of: user.id)
        return keys
    }

    private func judge(
        _ json: String, answering ticket: String, of user: User, beside factor: SecondFactor, now: Date
    ) async throws -> Outcome {
        func refused(_ refusal: PasskeyRefusal) -> Outcome { self.refused(user, "\(refusal)", .wrongKey) }
        guard let ceremonies = PasskeyCeremonies(settings.issuer) else { return refused(.notOffered) }
        let response: AuthenticationResponse
        do { response = try AuthenticationResponse(json: Array(json.utf8)) } catch { return refused(.ceremony(error)) }
        let digest = ArtefactDigest(ofCredentialID: response.credentialID.bytes)
        let keys = try await keys(of: user)
        guard let key = keys.all.first(where: { $0.digest == digest }) else { return refused(.otherCredential) }
        do {
            let assertion = try ceremonies.verify(
                response, with: key, answering: ticket, namesUser: true, asSecondFactor: true)
            let use = PasskeyUse(
                digest: digest, signatureCounter: assertion.signatureCounter, isBackedUp: assertion.isBackedUp,
                challenge: ArtefactDigest(ofChallenge: ticket), challengeExpires: settings.pageEnd(from: now))
            let kind = keys.passkeys.contains { $0.digest == digest } ? "passkey" : "security key"
            let note = PasskeySignIn.note(assertion, key, called: "second factor: \(kind)")
            return .proved(.key(factor.digest, use), of: factor, note: note)
        } catch {
            return refused(error)
        }
    }

    private func refused(_ user: User, _ detail: String?, _ message: CodeMessage) -> Outcome {
        .refused(SignIn.Cause(reason: .secondFactor, user: user.id, detail: detail), message)
    }

    private func secret(of factor: SecondFactor) -> AuthenticatorSecret? {
        (try? serverKey.open(secondFactor: factor.sealedSecret, of: factor.userID))
            .flatMap(AuthenticatorSecret.init(bytes:))
    }

    /// Reports to the operator that the second factor of a user is lost.
    package func reportLoss(of user: User) {
        logger.error("the second factor of a user is missing", metadata: ["user": "\(user.id)"])
    }

    /// Returns the keys of a user, the one that a success clears first.
    ///
    /// Recovery codes have one of their own, so that an attacker who types codes of the app does not block them.
    private func keys(for answer: SecondFactorAnswer, of user: UserIdentifier) -> [CountedKey] {
        func key(_ kind: AttemptKeys.Kind, _ failures: Int, in window: TimeInterval) -> CountedKey {
            CountedKey(
                attempts.keys.digest(of: user.rawValue, as: kind),
                limit: AttemptLimit(failures: failures, window: window))
        }
        return switch answer {
        case .code, .key:
            [
                key(.secondFactorOfUser, Self.failuresPerUser, in: Self.window),
                key(.secondFactorInDay, Self.failuresPerDay, in: 86_400),
            ]
        case .recoveryCode: [key(.recoveryCodesOfUser, Self.recoveryFailuresPerUser, in: Self.window)]
        }
    }

    private func attempt(
        _ answer: SecondFactorAnswer, _ user: UserIdentifier, _ source: CountedSource?
    ) -> CountedAttempt {
        let ofSource = (source?.networks ?? []).map { network in
            CountedKey(
                attempts.keys.digest(of: network.name, as: .secondFactorSource),
                limit: AttemptLimit(failures: network.limit(Self.failuresPerSource), window: Self.window))
        }
        return CountedAttempt(keys(for: answer, of: user) + ofSource)
    }
}

// MARK: - Setup

extension SecondFactors {
    /// The time in seconds for which the secret on a page can be confirmed.
    private static let setupLifetime: TimeInterval = 60 * 60

    /// A second factor that its user has confirmed by a code or a security key, and the recovery codes, which are shown
    /// once.
    package struct Setup: Sendable {
        package let factor: SecondFactor
        package let recoveryCodes: [RecoveryCode]
        /// The digests of the recovery codes.
        package let digests: [ArtefactDigest]
        /// The security key; nil for an authenticator app.
        package var key: Passkey?
    }

    /// Returns a new secret, which the store does not have before it is confirmed.
    package func newSecret() -> AuthenticatorSecret { AuthenticatorSecret(random: random) }

    /// Encrypts a secret that is not confirmed yet, for a hidden field of the page.
    package func seal(_ secret: AuthenticatorSecret, for user: User, now: Date) throws -> String {
        let time = withUnsafeBytes(of: Int64(now.timeIntervalSince1970).bigEndian) { Array($0) }
        return Base64URL.encode(
            try serverKey.secondFactorSetups.seal(
                secret.bytes + time, authenticating: Array(user.id.rawValue.utf8)))
    }

    /// Decrypts the hidden field; nil if it is not of this user, or too old.
    package func secret(on page: String, of user: User, now: Date) -> AuthenticatorSecret? {
        guard page.utf8.count <= 256, let sealed = Base64URL.decode(page),
            let bytes = try? serverKey.secondFactorSetups.open(
                sealed, authenticating: Array(user.id.rawValue.utf8)
            ).bytes,
            let secret = AuthenticatorSecret(bytes: Array(bytes.prefix(AuthenticatorSecret.byteCount)))
        else { return nil }
        let time = bytes.dropFirst(AuthenticatorSecret.byteCount).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return now.isWithin(Self.setupLifetime, after: Double(time)) ? secret : nil
    }

    /// Creates the second factor with a secret that the user confirms by a code; nil if the code is wrong.
    package func confirm(_ secret: AuthenticatorSecret, by typed: String, of user: User, now: Date) throws -> Setup? {
        guard case .code(let code) = SecondFactorAnswer(typed: typed),
            case .right(let step) = secret.judge(code, after: 0, at: wallClock())
        else { return nil }
        return try setup(secret, of: user, lastStep: step, now: now)
    }

    /// Creates the second factor with a security key, whose secret no app gets.
    package func setup(_ key: Passkey, of user: User, now: Date) throws -> Setup {
        try setup(newSecret(), of: user, with: key, lastStep: 0, now: now)
    }

    private func setup(
        _ secret: AuthenticatorSecret, of user: User, with key: Passkey? = nil, lastStep: Int64, now: Date
    ) throws -> Setup {
        let codes = newRecoveryCodes()
        let factor = SecondFactor(
            userID: user.id, digest: secret.digest,
            sealedSecret: try serverKey.seal(secondFactor: secret.bytes, of: user.id),
            keyName: serverKey.fingerprints[0], createdAt: now, hasApp: key == nil, lastStep: lastStep)
        return Setup(factor: factor, recoveryCodes: codes, digests: codes.map { $0.digest(with: secret) }, key: key)
    }

    /// Creates other recovery codes for a second factor; nil if its secret cannot be decrypted.
    package func otherRecoveryCodes(of factor: SecondFactor) -> (codes: [RecoveryCode], digests: [ArtefactDigest])? {
        guard let secret = secret(of: factor) else { return nil }
        let codes = newRecoveryCodes()
        return (codes, codes.map { $0.digest(with: secret) })
    }

    private func newRecoveryCodes() -> [RecoveryCode] {
        (0..<RecoveryCode.count).map { _ in RecoveryCode(random: random) }
    }
}

// MARK: - Confirmation

extension SecondFactors {
    /// Encrypts the proof of a second factor, which a hidden field of further pages carries for some minutes.
    package func seal(proofOf factor: ArtefactDigest, in session: LiveSession, now: Date) throws -> String {
        let time = withUnsafeBytes(of: Int64(now.timeIntervalSince1970).bigEndian) { Array($0) }
        return Base64URL.encode(
            try serverKey.secondFactorSetups.seal(
                factor.bytes + time, authenticating: Self.context(ofProofIn: session)))
    }

    /// Decrypts the hidden field; nil if it is not of this session, or too old.
    package func use(provedBy field: String, in session: LiveSession, now: Date) -> SecondFactorUse? {
        guard field.utf8.count <= 256, let sealed = Base64URL.decode(field),
            let bytes = try? serverKey.secondFactorSetups.open(
                sealed, authenticating: Self.context(ofProofIn: session)
            ).bytes,
            let factor = ArtefactDigest(stored: Array(bytes.dropLast(8)))
        else { return nil }
        let time = bytes.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return now.isWithin(PendingSignIn.lifetime, after: Double(time)) ? .confirmed(factor) : nil
    }

    private static func context(ofProofIn session: LiveSession) -> [UInt8] {
        Array("proof\0\(session.user.id.rawValue)\0\(session.holder)".utf8)
    }
}

/// The means by which a user can prove the second factor.
package struct SecondFactorKeys: Sendable {
    package var securityKeys: [Passkey] = []
    package var passkeys: [Passkey] = []
    /// Whether the user has an authenticator app.
    package var hasApp = true

    package var all: [Passkey] { securityKeys + passkeys }

    /// The label of the button that asks for one of them; nil if there is none.
    package var label: KeyLabel? {
        switch (securityKeys.isEmpty, passkeys.isEmpty) {
        case (true, true): nil
        case (false, true): .securityKey
        case (true, false): .passkey
        case (false, false): .either
        }
    }
}

/// The labels of the button that asks for a security key or a passkey in place of a code.
package enum KeyLabel: String, LocalizationKey {
    case securityKey = "second-factor.use-key"
    case passkey = "second-factor.use-passkey"
    case either = "second-factor.use-passkey-or-key"
}

/// The name of a security key whose model is unknown.
package enum SecondFactorLabel: String, LocalizationKey {
    case key = "account.second-factor.key"
}

/// The messages about a typed code, or a security key in place of it.
package enum CodeMessage: String, LocalizationKey, Error {
    case wrong = "second-factor.wrong"
    /// The security key or the passkey does not prove the second factor.
    case wrongKey = "second-factor.key-wrong"
    /// The new security key breaks a rule.
    case keyRefused = "account.second-factor.key-refused"
    /// The code counts once, and it was accepted before.
    case used = "second-factor.used"
    /// The code does not confirm the setup.
    case unconfirmed = "second-factor.unconfirmed"
    /// The server cannot verify any code of the user.
    case unavailable = "second-factor.unavailable"
    /// The user has turned off the second factor meanwhile.
    case changed = "second-factor.too-late"
    case tooMany = "sign-in.too-many-attempts"
}
