@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The form on which a person creates an account, behind an invitation or a link in a mail.
struct NewAccountForm: Sendable {
    let settings: ServerSettings
    let store: any UncachedStore
    let registry: CachedRegistry
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    /// The sign-in form of the pages for signed-in users.
    let consoleForm: SignInForm
    let throttle: SignUpThrottle
    let hasher: PasswordHasher
    let auditor: Auditor
    let signInPath: String
    /// The path to which a sign-in leads that belongs to no authorization request.
    let homePath: String

    /// The kinds of links; the raw value is the query parameter with the secret.
    enum LinkKind: String, CaseIterable, Sendable {
        case invitation
        case signUp = "token"
    }

    /// A link that can be used.
    private struct OpenLink {
        let kind: LinkKind
        let secret: String
        let link: SignUpLink
        let email: EmailAddress?
        let isVerified: Bool
        let invitation: Invitation?
        let pendingRequest: String
    }

    /// Returns the page to which a link leads.
    func page(
        _ kind: LinkKind, secret: String, on request: IncomingRequest, now: Date
    ) async throws -> Reply {
        let link = try await open(kind, secret, in: request, now: now)
        let (browser, cookie) = consoleForm.browserToken(of: request)
        return Reply(.ok, .page(try await page(link, browser: browser, now: now))).setting(cookie)
    }

    private func open(
        _ kind: LinkKind, _ text: String, in request: IncomingRequest, now: Date
    ) async throws -> OpenLink {
        guard let secret = SignUpSecret(text) else { throw SignUpProblem.linkOver(signInPath: signInPath) }
        let digest = ArtefactDigest(of: secret)
        switch kind {
        case .invitation:
            guard let invitation = try await store.invitation(digest, at: now) else {
                throw SignUpProblem.linkOver(signInPath: signInPath)
            }
            return OpenLink(
                kind: kind, secret: text, link: .invitation(digest), email: invitation.email,
                isVerified: invitation.isMailed, invitation: invitation, pendingRequest: "")
        case .signUp:
            guard settings.signUp == .open else { throw NotFoundError() }
            guard let signUp = try await store.signUp(digest, at: now) else {
                throw SignUpProblem.linkOver(signInPath: signInPath)
            }
            guard let browser = consoleForm.browser(of: request),
                ArtefactDigest(ofSignUpBrowser: browser.exposed) == signUp.browser
            else { throw SignUpProblem.otherBrowser(signUpPath: action) }
            return OpenLink(
                kind: kind, secret: text, link: .signUp(digest), email: signUp.email, isVerified: true,
                invitation: nil, pendingRequest: signUp.pendingRequest)
        }
    }

    private var action: String { settings.issuer.path + Endpoint.signUp.path }

    private func page(_ link: OpenLink, browser: BrowserToken, now: Date) async throws -> NewAccountPage {
        var client: RegisteredClient?
        if let id = link.invitation?.clientID { client = try await registry.fresh().client(id) }
        return NewAccountPage(
            action: action, link: link.kind.rawValue, secret: link.secret,
            ticket: pages.tickets.issue(
                .newAccount, to: browser.exposed, request: link.secret,
                interaction: InteractionIdentifier(random: pages.random), expires: settings.pageEnd(from: now)),
            email: link.email?.rawValue, clientName: client?.displayName,
            terms: settings.terms.map { NewAccountPage.TermsBox(uri: $0.uri.rawValue, version: $0.version) })
    }

    /// Creates the account, and signs the user in.
    func receive(_ form: PageForm, _ request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        guard let kind = LinkKind(rawValue: try form.value("link")) else { throw PageProblem.fromElsewhere }
        let link = try await open(kind, try form.value("secret"), in: request, now: now)
        let again = "\(action)?" + FormParameters([kind.rawValue: link.secret]).encoded
        guard let browser = consoleForm.browser(of: request) else { throw PageProblem.cookiesMissing(again: again) }
        let ticket = try form.value("ticket")
        do {
            _ = try pages.tickets.check(ticket, .newAccount, of: browser.exposed, request: link.secret, now: now)
        } catch { throw PageProblem(error, again: again) }
        var page = try await page(link, browser: browser, now: now)
        page.username = try form.value("username")
        page.displayName = try form.value("display_name")
        do {
            let user = try await create(page, try form.value("password"), try form.value("terms"), link, request, now)
            return try await signIn(user, link, form, request, now: now)
        } catch let problem as FieldProblem {
            page.problem = request.words(problem.text)
            page.wrongField = problem.field
            return .page(Reply(.badRequest, .page(page)))
        } catch let limit as SignUpThrottle.TooMany {
            await auditor.refuse(
                .throttled, because: limit.cause, request, client: link.invitation?.clientID, detail: "new account",
                now: now)
            page.problem = request.words(SignUpMessage.tooManyNames)
            page.retryAfterSeconds = limit.retryAfter
            return .page(
                Reply(.tooManyRequests, .page(page), fields: [.retryAfter: String(limit.retryAfter)]))
        }
    }

    /// The error about a field of the form.
    private struct FieldProblem: Error {
        let field: NewAccountPage.Field
        let text: any Localized

        init(_ field: NewAccountPage.Field, _ text: any Localized) {
            self.field = field
            self.text = text
        }
    }

    private func create(
        _ page: NewAccountPage, _ typed: String, _ accepted: String, _ link: OpenLink, _ request: IncomingRequest,
        _ now: Date
    ) async throws -> User {
        guard let username = Username(page.username) else { throw FieldProblem(.username, SignUpMessage.badUsername) }
        let displayName = page.displayName.trimmingWhitespace()
        guard displayName.isEmpty || DisplayName.isShownWhole(displayName, length: 1...100) else {
            throw FieldProblem(.displayName, SignUpMessage.badDisplayName)
        }
        let password: Password
        do {
            password = try Password(
                choosing: typed, for: username, email: link.email, displayName: displayName,
                host: settings.issuer.host)
        } catch { throw FieldProblem(.password, error) }
        // The version is that of the page, so that no one accepts what the page did not show.
        guard settings.terms.map({ $0.version == accepted }) ?? true else {
            throw FieldProblem(.terms, SignUpMessage.termsNeeded)
        }
        let admission = try await throttle.admit(link.link, for: request, now: now)
        var outcome: SignUpOutcome?
        do {
            // Most taken names and addresses cost no hash.
            if try await store.userID(named: username) != nil { outcome = .usernameTaken }
            if let email = link.email, try await store.user(withEmail: email) != nil { outcome = .emailTaken }
            if outcome == nil {
                let party = hasher.party(
                    of: username.rawValue, from: request.countedSource(settings.issuer))
                var user = User(
                    username: username, email: link.email,
                    displayName: displayName.isEmpty ? username.rawValue : displayName,
                    passwordHash: try await hasher.hash(password, for: party),
                    role: link.invitation?.role,
                    acceptedTerms: settings.terms.map { AcceptedTerms(version: $0.version, acceptedAt: now) },
                    createdAt: now)
                if link.isVerified, link.email != nil { user.profile.isEmailVerified = true }
                let events = events(of: user, link, request, now)
                outcome = try await store.addUser(user, by: link.link, at: now, recording: events)
                if outcome == .added {
                    await throttle.settle(admission, as: outcome)
                    auditor.countRecorded(events)
                    return user
                }
            }
        } catch {
            await throttle.settle(admission, as: nil)
            throw error
        }
        await throttle.settle(admission, as: outcome)
        guard outcome == .usernameTaken else { throw SignUpProblem.linkOver(signInPath: signInPath) }
        await auditor.refuse(
            .account, because: .usernameTaken, request, client: link.invitation?.clientID, now: now)
        throw FieldProblem(.username, SignUpMessage.usernameTaken)
    }

    private func events(
        of user: User, _ link: OpenLink, _ request: IncomingRequest, _ now: Date
    ) -> [AuditEvent] {
        var detail = "signed up"
        if let invitation = link.invitation {
            detail = "created by the invitation \(invitation.shortID)"
            if let role = invitation.role { detail += ", with the role \(role.rawValue)" }
        }
        var events = [
            auditor.event(
                .account, by: request, user: user.id, client: link.invitation?.clientID, detail: detail, now: now
            ).named(.userCreated)
        ]
        if let terms = user.acceptedTerms {
            events.append(
                auditor.event(
                    .account, by: request, user: user.id, detail: "accepted the terms \(terms.version)", now: now
                ).named(.termsAccepted))
        }
        return events
    }

    /// Signs a new user in as after the right password, and continues where the person came from.
    private func signIn(
        _ user: User, _ link: OpenLink, _ form: PageForm, _ request: IncomingRequest, now: Date
    ) async throws -> AuthorizationOutcome {
        if let parameters = try? FormParameters(parsing: link.pendingRequest), !link.pendingRequest.isEmpty,
            // The request can have expired meanwhile, and its client can have changed.
            let target = try? await flow.receiveAgain(parameters, in: request, now: now),
            let authorization = try? await flow.validate(target, now: now)
        {
            let exchange = AuthorizationExchange(authorization: authorization, request: request, now: now)
            switch try await begin(user, by: pages.signInForm, exchange.pendingRequest, form, request, now: now) {
            case .again(let again): return .page(try pages.signIn(exchange, again: again))
            case .signedIn(let session, let cookies, _, _):
                return await flow.outcome(at: target) {
                    try await flow.proceed(exchange, session: session, signedInForThis: true, by: pages)
                }
                .setting(cookies)
            }
        }
        switch try await begin(user, by: consoleForm, homePath, form, request, now: now) {
        case .again(let again):
            let content = SignInForm.Content(pendingRequest: homePath, openInBrowserLink: nil)
            return .page(try consoleForm.page(content, again: again, on: request, now: now))
        case .signedIn(_, let cookies, _, _): return .page(.seeOther(homePath).setting(cookies))
        }
    }

    private func begin(
        _ user: User, by signInForm: SignInForm, _ pendingRequest: String, _ form: PageForm,
        _ request: IncomingRequest, now: Date
    ) async throws -> SignInForm.Outcome {
        let submission = SignInForm.Submission(
            form: form, pendingRequest: pendingRequest, request: request, now: now)
        let typed = SignInForm.Typed(name: user.username.rawValue, staysSignedIn: false)
        return try await signInForm.continueAfterPassword(submission, of: user, typed: typed, at: nil)
    }
}

/// The error for a link that creates no account.
enum SignUpProblem: Error {
    /// The link was used or withdrawn, or has expired.
    case linkOver(signInPath: String)
    /// The link belongs to the browser that asked for it.
    case otherBrowser(signUpPath: String)
}

extension SignUpProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .linkOver(let path): Refusal(.notFound, .invalidRequest, .signUpLinkOver, continueLink: .address(path))
        case .otherBrowser(let path):
            Refusal(.forbidden, .invalidRequest, .signUpOtherBrowser, continueLink: .address(path))
        }
    }
}
