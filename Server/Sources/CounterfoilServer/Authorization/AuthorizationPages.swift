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

    /// The query parameter with the ticket that proves to the authorization endpoint that the user has just signed
    /// in.
    static let signedInParameter = "sign_in_ticket"

    /// Returns the parameters of an authorization request as a query, which pages carry in a hidden field.
    ///
    /// The parameter `sign_in_ticket` is left out, because it comes from this server and not from the client.
    static func carried(_ form: FormParameters) -> String {
        FormParameters(form.pairs.filter { $0.name != signedInParameter }).encoded
    }

    /// Returns the issuer and verifier of form tickets for the page of a question.
    func tickets(of question: AuthorizationQuestion) -> QuestionTickets {
        QuestionTickets(tickets: tickets, purpose: question.purpose)
    }

    /// Returns the sign-in page.
    ///
    /// - Parameters:
    ///   - visit: The request that the user signs in for.
    ///   - again: The reason why the page is shown again; nil if it is shown for the first time.
    func signIn(_ visit: AuthorizationVisit, again: SignInForm.Again? = nil) -> Reply {
        let content = SignInForm.Content(
            carried: visit.carried, applicationName: visit.applicationName,
            username: visit.authorization.request.loginHint ?? "", openInBrowserLink: openInBrowserLink(visit))
        return signInForm.page(content, again: again, on: visit.request, now: visit.now)
    }

    func consent(_ visit: AuthorizationVisit, session: LiveSession, earlier: Consent?) async throws -> Reply {
        let language = visit.request.language
        let registry = try await registry.fresh()
        let branding = try await registry.branding()
        let question = ConsentPresenter(
            access: visit.authorization.access,
            redirectDestination: visit.destination, person: session.person, earlier: earlier,
            asksAgain: visit.authorization.request.prompt.contains(.consent) && !visit.client.isUnregistered,
            introduction: try await introductions.introduction(of: visit.client, now: visit.now), branding: branding,
            defaultAPI: try await registry.defaultAPI(settings), settings: settings, formats: formats,
            words: visit.request.words)
        var page = question.page(
            definitions: try await registry.scopes(), action: settings.issuer.path + Endpoint.consent.path,
            request: visit.carried, ticket: ticket(.consent, visit, session: session))
        page.openInBrowserLink = openInBrowserLink(visit)
        var reply = Reply(.ok, .page(page))
        // The branding was read above for the page, so the frame uses it too instead of reading it again.
        reply.frame = Frame(site: Site(branding, settings: settings, language: language), language: language)
        return reply
    }

    /// Returns the page on which the user confirms a sign-in that needs no consent.
    func confirmation(_ visit: AuthorizationVisit, session: LiveSession) -> Reply {
        let page = ContinuePage(
            applicationName: visit.applicationName,
            applicationLogo: settings.issuer.logoPath(of: visit.client),
            redirectDestination: visit.destination,
            personName: DisplayName(of: session.person),
            personEmail: MaskedEmail(of: session.person),
            action: settings.issuer.path + Endpoint.confirmation.path, request: visit.carried,
            ticket: ticket(.confirmation, visit, session: session),
            openInBrowserLink: openInBrowserLink(visit))
        return Reply(.ok, .page(page))
    }

    private func ticket(_ question: AuthorizationQuestion, _ visit: AuthorizationVisit, session: LiveSession) -> String
    {
        tickets(of: question).issue(
            to: session, for: visit.authorization.access, request: visit.carried,
            interaction: InteractionIdentifier(random: random),
            expires: settings.pageEnd(from: visit.now))
    }

    /// Throws if the request comes from a web-view and the policy of the client forbids web-views; the user then gets a
    /// page that leads to the browser.
    func checkWebView(_ visit: AuthorizationVisit) throws(BlockedWebView) {
        guard case .blocked(let webView) = WebViewVerdict(on: visit.request, under: visit.client.policy.webViews) else {
            return
        }
        throw BlockedWebView(
            client: visit.client.id,
            page: WebViewPage(
                applicationName: visit.applicationName,
                applicationLogo: settings.issuer.logoPath(of: visit.client),
                openInBrowserLink: OpenInBrowserLink(
                    settings.issuer.authorizationURL(carried: visit.carried), from: webView)))
    }

    private func openInBrowserLink(_ visit: AuthorizationVisit) -> OpenInBrowserLink? {
        WebViewVerdict(on: visit.request, under: visit.client.policy.webViews)
            .openInBrowserLink(settings.issuer.authorizationURL(carried: visit.carried))
    }

    /// Returns the redirect to the authorization endpoint, which shows the next page after the sign-in.
    ///
    /// The URL contains a ticket that proves that the user has just signed in.
    func afterSignIn(_ visit: AuthorizationVisit, session: LiveSession) -> Reply {
        let ticket = tickets.issue(
            .signedIn, to: session.holder, request: visit.carried,
            // The browser requests the URL with this ticket at once, so 60 seconds are enough.
            interaction: InteractionIdentifier(random: random), expires: visit.now.addingTimeInterval(60)
        )
        return .seeOther(
            settings.issuer.authorizationURL(carried: visit.carried) + "&\(Self.signedInParameter)=\(ticket)")
    }
}

extension Issuer {
    /// Returns the URL that starts an authorization request again; `carried` contains its parameters as a query.
    func authorizationURL(carried: String) -> String { endpoint(Endpoint.authorization.path) + "?" + carried }
}
