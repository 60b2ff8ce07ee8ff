import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes
import WebAuthn

extension SignInForm {
    /// The encrypted sign-in that waits for the second factor.
    static let pendingField = "pending"
    /// The typed code.
    static let codeField = "code"

    /// The page after the right password, which has no field for a name or a password.
    package struct SecondStep: Sendable {
        let user: User
        let pending: PendingSignIn
        /// The secret that the user sets up in an app, or a security key in place of it; nil if the page asks for the
        /// present second factor.
        let setup: AuthenticatorSecret?
        /// The security keys and passkeys that the page accepts in place of a code.
        let keys: SecondFactorKeys
        var problem: CodeMessage?
        var retryAfter: Int?

        init(of user: User, _ pending: PendingSignIn, settingUp setup: AuthenticatorSecret) {
            self.user = user
            self.pending = pending
            self.setup = setup
            keys = SecondFactorKeys()
        }

        init(of user: User, _ pending: PendingSignIn, accepting keys: SecondFactorKeys) {
            self.user = user
            self.pending = pending
            self.keys = keys
            setup = nil
        }

        /// Returns the page with a problem.
        func again(_ problem: CodeMessage, retryAfter: Int? = nil) -> Outcome {
            var step = self
            (step.problem, step.retryAfter) = (problem, retryAfter)
            return .again(.secondStep(step))
        }
    }

    /// Decides how a sign-in continues after the right password.
    func continueAfterPassword(
        _ submission: Submission, of user: User, typed: Typed, at client: ClientIdentifier?
    ) async throws -> Outcome {
        guard let passwordHash = user.passwordHash else { return .again(.wrong(typed)) }
        let state = try await secondFactors.store.secondFactor(of: user.id)
        let isRequired = settings.secondFactor.isRequired(of: user)
        let hasPasskey = state == .none && isRequired ? try await hasPasskey(user) : false
        let step = StepAfterPassword(
            state, remembered: remembered.factor(in: submission.request, of: user, now: submission.now),
            isRequired: isRequired, hasPasskey: hasPasskey, mustChange: user.mustChangePassword)
        func pending(_ step: PendingSignIn.Step) -> PendingSignIn {
            PendingSignIn(
                of: user, at: submission.now, staysSignedIn: typed.staysSignedIn,
                canCreatePasskey: typed.canCreatePasskey, step: step)
        }
        switch step {
        case .session:
            var proof = Proof(.password(passwordHash), staysSignedIn: typed.staysSignedIn)
            proof.canCreatePasskey = typed.canCreatePasskey
            return try await begin(submission, for: user, by: proof, at: client, else: .wrong(typed))
        case .rememberedSession(let factor):
            var proof = Proof(
                .twoFactors(passwordHash, .remembered(factor)), staysSignedIn: typed.staysSignedIn,
                note: "second factor: remembered browser")
            proof.canCreatePasskey = typed.canCreatePasskey
            return try await begin(submission, for: user, by: proof, at: client, else: .wrong(typed))
        case .code:
            await refuse(submission, user, because: .secondFactorAsked, "password accepted, code asked", at: client)
            let keys = try await secondFactors.keys(of: user)
            return .again(.secondStep(SecondStep(of: user, pending(.code), accepting: keys)))
        case .newPassword:
            await auditor.refuse(
                .signIn, because: .newPasswordNeeded, submission.request, user: user.id, client: client,
                now: submission.now)
            return .again(.newPassword(NewPasswordStep(of: user, pending(.newPassword(nil)))))
        case .setup:
            await refuse(submission, user, because: .secondFactorAsked, "password accepted, setup asked", at: client)
            return .again(.secondStep(SecondStep(of: user, pending(.setup), settingUp: secondFactors.newSecret())))
        case .passkey:
            await refuse(submission, user, because: .secondFactorAsked, "password accepted, passkey asked", at: client)
            return .again(.passkeyNeeded(typed))
        case .refusal:
            secondFactors.reportLoss(of: user)
            await refuse(submission, user, "the record of the second factor is missing", at: client)
            return .again(.secondFactorLost(typed))
        }
    }

    private func hasPasskey(_ user: User) async throws -> Bool {
        guard PasskeyCeremonies(settings.issuer) != nil else { return false }
        return try await !passkeys.store.passkeys(of: user.id).isEmpty
    }

    private func refuse(
        _ submission: Submission, _ user: User, because reason: AuditEvent.Reason = .secondFactor, _ detail: String,
        at client: ClientIdentifier?
    ) async {
        await auditor.refuse(
            .signIn, because: reason, submission.request, user: user.id, client: client, detail: detail,
            now: submission.now)
    }

    /// Verifies the code or the key on the page after the password, and begins the session.
    func continueSignIn(
        _ submission: Submission, field: String, at client: ClientIdentifier?
    ) async throws -> Outcome {
        let (form, request, now) = (submission.form, submission.request, submission.now)
        let context = pendingContext(of: submission.pendingRequest, in: browser(of: request))
        guard let pending = PendingSignIn(field: field, of: context, keys: pendingSignIns, now: now),
            let user = try await users.store.user(pending.user), let passwordHash = pending.passwordHash(of: user),
            try await isSessionLeft(of: pending, in: request, now: now)
        else { return .again(.tooLate) }
        if case .newPassword(let use) = pending.step {
            return try await choosePassword(
                NewPasswordStep(of: user, pending), by: .formerPassword(use), submission, at: client)
        }
        let code = try form.value(Self.codeField)
        let setup = try form.value("setup")
        guard setup.isEmpty != (pending.step == .setup) else { return .again(.tooLate) }
        guard setup.isEmpty else {
            guard let secret = secondFactors.secret(on: setup, of: user, now: now) else { return .again(.tooLate) }
            return try await setUp(
                SecondStep(of: user, pending, settingUp: secret), after: passwordHash, submission, at: client)
        }
        let step = SecondStep(of: user, pending, accepting: try await secondFactors.keys(of: user))
        let key = try form.value(Self.passkeyField)
        let answer: SecondFactorAnswer =
            key.isEmpty ? SecondFactorAnswer(typed: code) : .key(key, ticket: try form.value("ticket"))
        switch try await secondFactors.verify(answer, of: user, in: request, now: now) {
        case .refused(let cause, let message):
            await auditor.refuse(.signIn, because: cause, of: request, client: client, now: now)
            return step.again(message)
        case .tooEarly(let seconds, let cause):
            await auditor.refuse(.throttled, because: cause, of: request, client: client, now: now)
            return step.again(.tooMany, retryAfter: seconds)
        case .proved(let use, let factor, let note):
            guard !user.mustChangePassword else {
                // In a session, the password was not verified.
                guard pending.sessionSince == nil else { return .again(.tooLate) }
                let next = PendingSignIn(
                    of: user, at: now, staysSignedIn: pending.staysSignedIn, step: .newPassword(use))
                return .again(.newPassword(NewPasswordStep(of: user, next)))
            }
            var proof = Proof(.twoFactors(passwordHash, use), staysSignedIn: pending.staysSignedIn, note: note)
            if case .recoveryCode = use { proof.change = .recoveryCodeUsed }
            proof.sessionSince = pending.sessionSince
            proof.canCreatePasskey = pending.canCreatePasskey
            if try form.value("remember") == "true" {
                proof.cookies = [remembered.remember(user, with: factor.digest, now: now)].compactMap(\.self)
            }
            var again = step
            // The code or the challenge was used in another tab.
            again.problem = key.isEmpty ? .used : .wrongKey
            return try await begin(
                submission, for: user, by: proof, at: client, else: .secondStep(again), because: .secondFactor)
        }
    }

    private func setUp(
        _ step: SecondStep, after passwordHash: PasswordHash, _ submission: Submission, at client: ClientIdentifier?
    ) async throws -> Outcome {
        let (user, now) = (step.user, submission.now)
        // The policy, or the user elsewhere, may have changed this since the password.
        guard settings.secondFactor.isRequired(of: user), try await !hasPasskey(user) else { return .again(.tooLate) }
        let setup: SecondFactors.Setup
        do { setup = try confirmedSetup(step, submission) } catch let refusal as CodeMessage {
            return step.again(refusal)
        } catch let refusal as CeremonyRefusal {
            await refuse(submission, user, "\(refusal)", at: client)
            return step.again(.keyRefused)
        }
        let use = SecondFactorUse.setup(setup.factor, recoveryCodes: setup.digests, key: setup.key)
        var proof = Proof(.twoFactors(passwordHash, use), staysSignedIn: step.pending.staysSignedIn)
        proof.note = "second factor: set up"
        proof.sessionSince = step.pending.sessionSince
        proof.events = [
            try await auditor.event(of: .secondFactorSetUp, to: user, by: submission.request, now: now)
        ]
        proof.recoveryCodes = setup.recoveryCodes
        return try await begin(submission, for: user, by: proof, at: client, else: .tooLate)
    }

    /// Returns the second factor that the user has confirmed by a code of the app, or by the security key itself.
    private func confirmedSetup(_ step: SecondStep, _ submission: Submission) throws -> SecondFactors.Setup {
        let (form, user, now) = (submission.form, step.user, submission.now)
        let key = try form.value(Self.passkeyField)
        guard key.isEmpty else {
            guard let ceremonies = PasskeyCeremonies(settings.issuer) else { throw NotFoundError() }
            let words = submission.request.words
            let passkey = try ceremonies.newPasskey(
                key, answering: try form.value("ticket"), isSecurityKey: true, of: user,
                naming: { $0 ?? words(SecondFactorLabel.key) }, now: now)
            return try secondFactors.setup(passkey, of: user, now: now)
        }
        let code = try form.value(Self.codeField)
        guard let secret = step.setup, let setup = try secondFactors.confirm(secret, by: code, of: user, now: now)
        else { throw CodeMessage.unconfirmed }
        return setup
    }

    /// Returns true unless a signed-in user was to confirm, and has signed out meanwhile.
    private func isSessionLeft(
        of pending: PendingSignIn, in request: IncomingRequest, now: Date
    ) async throws -> Bool {
        guard pending.sessionSince != nil else { return true }
        return try await sessions.current(request, now: now)?.user.id == pending.user
    }

    /// The browser and the request to which a pending sign-in is bound.
    func pendingContext(of pendingRequest: String, in browser: BrowserToken?) -> [UInt8] {
        Array("\(purpose.rawValue)\0\(browser?.exposed ?? "")\0\(pendingRequest)".utf8)
    }

    /// Returns the page that asks for a code, or on which the second factor is set up.
    func page(_ step: SecondStep, _ content: Content, on request: IncomingRequest, now: Date) throws -> Reply {
        let (browser, cookie) = browserToken(of: request)
        let pending = try step.pending.field(
            of: pendingContext(of: content.pendingRequest, in: browser), keys: pendingSignIns)
        let ticket = ticket(for: content.pendingRequest, in: browser, now: now)
        let status: HTTPResponse.Status =
            step.problem == nil ? .ok : step.retryAfter == nil ? .badRequest : .tooManyRequests
        let problem = step.problem.map { request.words($0) }
        let action = settings.issuer.path + endpoint.path
        var reply: Reply
        if let secret = step.setup {
            let offer = AuthenticatorOffer(
                secret, issuer: settings.siteName, name: step.user.username.rawValue,
                setup: try secondFactors.seal(secret, for: step.user, now: now))
            reply = Reply(
                status,
                .page(
                    CodeSetupPage(
                        userDisplayName: DisplayName(of: step.user), action: action, request: content.pendingRequest,
                        ticket: ticket, pending: pending, problem: problem, offer: offer,
                        keyOptions: PasskeyCeremonies(settings.issuer)?.securityKeyOptions(
                            for: step.user, with: [], siteName: settings.siteName.description, answering: ticket))))
        } else {
            reply = Reply(
                status,
                .page(
                    CodePage(
                        userDisplayName: DisplayName(of: step.user), action: action, request: content.pendingRequest,
                        ticket: ticket, pending: pending, problem: problem, retryAfterSeconds: step.retryAfter,
                        memory: remembered.label.map { request.words($0) },
                        keyOptions: step.keys.all.isEmpty
                            ? nil
                            : PasskeyCeremonies(settings.issuer)?.requestOptions(
                                answering: ticket, of: step.keys.all, asSecondFactor: true),
                        keyLabel: step.keys.label.map { request.words($0) }, hasApp: step.keys.hasApp,
                        isConfirming: step.pending.sessionSince != nil)))
        }
        if let retryAfter = step.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(cookie)
    }
}

extension Reply {
    /// Returns the page with new recovery codes that leads to the target of this redirect; without codes, the redirect.
    package func showing(_ codes: [RecoveryCode]) -> Reply {
        guard !codes.isEmpty, let next = fields[.location] else { return self }
        return Reply(.ok, .page(RecoveryCodesPage(codes: codes.map(\.exposed), next: next)))
    }
}
