@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The form with which a person asks for an account.
struct SignUpForm: Sendable {
    let settings: ServerSettings
    let tickets: TicketAuthority
    let signInForm: SignInForm
    let random: RandomBytes

    /// The parts of the page that depend on the request to continue with.
    struct Content: Sendable {
        /// The value of the hidden field `request`; empty if there is no such request.
        let request: String
        var clientName: DisplayName?
        var openInBrowserLink: OpenInBrowserLink?

        init(request: String) { self.request = request }
    }

    /// The problem because of which the page is shown again, with the typed address.
    enum Again: Sendable {
        case badEmail(String)
        /// The time to wait is in seconds.
        case tooMany(String, retryAfter: Int)
        case queueFull(String)
    }

    /// Returns the page with the form; the reply sets the browser cookie if the request contains none.
    func page(_ content: Content, again: Again? = nil, on request: IncomingRequest, now: Date) -> Reply {
        let (browser, cookie) = signInForm.browserToken(of: request)
        let page = SignUpPage(
            clientName: content.clientName, action: settings.issuer.path + Endpoint.signUp.path,
            request: content.request,
            ticket: tickets.issue(
                .signUp, to: browser.exposed, request: content.request,
                interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now)),
            email: again?.email ?? "", problem: again.map { request.words($0.problem) },
            retryAfterSeconds: again?.retryAfter, openInBrowserLink: content.openInBrowserLink)
        var reply = Reply(again?.status ?? .ok, .page(page))
        if let retryAfter = again?.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(cookie)
    }

    /// Checks the ticket of a posted form, and returns the browser that it comes from.
    ///
    /// - Parameter again: The URL at which the person can open the page again.
    func browser(
        of form: PageForm, in request: IncomingRequest, again: String, now: Date
    ) throws(PageProblem) -> BrowserToken {
        guard let browser = signInForm.browser(of: request) else { throw .cookiesMissing(again: again) }
        try form.checkTicket(.signUp, of: browser.exposed, with: tickets, again: again, now: now)
        return browser
    }
}

extension SignUpForm.Again {
    fileprivate var email: String {
        switch self {
        case .badEmail(let email), .tooMany(let email, _), .queueFull(let email): String(email.prefix(254))
        }
    }

    fileprivate var problem: SignUpMessage {
        switch self {
        case .badEmail: .badEmail
        case .tooMany: .tooMany
        case .queueFull: .queueFull
        }
    }

    fileprivate var retryAfter: Int? { if case .tooMany(_, let seconds) = self { seconds } else { nil } }

    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .badEmail: .badRequest
        case .tooMany: .tooManyRequests
        case .queueFull: .serviceUnavailable
        }
    }
}

/// The messages of the pages on which a person creates an account.
enum SignUpMessage: String, LocalizationKey {
    case badEmail = "sign-up.bad-email"
    case tooMany = "sign-up.too-many"
    case queueFull = "sign-up.queue-full"
    case badUsername = "sign-up.bad-username"
    case usernameTaken = "sign-up.username-taken"
    case badDisplayName = "sign-up.bad-display-name"
    case termsNeeded = "sign-up.terms-needed"
    case tooManyNames = "sign-up.too-many-names"
}
