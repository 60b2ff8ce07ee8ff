import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The pages of an authorization, with the tickets that they carry.
struct AuthorizationPages: Sendable {
    let settings: ServerSettings
    let store: any ScopeStore & BrandingStore
    let tickets: TicketAuthority
    let cookies: Cookies
    let earlierSignIns: EarlierSignIns
    let random: RandomBytes

    /// The parameter that brings the proof of a sign-in from one page to the next.
    static let signedInParameter = "sign_in_ticket"

    /// The authorization request as pages carry it along: without what is ours.
    static func carried(_ form: FormParameters) -> String {
        FormParameters(form.pairs.filter { $0.name != signedInParameter }).encoded
    }

    /// The tickets of pages that ask a question.
    func tickets(of question: AuthorizationQuestion) -> QuestionTickets {
        QuestionTickets(tickets: tickets, purpose: question.purpose)
    }

    /// What a form that came back to the sign-in page says.
    struct FailedSignIn {
        let name: String
        let problem: String
        var retryAfter: Int?
        let status: HTTPResponse.Status
    }

    /// The sign-in page; a browser that has no cookie of ours yet gets one.
    ///
    /// - Parameter earlier: who signed in before in this browser.
    func signIn(
        _ authorization: ValidatedAuthorization,
        carried: String,
        on request: IncomingRequest,
        earlier: EarlierSignIn?,
        after failure: FailedSignIn? = nil,
        now: Date
    ) -> Reply {
        let known = browser(of: request)
        let browser = known ?? BrowserToken(random: random)
        let page = SignInPage(
            applicationName: authorization.client.displayName,
            action: settings.issuer.path + Endpoint.signIn.path,
            request: carried,
            ticket: tickets.issue(
                .signIn, to: browser.exposed, request: carried,
                interaction: InteractionIdentifier(random: random), expires: pageEnd(now)
            ),
            username: failure?.name ?? authorization.request.loginHint ?? "",
            problem: failure?.problem,
            retryAfterSeconds: failure?.retryAfter,
            earlier: earlier.map { SignInPage.Earlier(name: $0.name, email: $0.email) },
            wayToBrowser: wayToBrowser(authorization, carried: carried, on: request)
        )
        var reply = Reply(failure?.status ?? .ok, .page(page))
        if let retryAfter = failure?.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(known == nil ? cookies.browser(browser) : nil)
    }

    /// What ties the forms of a browser to it before anybody has signed in.
    func browser(of request: IncomingRequest) -> BrowserToken? {
        request.cookie(cookies.browserName).flatMap(BrowserToken.init)
    }

    /// The consent page.
    func consent(
        _ authorization: ValidatedAuthorization,
        carried: String,
        on request: IncomingRequest,
        session: LiveSession,
        earlier: Consent?,
        now: Date
    ) async throws -> Reply {
        let branding = try await store.branding()
        let question = ConsentQuestion(
            authorization: authorization, person: session.person, earlier: earlier,
            statement: branding.statement(in: request.language), settings: settings, words: request.words)
        let action = settings.issuer.path + Endpoint.consent.path
        let ticket = tickets(of: .consent).issue(
            to: session, for: authorization, request: carried,
            interaction: InteractionIdentifier(random: random), expires: pageEnd(now))
        var page = question.page(
            definitions: try await store.scopes(), action: action, request: carried, ticket: ticket)
        page.wayToBrowser = wayToBrowser(authorization, carried: carried, on: request)
        var reply = Reply(.ok, .page(page))
        // The branding is read once for the page and for what stands around it.
        reply.frame = Frame(
            site: Site(branding, settings: settings, language: request.language), language: request.language)
        return reply
    }

    /// The page on which the user confirms a sign-in that needs no consent.
    func confirmation(
        _ authorization: ValidatedAuthorization,
        carried: String,
        on request: IncomingRequest,
        session: LiveSession,
        now: Date
    ) -> Reply {
        let (client, person) = (authorization.client, session.person)
        let ticket = tickets(of: .confirmation).issue(
            to: session, for: authorization, request: carried,
            interaction: InteractionIdentifier(random: random), expires: pageEnd(now))
        let page = ContinuePage(
            applicationName: client.displayName,
            applicationLogo: client.presentation.logo.map { settings.issuer.path(of: $0) },
            redirectDestination: ConsentPage.RedirectDestination(authorization.redirectURI),
            personName: DisplayName(person.displayName, orElse: person.username.rawValue),
            personEmail: person.email.map { MaskedEmail($0.rawValue) },
            action: settings.issuer.path + Endpoint.confirmation.path, request: carried, ticket: ticket,
            wayToBrowser: wayToBrowser(authorization, carried: carried, on: request))
        return Reply(.ok, .page(page))
    }

    /// What is shown instead of any page of the authorization inside a web-view that the application's policy does not allow.
    func blocked(
        _ authorization: ValidatedAuthorization,
        carried: String,
        on request: IncomingRequest
    ) -> Reply? {
        let client = authorization.client
        guard case .blocked(let webView) = WebViewVerdict(on: request, under: client.policy.webViews) else {
            return nil
        }
        let page = WebViewPage(
            applicationName: client.displayName,
            applicationLogo: client.presentation.logo.map { settings.issuer.path(of: $0) },
            wayToBrowser: WayToBrowser(settings.issuer.authorizationURL(carried: carried), from: webView)
        )
        return Reply(.forbidden, .page(page))
    }

    private func wayToBrowser(
        _ authorization: ValidatedAuthorization, carried: String, on request: IncomingRequest
    ) -> WayToBrowser? {
        WebViewVerdict(on: request, under: authorization.client.policy.webViews)
            .wayToBrowser(settings.issuer.authorizationURL(carried: carried))
    }

    /// The way on from the sign-in page: a redirect within the server, with the proof that the person has just signed in.
    func afterSignIn(carried: String, session: LiveSession, now: Date) -> Reply {
        let ticket = tickets.issue(
            .signedIn, to: session.holder, request: carried,
            // It stands in a URL, and the browser follows it at once.
            interaction: InteractionIdentifier(random: random), expires: now.addingTimeInterval(60)
        )
        return .seeOther(settings.issuer.authorizationURL(carried: carried) + "&\(Self.signedInParameter)=\(ticket)")
    }

    private func pageEnd(_ now: Date) -> Date { now.addingTimeInterval(TimeInterval(settings.pageLifetime)) }
}

extension AuthorizationFlow.Refused {
    /// The page that tells the application: one that goes on by itself, or one on which the person chooses.
    func page(issuer: Issuer) -> Reply {
        answer(issuer: issuer).page(
            isDenied ? .denied : .refused, choosing: needsChoice ? redirectURI.uri.host : nil, issuer: issuer)
    }
}

extension Issuer {
    /// The address at which an authorization begins anew.
    func authorizationURL(carried: String) -> String { endpoint(Endpoint.authorization.path) + "?" + carried }
}

extension LiveSession {
    /// What a ticket of this session is bound to.
    package var holder: String { Base64URL.encode(digest.bytes) }
}
