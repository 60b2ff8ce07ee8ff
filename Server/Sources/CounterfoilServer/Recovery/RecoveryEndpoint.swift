import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes
import WebAuthn

/// The endpoint `/recover`: the way back into an account for a user who has forgotten the password.
///
/// The user asks for a mail with a link, or sets a password with a recovery code. The link in the mail, and that of an
/// operator, lead here, too. Opening a link changes nothing, because mail programs and virus scanners open links.
struct RecoveryEndpoint: Sendable {
    let settings: ServerSettings
    let form: SignInForm
    let destinations: RecoveryDestinations
    /// The queue of mails; nil if no mail is set up.
    let mails: MailQueue?
    let attempts: AttemptCounter
    let auditor: Auditor

    private static let tokenField = "token"

    var handlers: [EndpointHandler] { [EndpointHandler(.recovery, of: destinations.flow, respond)] }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        switch request.head.method {
        case .post: try await receive(request, now: now)
        default: .page(try await show(request, now: now))
        }
    }

    private func show(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let query = try? FormParameters(parsing: request.query)
        guard let token = try? query?.single(Self.tokenField) else {
            return try page("", on: request, now: now)
        }
        let facts = try await facts(of: token, in: request, now: now)
        return try await page(facts, token: token, on: request, now: now)
    }

    private func receive(_ request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let begun = try PageForm(request, issuer: settings.issuer)
        if try begun.value("decision") == RecoveryPage.Decision.begin.rawValue {
            return .page(try page(destinations.canonical(try begun.value("destination")), on: request, now: now))
        }
        let submission = try form.receive(request, now: now) { _ in path }
        guard try submission.form.value(SignInForm.pendingField).isEmpty else {
            return try await finish(try await form.attempt(submission), of: submission)
        }
        let token = try submission.form.value(Self.tokenField)
        guard token.isEmpty else { return try await useLink(token, submission) }
        switch RecoveryPage.Decision(rawValue: try submission.form.value("decision")) {
        case .mail: return .page(try await sendMail(submission))
        case .code: return try await useRecoveryCode(submission)
        case .begin, nil: throw PageProblem.noDecision
        }
    }

    private var path: String { settings.issuer.path + Endpoint.recovery.path }

    /// Whether a user can get back without a link of an operator.
    private var isOffered: Bool { mails != nil || settings.secondFactor != .off }

    /// The path to which the page about a link that does not work leads.
    private var newLink: String { isOffered ? path : settings.issuer.path + destinations.pages.home.path }

    /// Returns what follows a new password: the page at which the sign-in continues, or a further step.
    private func finish(
        _ outcome: SignInForm.Outcome, of submission: SignInForm.Submission
    ) async throws -> AuthorizationOutcome {
        let (destination, request, now) = (submission.pendingRequest, submission.request, submission.now)
        switch outcome {
        case .signedIn(let session, let cookies, let codes, _):
            guard codes.isEmpty else {
                // The user writes the codes down first.
                let next = destinations.redirect(
                    to: destination, as: session, within: PendingSignIn.lifetime, now: now)
                return .page(next.showing(codes).setting(cookies))
            }
            return await destinations.proceed(to: destination, as: session, in: request, now: now).setting(cookies)
        case .again(.secondStep), .again(.newPassword):
            guard case .again(let again) = outcome else { break }
            return .page(
                try form.page(
                    SignInForm.Content(pendingRequest: destination, openInBrowserLink: nil), again: again,
                    on: request, now: now))
        // The user signs in with the new password, or with a passkey if that does not suffice.
        case .again: break
        }
        return await destinations.proceed(to: destination, as: nil, in: request, now: now)
    }
}

// MARK: - Links

extension RecoveryEndpoint {
    /// Returns a valid link with its user.
    private func facts(of token: String, in request: IncomingRequest, now: Date) async throws -> UserLinkFacts {
        guard let secret = MailLinkSecret(token),
            let facts = try await form.links.userLink(ArtefactDigest(ofUserLink: secret)),
            now < facts.link.expires, facts.user.disabledAt == nil
        else { throw RecoveryProblem.linkOver(again: newLink) }
        if case .mail(let asked) = facts.link.origin {
            guard facts.user.email == asked.email else { throw RecoveryProblem.linkOver(again: newLink) }
            guard let browser = form.browser(of: request),
                ConstantTime.equals(ArtefactDigest(ofBrowser: browser.exposed).bytes, asked.browser.bytes)
            else { throw RecoveryProblem.otherBrowser(again: newLink) }
        }
        return facts
    }

    private func useLink(
        _ token: String, _ submission: SignInForm.Submission
    ) async throws -> AuthorizationOutcome {
        let (request, now) = (submission.request, submission.now)
        let facts = try await facts(of: token, in: request, now: now)
        // The link decides at which page the sign-in continues.
        guard submission.pendingRequest == facts.destination else { throw RecoveryProblem.linkOver(again: newLink) }
        let user = facts.user
        let answer = try await secondFactorAnswer(of: user, submission)
        let way: SignInForm.Reset.Way
        do {
            way = try await newWay(of: user, submission, answer)
        } catch let refusal as Password.Refusal {
            return .page(
                try await page(facts, token: token, on: request, now: now) { $0.problem = request.words(refusal) })
        } catch let refusal as RecoveryMessage {
            return .page(
                try await page(facts, token: token, on: request, now: now) { $0.problem = request.words(refusal) })
        } catch let refusal as CeremonyRefusal {
            await auditor.refuse(.passkey, because: .passkey, request, user: user.id, detail: "\(refusal)", now: now)
            return .page(
                try await page(facts, token: token, on: request, now: now) {
                    $0.problem = request.words(RecoveryMessage.passkeyRefused)
                })
        }
        var use: SecondFactorUse?
        if try await form.secondFactors.store.secondFactor(of: user.id) != .none {
            switch try await form.secondFactors.verify(answer, of: user, in: request, now: now) {
            case .proved(let proof, _, _): use = proof
            case .refused(let cause, let message):
                await auditor.refuse(.passwordChange, because: cause, of: request, now: now)
                return .page(
                    try await page(facts, token: token, on: request, now: now) {
                        ($0.problem, $0.wrongField) = (request.words(message), .code)
                    })
            case .tooEarly(let seconds, let cause):
                await auditor.refuse(.throttled, because: cause, of: request, now: now)
                return .page(
                    try await page(facts, token: token, on: request, now: now) {
                        ($0.problem, $0.wrongField) = (request.words(CodeMessage.tooMany), .code)
                        $0.retryAfterSeconds = seconds
                    })
            }
        }
        let change: AccountChange = if case .passkey = way { .passkeyAddedByLink } else { facts.link.origin.change }
        let reset = SignInForm.Reset(permission: .link(facts.link.digest, use), way: way, change: change)
        guard let outcome = try await form.reset(reset, of: user, submission) else {
            throw RecoveryProblem.linkOver(again: newLink)
        }
        return try await finish(outcome, of: submission)
    }

    /// Reads the proof of the second factor: a code, or without an app a security key or a passkey.
    private func secondFactorAnswer(
        of user: User, _ submission: SignInForm.Submission
    ) async throws -> SecondFactorAnswer {
        let key = try submission.form.value(SignInForm.passkeyField)
        if !key.isEmpty, try await !form.secondFactors.keys(of: user).hasApp {
            return .key(key, ticket: try submission.form.value("ticket"))
        }
        return SecondFactorAnswer(typed: try submission.form.value(SignInForm.codeField))
    }

    /// Reads the new password, or the new passkey if the answer of the browser does not prove the second factor.
    private func newWay(
        of user: User, _ submission: SignInForm.Submission, _ proof: SecondFactorAnswer
    ) async throws -> SignInForm.Reset.Way {
        var answer = try submission.form.value(SignInForm.passkeyField)
        if case .key = proof { answer = "" }
        guard !answer.isEmpty else {
            return .password(
                try SignInForm.password(
                    try submission.form.value("password"), of: user, host: settings.issuer.host))
        }
        guard let ceremonies = PasskeyCeremonies(settings.issuer) else { throw NotFoundError() }
        guard try await form.passkeys.store.passkeys(of: user.id).count < Passkey.limitPerUser else {
            throw RecoveryMessage.tooManyPasskeys
        }
        let userAgent = submission.request.head.headerFields[.userAgent] ?? ""
        return .passkey(
            try ceremonies.newPasskey(
                answer, answering: try submission.form.value("ticket"), of: user,
                naming: { $0 ?? submission.request.words(Device(userAgent: userAgent).text) }, now: submission.now))
    }

    private func page(
        _ facts: UserLinkFacts, token: String, on request: IncomingRequest, now: Date,
        with change: (inout NewPasswordPage) -> Void = { _ in }
    ) async throws -> Reply {
        let (browser, cookie) = form.browserToken(of: request)
        var page = NewPasswordPage(
            userDisplayName: DisplayName(of: facts.user), username: facts.user.username.rawValue, action: path,
            request: facts.destination, ticket: form.ticket(for: facts.destination, in: browser, now: now),
            state: .link(token),
            asksForCode: try await form.secondFactors.store.secondFactor(of: facts.user.id) != .none)
        let keys = try await form.secondFactors.keys(of: facts.user)
        page.hasApp = keys.hasApp
        let passkeys = try await form.passkeys.store.passkeys(of: facts.user.id)
        if !keys.hasApp {
            page.keyLabel = keys.label.map { request.words($0) }
            page.keyOptions = keys.label.flatMap { _ in
                PasskeyCeremonies(settings.issuer)?.requestOptions(
                    answering: page.ticket, of: keys.all, asSecondFactor: true)
            }
        } else if let ceremonies = PasskeyCeremonies(settings.issuer), passkeys.count < Passkey.limitPerUser {
            page.passkeyOptions = ceremonies.creationOptions(
                for: facts.user, with: passkeys, siteName: settings.siteName.description, answering: page.ticket)
        }
        change(&page)
        return reply(page, problem: page.problem, retryAfter: page.retryAfterSeconds).setting(cookie)
    }

    private func reply(_ page: some Page, problem: String?, retryAfter: Int?) -> Reply {
        let status: HTTPResponse.Status =
            problem == nil ? .ok : retryAfter == nil ? .badRequest : .tooManyRequests
        return Reply(status, .page(page), fields: retryAfter.map { [.retryAfter: String($0)] } ?? [:])
    }
}

// MARK: - Without a link

extension RecoveryEndpoint {
    /// Sends a mail with a link, if there is such an account with an address.
    ///
    /// The page, its status and the number of commits are the same for every name. A request that sends nothing makes
    /// the one commit with its audit event, or with an attempt that counts nowhere.
    private func sendMail(_ submission: SignInForm.Submission) async throws -> Reply {
        guard let mails else { throw NotFoundError() }
        let (request, now) = (submission.request, submission.now)
        guard let browser = form.browser(of: request) else { throw PageProblem.cookiesMissing(again: path) }
        let name = try submission.form.value("name").asTypedName()
        let user = try await form.users.user(named: name)
        let event = auditor.event(
            .account, by: request, user: user?.id, detail: "sent a link for a new password", now: now
        ).named(.userLinkCreated)
        do {
            let outcome = try await mails.sendRecovery(
                to: user, named: name, knownIn: form.earlierSignIns.browser(in: request, of: user),
                askingIn: ArtefactDigest(ofBrowser: browser.exposed),
                continuingAt: submission.pendingRequest, for: request, now: now, recording: event)
            switch outcome {
            case .queued: auditor.countRecorded(event)
            case .refused(let cause): await note(cause, named: name, in: request, now: now)
            }
        } catch let limit as MailQueue.TooMany {
            await auditor.refuse(.throttled, because: limit.cause, request, detail: "mail with a link", now: now)
            return try again(.mail, SignInMessage.tooManyAttempts, retryAfter: limit.retryAfter, submission)
        }
        let lifetime = LocalizedText.duration(seconds: MailKind.recovery.linkLifetime)
        return Reply(.ok, .page(RecoverySentPage(lifetime: request.words(lifetime))))
    }

    private func note(_ cause: SignIn.Cause, named name: String, in request: IncomingRequest, now: Date) async {
        let event = auditor.event(
            .account, because: cause.reason, by: request, user: cause.user,
            detail: ["link for a new password", cause.detail].compactMap(\.self).joined(separator: ", "), now: now)
        guard await !auditor.noteConcealed(event) else { return }
        let decoy = CountedKey(
            attempts.keys.digest(of: name.lowercased(), as: .noRecovery),
            limit: AttemptLimit(failures: .max, window: MailQueue.window))
        _ = await attempts.admit(CountedAttempt([decoy]), now: now)
    }

    /// Sets a password for a user who has a recovery code, and no mailbox.
    private func useRecoveryCode(_ submission: SignInForm.Submission) async throws -> AuthorizationOutcome {
        guard settings.secondFactor != .off else { throw NotFoundError() }
        let (request, now) = (submission.request, submission.now)
        let name = try submission.form.value("name")
        let typed = try submission.form.value("password")
        let code = RecoveryCode(typed: try submission.form.value(SignInForm.codeField))
        var digest: ArtefactDigest?
        let outcome = try await form.users.attempt(name: name, in: request, now: now) { user in
            digest = try await form.secondFactors.digest(of: code, of: user)
            return digest != nil
        }
        switch outcome {
        case .refused(let cause):
            await auditor.refuse(.signIn, because: cause, of: request, now: now)
            return .page(try again(.code, RecoveryMessage.wrongCode, submission))
        case .tooEarly(let seconds, let cause):
            await auditor.refuse(.throttled, because: cause, of: request, now: now)
            return .page(try again(.code, SignInMessage.tooManyAttempts, retryAfter: seconds, submission))
        case .signedIn(let user):
            // What is wrong with a password depends on the names of the account, so only its user learns it.
            let password: Password
            do {
                password = try SignInForm.password(typed, of: user, host: settings.issuer.host)
            } catch { return .page(try again(.code, error, submission)) }
            guard let digest else { return .page(try again(.code, RecoveryMessage.wrongCode, submission)) }
            let reset = SignInForm.Reset(
                permission: .recoveryCode(digest), way: .password(password), change: .passwordSetByRecoveryCode)
            guard let outcome = try await form.reset(reset, of: user, submission) else {
                return .page(try again(.code, RecoveryMessage.wrongCode, submission))
            }
            return try await finish(outcome, of: submission)
        }
    }

    private func again(
        _ decision: RecoveryPage.Decision, _ problem: some Localized, retryAfter: Int? = nil,
        _ submission: SignInForm.Submission
    ) throws -> Reply {
        try page(submission.pendingRequest, on: submission.request, now: submission.now) { page in
            page.name = String(((try? submission.form.value("name")) ?? "").prefix(256))
            page.decision = decision
            page.problem = submission.request.words(problem)
            page.isPasswordWrong = problem is Password.Refusal
            page.retryAfterSeconds = retryAfter
        }
    }

    private func page(
        _ destination: String, on request: IncomingRequest, now: Date,
        with change: (inout RecoveryPage) -> Void = { _ in }
    ) throws -> Reply {
        guard isOffered else { throw NotFoundError() }
        let (browser, cookie) = form.browserToken(of: request)
        var page = RecoveryPage(
            action: path, request: destination, ticket: form.ticket(for: destination, in: browser, now: now),
            name: form.earlierSignIns.of(request)?.username.rawValue ?? "", offersMail: mails != nil,
            offersCodes: settings.secondFactor != .off)
        change(&page)
        return reply(page, problem: page.problem, retryAfter: page.retryAfterSeconds).setting(cookie)
    }
}

extension UserLinkFacts {
    /// The path and query at which the sign-in continues.
    fileprivate var destination: String { if case .mail(let asked) = link.origin { asked.destination } else { "" } }
}

extension UserLink.Origin {
    /// The change by a new password.
    fileprivate var change: AccountChange {
        switch self {
        case .operator: .passwordSetByOperatorLink
        case .mail: .passwordSetByMail
        }
    }
}

/// The errors of the page for a user who has forgotten the password.
private enum RecoveryMessage: String, LocalizationKey, Error {
    /// The name or the code is wrong; the text does not say which of them.
    case wrongCode = "recovery.wrong-code"
    /// The answer of the browser does not add a passkey.
    case passkeyRefused = "account.passkeys.refused"
    /// The user has ``Passkey/limitPerUser`` passkeys already.
    case tooManyPasskeys = "account.passkeys.too-many"
}

/// The error for a link that does not work.
enum RecoveryProblem: Error {
    /// The link is wrong, expired, used or replaced, or has ended with a change of the account.
    case linkOver(again: String)
    /// Another browser has asked for the link.
    case otherBrowser(again: String)
}

extension RecoveryProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .linkOver(let again):
            Refusal(.notFound, .invalidRequest, .recoveryLinkOver, continueLink: .address(again))
        case .otherBrowser(let again):
            Refusal(.forbidden, .invalidRequest, .recoveryElsewhere, continueLink: .address(again))
        }
    }
}
