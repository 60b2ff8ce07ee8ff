import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages on which a user answers the request of a device (RFC 8628 §3.3), each with a form ticket (``Ticket``).
struct DevicePages: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any ConsentStore
    let tickets: TicketAuthority
    let signInForm: SignInForm
    let random: RandomBytes
    let introductions: UnregisteredClientIntroductions
    let formats: ContentFormats

    /// The query parameter with the ticket that proves that the user has typed the code and signed in just now.
    static let signedInParameter = "sign_in_ticket"

    /// The query parameters of the page with the result: the answer, the name of the app, and the ticket for both.
    private static let answerParameter = "answer"
    private static let clientParameter = "application"
    static let answeredTicketParameter = "answer_ticket"

    /// The answer of a user to the request of a device.
    enum Answer: String, Sendable {
        case allowed
        case denied

        /// The text that a ticket authenticates.
        fileprivate func sentence(about name: String) -> String { "\(rawValue) \(name)" }
    }

    /// The reason why the page with the form for the code is shown again.
    enum Again: Sendable {
        case malformed(UserCode.TypingProblem)
        /// No pending device authorization has the code.
        case unknown
        case tooMany(retryAfter: Int)
    }

    /// The issuer and verifier of form tickets for the page with the permissions.
    var questionTickets: QuestionTickets { QuestionTickets(tickets: tickets, purpose: .device) }

    /// Returns the parameters of the page as a query, which the sign-in page and the page with the permissions carry.
    static func pendingRequest(_ code: UserCode) -> String { FormParameters(["user_code": code.description]).encoded }

    /// Returns the page with the form for the code.
    ///
    /// A code in the URL only fills in the form: the user must compare it with the device (RFC 8628 §3.3.1).
    func code(_ typed: String, again: Again? = nil, on request: IncomingRequest, now: Date) -> Reply {
        let (browser, cookie) = signInForm.browserToken(of: request)
        let page = DeviceCodePage(
            action: settings.issuer.path + Endpoint.device.path,
            ticket: tickets.issue(
                .deviceCode, to: browser.exposed, request: "", interaction: InteractionIdentifier(random: random),
                expires: settings.pageEnd(from: now)),
            userCode: typed, problem: again.map { request.words($0.text) }, retryAfterSeconds: again?.retryAfter)
        var reply = Reply(again?.status ?? .ok, .page(page))
        if let retryAfter = again?.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(cookie)
    }

    func signIn(
        _ pendingRequest: String, again: SignInForm.Again? = nil, on request: IncomingRequest, now: Date
    ) throws -> Reply {
        let content = SignInForm.Content(
            pendingRequest: pendingRequest,
            // The client is not known before the sign-in, so this page warns but never blocks.
            openInBrowserLink: WebViewVerdict(on: request, under: .warn).openInBrowserLink(address(pendingRequest)))
        return try signInForm.page(content, again: again, on: request, now: now)
    }

    /// Returns the page on which a signed-in user confirms, because the policy of the client demands more.
    func stepUp(
        _ exchange: DeviceExchange, session: LiveSession, with confirmation: InteractionPolicy.Confirmation,
        again: SignInForm.Again? = nil
    ) async throws -> Reply {
        try checkWebView(exchange)
        let pendingRequest = Self.pendingRequest(exchange.code)
        let content = SignInForm.Content(
            pendingRequest: pendingRequest, clientName: exchange.access.client.displayName,
            openInBrowserLink: WebViewVerdict(on: exchange.request, under: exchange.access.client.policy.webViews)
                .openInBrowserLink(address(pendingRequest)),
            stepUp: try await signInForm.stepUp(session, with: confirmation, now: exchange.now))
        return try signInForm.page(content, again: again, on: exchange.request, now: exchange.now)
    }

    /// Returns the page on which the user accepts the terms of the service before the code is looked up.
    func terms(
        _ terms: Terms, _ code: UserCode, session: LiveSession, signedInForThis: Bool, now: Date
    ) -> Reply {
        TermsForm(settings: settings, tickets: tickets, random: random).page(
            terms, for: session, at: .device, request: Self.pendingRequest(code),
            isSignedInForThis: signedInForThis, now: now)
    }

    /// Returns the redirect that looks up the code after the sign-in; a ticket proves that the user has typed it.
    ///
    /// The browser requests the URL with this ticket at once, or within `lifetime` seconds.
    ///
    /// - Parameter signedInForThis: Whether the user has signed in for this code, and not before.
    func afterSignIn(
        _ pendingRequest: String, session: LiveSession, signedInForThis: Bool = true, within lifetime: TimeInterval,
        now: Date
    ) -> Reply {
        let ticket = tickets.issue(
            .deviceSignedIn, to: Self.holder(session, signedInForThis: signedInForThis), request: pendingRequest,
            interaction: InteractionIdentifier(random: random), expires: now.addingTimeInterval(lifetime))
        return .seeOther(address(pendingRequest) + "&\(Self.signedInParameter)=\(ticket)")
    }

    /// Returns true if a ticket of ``afterSignIn(_:session:signedInForThis:within:now:)`` holds for a code.
    func accepts(
        _ ticket: String, for code: UserCode, of session: LiveSession, signedInForThis: Bool, now: Date
    ) -> Bool {
        let checked = try? tickets.check(
            ticket, .deviceSignedIn, of: Self.holder(session, signedInForThis: signedInForThis),
            request: Self.pendingRequest(code), now: now)
        return checked != nil
    }

    private static func holder(_ session: LiveSession, signedInForThis: Bool) -> String {
        session.holder + (signedInForThis ? ".signed-in" : "")
    }

    /// Returns the page with the permissions, the code to compare, and the place of the request.
    ///
    /// The user is always asked about every scope, whatever the user has allowed before: anyone can send the code of a
    /// device to the user (RFC 8628 §5.4).
    func consent(
        _ exchange: DeviceExchange, session: LiveSession, signedInForThis: Bool
    ) async throws -> Reply {
        let (client, request) = (exchange.access.client, exchange.request)
        try checkWebView(exchange)
        let registry = try await registry.fresh()
        let branding = try await registry.branding()
        let pendingRequest = Self.pendingRequest(exchange.code)
        let question = ConsentPresenter(
            access: exchange.access, redirectDestination: .waitingDevice(exchange.shown), user: session.user,
            earlier: try await store.consent(of: session.user.id, to: client.id), asksAgain: true,
            introduction: try await introductions.introduction(of: client, now: exchange.now), branding: branding,
            defaultAPI: try await registry.defaultAPI(settings), settings: settings, formats: formats,
            words: request.words)
        var page = question.page(
            definitions: try await registry.scopes(), action: settings.issuer.path + Endpoint.deviceConsent.path,
            request: pendingRequest,
            ticket: questionTickets.issue(
                to: session, for: exchange.access, request: pendingRequest,
                interaction: InteractionIdentifier(random: random), signedInForThis: signedInForThis,
                expires: settings.pageEnd(from: exchange.now)))
        page.openInBrowserLink = WebViewVerdict(on: request, under: client.policy.webViews)
            .openInBrowserLink(address(pendingRequest))
        var reply = Reply(.ok, .page(page))
        // The branding was read above for the page, so the frame uses it too instead of reading it again.
        reply.frame = Frame(
            site: Site(branding, settings: settings, language: request.language), language: request.language)
        return reply
    }

    /// Throws if the policy of the client forbids the web-view of the request.
    func checkWebView(_ exchange: DeviceExchange) throws(BlockedWebView) {
        let client = exchange.access.client
        guard case .blocked(let webView) = WebViewVerdict(on: exchange.request, under: client.policy.webViews) else {
            return
        }
        throw BlockedWebView(
            client: client.id,
            page: WebViewPage(
                clientName: client.displayName, clientLogo: settings.issuer.logoPath(of: client),
                openInBrowserLink: OpenInBrowserLink(address(Self.pendingRequest(exchange.code)), from: webView)))
    }

    /// Returns the redirect to the page with the result, so that a reload shows the result again.
    ///
    /// The URL contains no code. Its ticket only proves to this session that the page states what happened.
    func afterAnswer(_ answer: Answer, to client: RegisteredClient, session: LiveSession, now: Date) -> Reply {
        let name = client.displayName.description
        let ticket = tickets.issue(
            .deviceAnswered, to: session.holder, request: answer.sentence(about: name),
            interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now))
        let query = FormParameters([
            Self.answerParameter: answer.rawValue, Self.clientParameter: name,
            Self.answeredTicketParameter: ticket,
        ])
        return .seeOther(address(query.encoded))
    }

    /// Returns the page with the result of an answer; nil if the query does not prove that the session gave it.
    func result(in query: FormParameters, session: LiveSession, now: Date) -> Reply? {
        guard let answer = (try? query.single(Self.answerParameter)).flatMap(Answer.init(rawValue:)),
            let name = try? query.single(Self.clientParameter),
            let ticket = try? query.single(Self.answeredTicketParameter),
            (try? tickets.check(
                ticket, .deviceAnswered, of: session.holder, request: answer.sentence(about: name), now: now)) != nil
        else { return nil }
        return done(answer == .allowed ? .approved : .denied, DisplayName(shown: name))
    }

    /// Returns the page for a code that is not pending any more.
    func over() -> Reply { done(.over, nil) }

    private func done(_ kind: DeviceDonePage.Kind, _ name: DisplayName?) -> Reply {
        let page = DeviceDonePage(
            kind: kind, clientName: name, codePath: settings.issuer.path + Endpoint.device.path)
        return Reply(kind == .over ? .conflict : .ok, .page(page))
    }

    /// Returns the URL of the page with a query.
    func address(_ pendingRequest: String) -> String {
        settings.issuer.endpoint(Endpoint.device.path) + "?" + pendingRequest
    }
}

extension DevicePages.Again {
    fileprivate var text: LocalizedText {
        switch self {
        case .malformed(let problem): problem.text
        case .unknown: LocalizedText("device-code.unknown")
        case .tooMany: LocalizedText("device-code.too-many")
        }
    }

    fileprivate var retryAfter: Int? { if case .tooMany(let seconds) = self { seconds } else { nil } }

    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .malformed, .unknown: .badRequest
        case .tooMany: .tooManyRequests
        }
    }
}
