package import CounterfoilProtocol
import CounterfoilStore
package import Foundation
import HTTPTypes

/// The sign-in form that several pages share.
///
/// It checks the ticket of a posted form (the token against cross-site request forgery) and verifies the credentials
/// within the rate limits of ``SignIn``. It then records the attempt in the audit log and begins the session. Each
/// endpoint provides the page around the form and the step after the sign-in.
package struct SignInForm: Sendable {
    /// The endpoint that the form is posted to.
    let endpoint: Endpoint
    /// The purpose in each form ticket, so that a ticket from one page is never accepted at another page.
    let purpose: Ticket.Purpose
    let settings: ServerSettings
    let users: SignIn
    let passkeys: PasskeySignIn
    let secondFactors: SecondFactors
    let remembered: RememberedBrowsers
    /// The keys that encrypt a sign-in that waits for the second factor.
    let pendingSignIns: DerivedKeys
    let sessions: SessionManager
    let tickets: TicketAuthority
    let earlierSignIns: EarlierSignIns
    let auditor: Auditor
    let random: RandomBytes
    let links: any UserLinkStore
    /// Whether the page leads to ``Endpoint/recovery``.
    let offersRecovery: Bool

    /// A posted form with a valid ticket.
    package struct Submission: Sendable {
        let form: PageForm
        /// The value of the hidden field `request`; the ticket is valid only together with this value.
        package let pendingRequest: String
        let request: IncomingRequest
        let now: Date
    }

    package enum Outcome: Sendable {
        /// The page is shown again, for the given reason.
        case again(Again)
        /// The user is signed in; the response must set the cookies, and show the codes if there are any.
        ///
        /// `canCreatePasskey` says that the user has signed in with a password in a browser that can create a passkey.
        case signedIn(LiveSession, cookies: [String], recoveryCodes: [RecoveryCode], canCreatePasskey: Bool)
    }

    /// The reason why the page is shown again.
    package enum Again: Sendable {
        /// The user chose to delete the hint about the earlier sign-in.
        case forgotten
        /// The user is unknown, the password is wrong, the account has had too many failures, or it is disabled or
        /// was changed during the sign-in.
        case wrong(Typed)
        /// The passkey does not sign in here; `unknown` is its credential ID if no user has it.
        case wrongPasskey(Typed, unknown: String?)
        /// There were too many failures, and the password was not verified; `retryAfter` is the time to wait, in
        /// seconds.
        case tooEarly(Typed, retryAfter: Int)
        /// The password is right, and the second factor is missing.
        case secondStep(SecondStep)
        /// The password is right, and the user must choose another one.
        case newPassword(NewPasswordStep)
        /// The password is right, but the policy requires more, and the user has a passkey.
        case passkeyNeeded(Typed)
        /// The password is right, but the second factor of the user is lost.
        case secondFactorLost(Typed)
        /// The page after the password was open for too long, or the account has changed meanwhile.
        case tooLate
    }

    /// The proof with which a session begins, and what belongs to the commit and to its response.
    struct Proof: Sendable {
        let proof: SignInProof
        let staysSignedIn: Bool
        /// The detail of the sign-in for the audit log.
        var note: String?
        /// The change of which the user gets a notice; its detail is the ``note``.
        var change: AccountChange?
        /// The time of the sign-in if it only becomes stronger; nil for a new one.
        var sessionSince: Date?
        /// Further events of the commit.
        var events: [AuditEvent] = []
        /// Further cookies of the response.
        var cookies: [String] = []
        var recoveryCodes: [RecoveryCode] = []
        /// Whether the browser can create a passkey, as ``Typed/canCreatePasskey``.
        var canCreatePasskey = false

        init(_ proof: SignInProof, staysSignedIn: Bool, note: String? = nil) {
            self.proof = proof
            self.staysSignedIn = staysSignedIn
            self.note = note
        }
    }

    /// The values that the user entered, which the page keeps when it is shown again; the password is not kept.
    package struct Typed: Sendable {
        /// The username or email address.
        let name: String
        /// Whether the box "Keep me signed in on this device" was ticked.
        var staysSignedIn: Bool
        /// Whether the browser can create a passkey on this device, as the script of the page has found.
        var canCreatePasskey = false
    }

    /// The field in which the script of the page posts the answer of the browser
    /// (WebAuthn §5.1, `AuthenticationResponseJSON`).
    static let passkeyField = "passkey"
    /// The hidden field of the page on which a signed-in user confirms; its value is `true`.
    static let stepUpField = "step_up"
    /// The hidden field that the script of the page sets to `true` in a browser that can create a passkey on this
    /// device.
    static let canCreatePasskeyField = "can_create_passkey"
    /// The checkbox "Keep me signed in on this device"; it posts `stay_signed_in=true`.
    static let stayField = "stay_signed_in"

    /// Reads a posted form and checks its ticket.
    ///
    /// - Parameter address: Returns the URL of the page for the value of the hidden field `request`.
    package func receive(
        _ request: IncomingRequest, now: Date, at address: (_ pendingRequest: String) -> String
    ) throws(PageProblem) -> Submission {
        let form = try PageForm(request, issuer: settings.issuer)
        let pendingRequest = try form.value("request")
        guard let browser = browser(of: request) else { throw .cookiesMissing(again: address(pendingRequest)) }
        try form.checkTicket(purpose, of: browser.exposed, with: tickets, again: address(pendingRequest), now: now)
        return Submission(form: form, pendingRequest: pendingRequest, request: request, now: now)
    }

    /// Verifies the credentials in a form and begins a session.
    ///
    /// If the form contains `forget=true`, the method only deletes the hint about the earlier sign-in.
    ///
    /// - Parameters:
    ///   - submission: The form with its checked ticket.
    ///   - client: The client that the user signs in to, for the audit log; nil if the user signs in to this
    ///     server itself.
    package func attempt(_ submission: Submission, for client: ClientIdentifier? = nil) async throws -> Outcome {
        let (form, request, now) = (submission.form, submission.request, submission.now)
        if try form.value("forget") == "true" { return .again(.forgotten) }
        let pending = try form.value(Self.pendingField)
        guard pending.isEmpty else { return try await continueSignIn(submission, field: pending, at: client) }
        let typed = Typed(
            name: try form.value("username"), staysSignedIn: try form.value(Self.stayField) == "true",
            canCreatePasskey: try form.value(Self.canCreatePasskeyField) == "true")
        let answer = try form.value(Self.passkeyField)
        guard answer.isEmpty else {
            return try await attempt(submission, answering: answer, typed: typed, for: client)
        }
        let outcome = try await users.attempt(
            name: typed.name, password: try form.value("password"), in: request, now: now)
        switch outcome {
        case .refused(let cause):
            await auditor.refuse(.signIn, because: cause, of: request, client: client, now: now)
            return .again(.wrong(typed))
        case .tooEarly(let seconds, let cause):
            await auditor.refuse(.throttled, because: cause, of: request, client: client, now: now)
            return .again(.tooEarly(typed, retryAfter: seconds))
        case .signedIn(let user):
            return try await continueAfterPassword(submission, of: user, typed: typed, at: client)
        }
    }

    private func attempt(
        _ submission: Submission, answering answer: String, typed: Typed, for client: ClientIdentifier?
    ) async throws -> Outcome {
        let (request, now) = (submission.request, submission.now)
        let confirming = try await confirmed(submission)
        let outcome = try await passkeys.attempt(
            answer, answering: try submission.form.value("ticket"), confirming: confirming?.user.id, in: request,
            now: now)
        switch outcome {
        case .unknown(let credentialID):
            let cause = SignIn.Cause(reason: .passkey, user: nil, detail: "no user has this passkey")
            await auditor.refuse(.signIn, because: cause, of: request, client: client, now: now)
            return .again(.wrongPasskey(typed, unknown: credentialID))
        case .refused(let cause):
            await auditor.refuse(.signIn, because: cause, of: request, client: client, now: now)
            return .again(.wrongPasskey(typed, unknown: nil))
        case .tooEarly(let seconds, let cause):
            await auditor.refuse(.throttled, because: cause, of: request, client: client, now: now)
            return .again(.tooEarly(typed, retryAfter: seconds))
        case .signedIn(let user, let use, let note):
            var typed = typed
            // The page of a confirmation has no box, so the session keeps its cookie.
            if let confirming, confirming.user.id == user.id { typed.staysSignedIn = confirming.isPersistent }
            return try await begin(
                submission, for: user, by: Proof(.passkey(use), staysSignedIn: typed.staysSignedIn, note: note),
                at: client, else: .wrongPasskey(typed, unknown: nil))
        }
    }

    /// Returns the session that the form confirms; nil for a form that signs in.
    func confirmed(_ submission: Submission) async throws -> LiveSession? {
        guard try submission.form.value(Self.stepUpField) == "true" else { return nil }
        return try await sessions.current(submission.request, now: submission.now)
    }

    /// Begins a session; returns `again` if the account has changed since the proof was verified.
    func begin(
        _ submission: Submission, for user: User, by proof: Proof, at client: ClientIdentifier?, else again: Again,
        because reason: AuditEvent.Reason? = nil
    ) async throws -> Outcome {
        let (request, now) = (submission.request, submission.now)
        let event =
            if let change = proof.change {
                try await auditor.event(of: change, to: user, by: request, client: client, now: now)
            } else {
                auditor.event(.signIn, by: request, user: user.id, client: client, detail: proof.note, now: now)
            }
        let begun = try await sessions.begin(
            for: user, proving: proof.proof, replacing: request, since: proof.sessionSince ?? now,
            stayingSignedIn: proof.staysSignedIn, recording: [event] + proof.events, now: now)
        let (session, cookie): (LiveSession, String)
        switch begun {
        case .begun(let live, let value): (session, cookie) = (live, value)
        case .refused(let general, let detail):
            await auditor.refuse(
                .signIn, because: reason ?? general, request, user: user.id, client: client, detail: detail, now: now)
            return .again(again)
        }
        let remembered = await users.remember(session, in: request, now: now)
        let cookies = [cookie, remembered].compactMap(\.self) + proof.cookies
        return .signedIn(
            session, cookies: cookies, recoveryCodes: proof.recoveryCodes, canCreatePasskey: proof.canCreatePasskey)
    }

    /// The form with which a user creates a first passkey after the sign-in.
    package var passkeyOffers: PasskeyOfferForm {
        PasskeyOfferForm(
            settings: settings, store: secondFactors.store, tickets: tickets, auditor: auditor, random: random)
    }

    /// Returns the token of the browser cookie, which binds forms to the browser before a sign-in.
    func browser(of request: IncomingRequest) -> BrowserToken? {
        request.cookie(sessions.cookies.browserName).flatMap(BrowserToken.init)
    }

    /// Returns the token of the browser cookie, or a new one with the cookie that the reply must set.
    func browserToken(of request: IncomingRequest) -> (token: BrowserToken, cookie: String?) {
        if let known = browser(of: request) { return (known, nil) }
        let token = BrowserToken(random: random)
        return (token, sessions.cookies.browser(token))
    }
}
