import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension SignInForm {
    /// The page of a sign-in on which a user chooses another password, after the former one and the second factor.
    package struct NewPasswordStep: Sendable {
        let user: User
        let pending: PendingSignIn
        var problem: Password.Refusal?

        init(of user: User, _ pending: PendingSignIn) {
            self.user = user
            self.pending = pending
        }
    }

    /// Sets the password that the user has chosen in place of the former one, and begins the session.
    func choosePassword(
        _ step: NewPasswordStep, by permission: PasswordReset.Permission, _ submission: Submission,
        at client: ClientIdentifier?
    ) async throws -> Outcome {
        let password: Password
        do {
            password = try Self.password(
                try submission.form.value("password"), of: step.user, host: settings.issuer.host)
            let party = users.hasher.party(
                of: step.user.username.rawValue, from: submission.request.countedSource(settings.issuer))
            guard try await users.hasher.verify(password, against: step.user.passwordHash, for: party) == nil else {
                throw Password.Refusal.sameAsFormer
            }
        } catch let refusal as Password.Refusal {
            var again = step
            again.problem = refusal
            return .again(.newPassword(again))
        }
        let reset = Reset(
            permission: permission, way: .password(password), staysSignedIn: step.pending.staysSignedIn,
            change: .passwordChosen)
        return try await self.reset(reset, of: step.user, submission, at: client) ?? .again(.tooLate)
    }

    static func password(_ typed: String, of user: User, host: String?) throws(Password.Refusal) -> Password {
        try Password(
            choosing: typed, for: user.username, email: user.email, displayName: user.displayName, host: host)
    }

    /// A new password that a user may set without a session, or a passkey in place of it.
    struct Reset: Sendable {
        /// The new way in.
        enum Way: Sendable {
            case password(Password)
            case passkey(Passkey)
        }

        let permission: PasswordReset.Permission
        let way: Way
        var staysSignedIn = false
        /// The change for the audit log and the notice.
        let change: AccountChange
    }

    /// Sets a new password, which ends every session of the user, and continues as after that password.
    ///
    /// A second factor that was proved for the change is not asked for again.
    ///
    /// - Returns: Nil if the permission was used, or the account has changed since it was verified.
    func reset(
        _ reset: Reset, of user: User, _ submission: Submission, at client: ClientIdentifier? = nil
    ) async throws -> Outcome? {
        let (request, now) = (submission.request, submission.now)
        var renewed = user
        let replacement: PasswordReset.Replacement
        switch reset.way {
        case .password(let password):
            let hash = try await users.hasher.hash(password)
            renewed.passwordHash = hash
            replacement = .password(hash)
        case .passkey(let passkey):
            renewed.passwordHash = nil
            replacement = .passkey(passkey)
        }
        renewed.mustChangePassword = false
        let event = try await auditor.event(of: reset.change, to: user, by: request, client: client, now: now)
        let outcome = try await links.resetPassword(
            PasswordReset(of: user, by: reset.permission, to: replacement), at: now, recording: [event])
        switch outcome {
        case .reset: auditor.countRecorded(event)
        case .permissionOutdated, .userNotActive:
            await auditor.refuse(
                .passwordChange, because: .accountChanged, request, user: user.id, client: client, now: now)
            return nil
        }
        let typed = Typed(name: user.username.rawValue, staysSignedIn: reset.staysSignedIn)
        guard let methods = reset.methods else {
            return try await continueAfterPassword(submission, of: renewed, typed: typed, at: client)
        }
        var proof = Proof(
            .continued(renewed.passwordHash, methods), staysSignedIn: reset.staysSignedIn,
            note: reset.change.kind == .passkey ? "after a new passkey" : "after a new password")
        if reset.permission.usesRecoveryCode { proof.change = .recoveryCodeUsed }
        return try await begin(submission, for: renewed, by: proof, at: client, else: .tooLate)
    }

    /// Returns the page on which a user chooses another password.
    func page(
        _ step: NewPasswordStep, _ content: Content, on request: IncomingRequest, now: Date
    ) throws -> Reply {
        let (browser, cookie) = browserToken(of: request)
        let pending = try step.pending.field(
            of: pendingContext(of: content.pendingRequest, in: browser), keys: pendingSignIns)
        var page = NewPasswordPage(
            userDisplayName: DisplayName(of: step.user), username: step.user.username.rawValue,
            action: settings.issuer.path + endpoint.path, request: content.pendingRequest,
            ticket: ticket(for: content.pendingRequest, in: browser, now: now), state: .pending(pending))
        page.problem = step.problem.map { request.words($0) }
        return Reply(step.problem == nil ? .ok : .badRequest, .page(page)).setting(cookie)
    }

    /// Returns a ticket for a page of this form.
    func ticket(for pendingRequest: String, in browser: BrowserToken, now: Date) -> String {
        tickets.issue(
            purpose, to: browser.exposed, request: pendingRequest, interaction: InteractionIdentifier(random: random),
            expires: settings.pageEnd(from: now))
    }
}

extension SignInForm.Reset {
    /// The methods of the session that follows; nil if the sign-in continues as after a password.
    fileprivate var methods: AuthenticationMethods? {
        // The registration has verified the user.
        if case .passkey = way { [.passkey] } else { permission.methods }
    }
}

extension PasswordReset.Permission {
    /// Whether a recovery code has proved the second factor.
    fileprivate var usesRecoveryCode: Bool {
        switch self {
        case .link(_, .recoveryCode), .formerPassword(.recoveryCode): true
        case .link, .formerPassword, .recoveryCode, .operator: false
        }
    }

    /// The methods of the session that follows; nil if the sign-in continues as after a password.
    ///
    /// A recovery code alone stands for the forgotten password, so it is not the second factor as well.
    fileprivate var methods: AuthenticationMethods? {
        switch self {
        case .link(_, let use), .formerPassword(let use):
            switch use {
            case .code: [.password, .code]
            case .recoveryCode: [.password, .recoveryCode]
            case .key: [.password, .securityKey]
            case .remembered, .confirmed, .setup, nil: nil
            }
        case .recoveryCode, .operator: nil
        }
    }
}
