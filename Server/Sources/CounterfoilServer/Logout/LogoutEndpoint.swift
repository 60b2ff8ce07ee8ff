import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Logging

/// The endpoint `/oauth2/logout` (OpenID Connect RP-Initiated Logout §2), for GET with a query or POST with a
/// form, and the endpoint that receives the form of the sign-out page.
struct LogoutEndpoint: Sendable {
    let settings: ServerSettings
    let directory: ClientDirectory
    let sessions: SessionManager
    let hints: IDTokenHints
    let tickets: TicketAuthority
    let auditor: Auditor
    let random: RandomBytes
    let pages: LinkedPages
    let logger: Logger
    /// The rate limit of the lines above the level of every request, which strangers can cause.
    private let noticedRefusals: LogLimiter

    init(
        settings: ServerSettings, directory: ClientDirectory, sessions: SessionManager, hints: IDTokenHints,
        tickets: TicketAuthority, auditor: Auditor, random: RandomBytes, pages: LinkedPages, logger: Logger,
        noticedRefusals: LogLimiter
    ) {
        self.settings = settings
        self.directory = directory
        self.sessions = sessions
        self.hints = hints
        self.tickets = tickets
        self.auditor = auditor
        self.random = random
        self.pages = pages
        self.logger = logger
        self.noticedRefusals = noticedRefusals
    }

    /// The decision of the user, the form field `decision`.
    private enum Decision: String {
        case signOut = "sign-out"
        case stay
        /// No decision yet: the page has only posted the request again, now with the session cookie.
        case ask
    }

    var handlers: [EndpointHandler] {
        [EndpointHandler(.logout, respond), EndpointHandler(.logoutAnswer, decide)]
    }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try Self.parameters(of: request)
        guard let session = try await sessions.current(request, now: now) else {
            let logout = try await validated(form)
            // If a form on another site posted the request, the browser has omitted the cookie because of
            // `SameSite=Lax`. The page posts the request again from this origin, so that the browser sends the
            // cookie. A redirect instead would put the ID token of the hint into a URL, the browser history and
            // proxy logs.
            guard request.head.method != .post else { return question(logout, form) }
            try await revokeDependentsOfEndedSession(logout, now: now)
            return signedOut(logout, on: .none, request, now: now)
        }
        return try await answer(try await validated(form), form, request, session: session, now: now)
    }

    /// Ends the session if the request proves that the client means this session; otherwise asks the user.
    private func answer(
        _ logout: ValidatedLogout, _ form: FormParameters, _ request: IncomingRequest, session: LiveSession,
        onPage: Bool = false, now: Date
    ) async throws -> Reply {
        guard try means(logout, session) else { return question(logout, form, session, now: now) }
        let cookie = try await end(session, logout, request, now: now)
        return signedOut(logout, on: .session, request, onPage: onPage, now: now).setting(cookie)
    }

    /// Responds to the form of the sign-out page.
    func decide(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: settings.issuer)
        let pendingRequest = try form.pendingRequestParameters()
        let logout = try await validated(pendingRequest)
        let decision = Decision(rawValue: try form.value("decision"))
        guard let session = try await sessions.current(request, now: now) else {
            try await revokeDependentsOfEndedSession(logout, now: now)
            return signedOut(logout, on: decision == .ask ? .none : .confirmation, request, onPage: true, now: now)
        }
        if decision == .ask {
            return try await answer(logout, pendingRequest, request, session: session, onPage: true, now: now)
        }
        guard isAnswered(form, by: session, now: now) else {
            return question(logout, pendingRequest, session, now: now)
        }
        switch decision {
        case .signOut:
            let cookie = try await end(session, logout, request, now: now)
            let ground = try means(logout, session) ? ValidatedLogout.Ground.session : .confirmation
            return signedOut(logout, on: ground, request, onPage: true, now: now).setting(cookie)
        case .stay: return .seeOther(settings.issuer.path + pages.home.path)
        case .ask, nil: throw PageProblem.noDecision
        }
    }

    /// Returns true if the form comes from a page with the question to this session.
    ///
    /// If it does not, the user is asked again. The usual reason is that the user signed in again in another tab.
    private func isAnswered(_ form: PageForm, by session: LiveSession, now: Date) -> Bool {
        guard let ticket = try? form.value("ticket"), let request = try? form.value("request") else { return false }
        return (try? tickets.check(ticket, .signOut, of: session.holder, request: request, now: now)) != nil
    }

    // MARK: - The request

    /// Returns the parameters of the query and, for a POST, of the form in one list.
    ///
    /// A parameter that occurs in the query and in the form is thus detected as repeated.
    private static func parameters(of request: IncomingRequest) throws -> FormParameters {
        var form: FormParameters
        do {
            form = try FormParameters(parsing: request.query)
        } catch {
            throw PageProblem.unreadableForm(.parameters(error))
        }
        if request.head.method == .post, !request.body.isEmpty {
            let body: FormParameters
            do {
                body = try request.readForm()
            } catch {
                throw PageProblem.unreadableForm(error)
            }
            for pair in body.pairs { form.append(pair.name, pair.value) }
        }
        return form
    }

    private func validated(_ form: FormParameters) async throws -> ValidatedLogout {
        let asked: LogoutRequest
        do {
            asked = try LogoutRequest(parsing: form)
        } catch {
            throw PageProblem.unreadableForm(.parameters(error))
        }
        let hint = verdict(on: asked.hint)
        var client: RegisteredClient?
        if let id = LogoutValidation.clientID(of: asked, hint: hint) { client = try await directory.existing(id) }
        return LogoutValidation.validate(asked, hint: hint, client: client, settings: settings)
    }

    private func verdict(on hint: LogoutRequest.Hint) -> LogoutValidation.HintVerdict {
        switch hint {
        case .none: .absent
        case .unreadable: .refused
        case .token(let token):
            if case .user(let hint) = try? hints.read(token) { .genuine(hint) } else { .refused }
        }
    }

    /// Returns true if the hint names this session and its user, so that the user need not be asked.
    private func means(_ logout: ValidatedLogout, _ session: LiveSession) throws -> Bool {
        guard let hint = logout.hint, let client = logout.client else { return false }
        return try hints.session(of: hint, at: client) == session.id && hints.mean(hint, session.user, at: client)
    }

    // MARK: - The answer

    private func end(
        _ session: LiveSession, _ logout: ValidatedLogout, _ request: IncomingRequest, now: Date
    ) async throws -> String {
        let event = auditor.event(
            .signOut, by: request, user: session.user.id, client: logout.client?.id, now: now)
        return try await sessions.end(session, recording: event, now: now)
    }

    /// Revokes what depends on the session that the hint names, if that session has expired or no longer exists.
    ///
    /// The store revokes the grants of single-page clients in the session, and queues back-channel logout
    /// notifications. If the session is still valid, nothing changes.
    private func revokeDependentsOfEndedSession(_ logout: ValidatedLogout, now: Date) async throws {
        guard let hint = logout.hint, let client = logout.client,
            let session = try hints.session(of: hint, at: client)
        else { return }
        try await sessions.revokeDependents(ofSession: session, now: now)
    }

    /// Returns the page that asks the user whether to sign out.
    private func question(
        _ logout: ValidatedLogout, _ form: FormParameters, _ session: LiveSession, now: Date
    ) -> Reply {
        var page = page(logout, form)
        page.userDisplayName = DisplayName(of: session.user)
        page.ticket = tickets.issue(
            .signOut, to: session.holder, request: page.request,
            interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now))
        return Reply(.ok, .page(page))
    }

    /// Returns the page that makes the browser post the request again, this time with the session cookie.
    private func question(_ logout: ValidatedLogout, _ form: FormParameters) -> Reply {
        Reply(.ok, .page(page(logout, form)))
    }

    private func page(_ logout: ValidatedLogout, _ form: FormParameters) -> SignOutPage {
        SignOutPage(
            userDisplayName: nil, clientName: logout.client?.displayName,
            action: settings.issuer.path + Endpoint.logoutAnswer.path, request: form.encoded, ticket: "")
    }

    /// Returns the response after a sign-out: the redirect to the client, or the page that says that the user is signed
    /// out.
    ///
    /// If the request was posted from a page of this server (`onPage`), it is always the page, because Chromium would
    /// block a redirect to the client after such a form.
    private func signedOut(
        _ logout: ValidatedLogout, on ground: ValidatedLogout.Ground, _ request: IncomingRequest, onPage: Bool = false,
        now: Date
    ) -> Reply {
        if let refused = logout.refused {
            logger.log(
                level: noticedRefusals.admit(now: now) == nil ? .info : .notice,
                "did not redirect to post_logout_redirect_uri after a sign-out: it is not registered for the client",
                metadata: refused.metadata.merging(["request": "\(request.id)"]) { own, _ in own })
        }
        let continuesAutomatically = logout.continuesAutomatically(on: ground)
        if let destination = logout.destination, continuesAutomatically, !onPage { return .seeOther(destination.url) }
        let needsButton = !continuesAutomatically && logout.destination?.isReachedWithoutChoice == false
        let page = SignedOutPage(
            clientName: logout.client?.displayName, destination: logout.destination?.url,
            continuesAutomatically: continuesAutomatically,
            host: needsButton ? logout.destination?.uri.uri.host : nil,
            signInPath: settings.issuer.path + pages.signIn.path,
            developer: logout.refused?.section(in: request.words, issuer: settings.issuer, pages: pages))
        return Reply(.ok, .page(page))
    }
}
