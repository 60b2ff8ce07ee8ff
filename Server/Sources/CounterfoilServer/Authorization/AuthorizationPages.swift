import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The sign-in, consent and confirmation pages of an authorization request, each with a form ticket (``Ticket``).
struct AuthorizationPages: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let tickets: TicketAuthority
    let cookies: Cookies
    let signInForm: SignInForm
    let random: RandomBytes
    let introductions: UnregisteredClientIntroductions
    let formats: ContentFormats
    /// The way to the page of the owner that signs users in; nil for none.
    let external: ExternalSignInRequests?

    /// The query parameter with the ticket that proves to the authorization endpoint that the user has just signed
    /// in.
    static let signedInParameter = "sign_in_ticket"

    /// Returns the parameters of an authorization request as a query, which pages carry in a hidden field.
    ///
    /// The parameter `sign_in_ticket` is left out, because it comes from this server and not from the client.
    static func pendingRequest(_ form: FormParameters) -> String {
        FormParameters(form.pairs.filter { $0.name != signedInParameter }).encoded
    }

    /// Returns the issuer and verifier of form tickets for the page of a question.
    func tickets(of question: AuthorizationQuestion) -> QuestionTickets {
        QuestionTickets(tickets: tickets, purpose: question.purpose)
    }

    /// Returns the sign-in page.
    ///
    /// - Parameters:
    ///   - exchange: The request that the user signs in for.
    ///   - again: The reason why the page is shown again; nil if it is shown for the first time.
    func signIn(_ exchange: AuthorizationExchange, again: SignInForm.Again? = nil) throws -> Reply {
        let content = SignInForm.Content(
            pendingRequest: exchange.pendingRequest, clientName: exchange.clientName,
            username: exchange.authorization.request.loginHint ?? "", openInBrowserLink: openInBrowserLink(exchange))
        return try signInForm.page(content, again: again, on: exchange.request, now: exchange.now)
    }

    /// Returns the page on which a signed-in user confirms with a passkey or a code.
    ///
    /// - Parameters:
    ///   - exchange: The request that asks for the confirmation.
    ///   - session: The session of the user.
    ///   - confirmation: The way in which the user confirms.
    ///   - again: The reason why the page is shown again; nil if it is shown for the first time.
    func stepUp(
        _ exchange: AuthorizationExchange, session: LiveSession, with confirmation: InteractionPolicy.Confirmation,
        again: SignInForm.Again? = nil
    ) async throws -> Reply {
        let stepUp = try await signInForm.stepUp(session, with: confirmation, now: exchange.now)
        let content = SignInForm.Content(
            pendingRequest: exchange.pendingRequest, clientName: exchange.clientName,
            openInBrowserLink: openInBrowserLink(exchange), stepUp: stepUp)
        return try signInForm.page(content, again: again, on: exchange.request, now: exchange.now)
    }

    /// Returns the page on which a person asks for an account.
    ///
    /// - Parameters:
    ///   - exchange: The request to continue with.
    ///   - again: The problem because of which the page is shown again; nil if it is shown for the first time.
    func signUp(_ exchange: AuthorizationExchange, again: SignUpForm.Again? = nil) -> Reply {
        var page = SignUpForm.Content(request: exchange.pendingRequest)
        page.clientName = exchange.clientName
        page.openInBrowserLink = openInBrowserLink(exchange)
        return signUpForm.page(page, again: again, on: exchange.request, now: exchange.now)
    }

    /// The form with which a person asks for an account.
    var signUpForm: SignUpForm {
        SignUpForm(settings: settings, tickets: tickets, signInForm: signInForm, random: random)
    }

    /// Returns the page on which the user accepts the terms of the service.
    func terms(
        _ terms: Terms, _ exchange: AuthorizationExchange, session: LiveSession, signedInForThis: Bool
    ) -> Reply {
        TermsForm(settings: settings, tickets: tickets, random: random).page(
            terms, for: session, at: .authorization, request: exchange.pendingRequest,
            isSignedInForThis: signedInForThis, clientName: exchange.clientName, now: exchange.now)
    }

    func consent(
        _ exchange: AuthorizationExchange, session: LiveSession, earlier: Consent?, signedInForThis: Bool
    ) async throws -> Reply {
        let language = exchange.request.language
        let registry = try await registry.fresh()
        let branding = try await registry.branding()
        let question = ConsentPresenter(
            access: exchange.authorization.access,
            redirectDestination: exchange.destination, user: session.user, earlier: earlier,
            asksAgain: exchange.authorization.request.prompt.contains(.consent) && !exchange.client.isUnregistered,
            introduction: try await introductions.introduction(of: exchange.client, now: exchange.now),
            branding: branding,
            defaultAPI: try await registry.defaultAPI(settings), settings: settings, formats: formats,
            words: exchange.request.words)
        var page = question.page(
            definitions: try await registry.scopes(), action: settings.issuer.path + Endpoint.consent.path,
            request: exchange.pendingRequest,
            ticket: ticket(.consent, exchange, session: session, signedInForThis: signedInForThis))
        page.openInBrowserLink = openInBrowserLink(exchange)
        var reply = Reply(.ok, .page(page))
        // The branding was read above for the page, so the frame uses it too instead of reading it again.
        reply.frame = Frame(site: Site(branding, settings: settings, language: language), language: language)
        return reply
    }

    /// Returns the page on which the user confirms a sign-in that needs no consent.
    func confirmation(_ exchange: AuthorizationExchange, session: LiveSession) -> Reply {
        let page = ContinuePage(
            clientName: exchange.clientName,
            clientLogo: settings.issuer.logoPath(of: exchange.client),
            redirectDestination: exchange.destination,
            userDisplayName: DisplayName(of: session.user),
            userEmail: MaskedEmail(of: session.user),
            action: settings.issuer.path + Endpoint.confirmation.path, request: exchange.pendingRequest,
            ticket: ticket(.confirmation, exchange, session: session),
            openInBrowserLink: openInBrowserLink(exchange))
        return Reply(.ok, .page(page))
    }

    private func ticket(
        _ question: AuthorizationQuestion, _ exchange: AuthorizationExchange, session: LiveSession,
        signedInForThis: Bool = false
    ) -> String {
        tickets(of: question).issue(
            to: session, for: exchange.authorization.access, request: exchange.pendingRequest,
            interaction: InteractionIdentifier(random: random), signedInForThis: signedInForThis,
            expires: settings.pageEnd(from: exchange.now))
    }

    /// Throws if the request comes from a web-view and the policy of the client forbids web-views; the user then gets a
    /// page that leads to the browser.
    func checkWebView(_ exchange: AuthorizationExchange) throws(BlockedWebView) {
        guard case .blocked(let webView) = WebViewVerdict(on: exchange.request, under: exchange.client.policy.webViews)
        else {
            return
        }
        throw BlockedWebView(
            client: exchange.client.id,
            page: WebViewPage(
                clientName: exchange.clientName,
                clientLogo: settings.issuer.logoPath(of: exchange.client),
                openInBrowserLink: OpenInBrowserLink(
                    settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest), from: webView)))
    }

    private func openInBrowserLink(_ exchange: AuthorizationExchange) -> OpenInBrowserLink? {
        WebViewVerdict(on: exchange.request, under: exchange.client.policy.webViews)
            .openInBrowserLink(settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest))
    }

    /// Returns the redirect to the authorization endpoint, which shows the next page after the sign-in.
    ///
    /// The URL contains a ticket that proves that the user has just signed in.
    ///
    /// - Parameters:
    ///   - exchange: The request that the user signed in for.
    ///   - session: The session.
    ///   - lifetime: The time in seconds in which the browser requests the URL; as a rule, it does so at once.
    func afterSignIn(_ exchange: AuthorizationExchange, session: LiveSession, within lifetime: TimeInterval = 60)
        -> Reply
    {
        afterSignIn(exchange.pendingRequest, session: session, within: lifetime, now: exchange.now)
    }

    /// As ``afterSignIn(_:session:within:)``, for a request that is not validated yet.
    func afterSignIn(
        _ pendingRequest: String, session: LiveSession, within lifetime: TimeInterval, now: Date
    ) -> Reply {
        let ticket = tickets.issue(
            .signedIn, to: session.holder, request: pendingRequest,
            interaction: InteractionIdentifier(random: random), expires: now.addingTimeInterval(lifetime))
        return .seeOther(
            settings.issuer.authorizationURL(pendingRequest: pendingRequest) + "&\(Self.signedInParameter)=\(ticket)")
    }
}

extension SignInForm {
    /// Returns the part of the page on which a signed-in user confirms.
    func stepUp(
        _ session: LiveSession, with confirmation: InteractionPolicy.Confirmation, now: Date
    ) async throws -> Content.StepUp {
        let user = session.user
        switch confirmation {
        case .passkey: return .passkey(of: user, try await secondFactors.store.passkeys(of: user.id))
        case .code:
            let pending = PendingSignIn(
                of: user, at: now, staysSignedIn: session.isPersistent, sessionSince: session.authenticatedAt)
            return .code(SecondStep(of: user, pending, accepting: try await secondFactors.keys(of: user)))
        }
    }
}

extension ExternalSignInQuestion {
    /// Creates the question for the user of an authorization request, which continues with a request.
    init(_ exchange: AuthorizationExchange, continuing request: String) {
        let asked = exchange.authorization.request
        self.init(door: .authorization, request: request)
        client = exchange.client.id
        clientName = exchange.clientName
        loginHint = asked.loginHint
        prompt = [AuthorizationRequest.Prompt.login, .selectAccount].filter(asked.prompt.contains).map(\.rawValue)
        maxAge = asked.maxAge
        let minimum = AskedContexts(of: asked, by: exchange.client).minimum
        if minimum > .password { contexts = AuthenticationContext.allCases.filter { $0 >= minimum }.map(\.urn) }
        languages =
            asked.uiLocales.map { $0.split(separator: " ").map(String.init) }
            ?? [exchange.request.language.rawValue]
    }
}

extension Issuer {
    /// Returns the URL that starts an authorization request again; `pendingRequest` contains its parameters as a query.
    func authorizationURL(pendingRequest: String) -> String {
        endpoint(Endpoint.authorization.path) + "?" + pendingRequest
    }
}
