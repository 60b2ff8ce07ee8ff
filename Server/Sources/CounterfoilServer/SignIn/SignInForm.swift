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
    let sessions: SessionManager
    let tickets: TicketAuthority
    let earlierSignIns: EarlierSignIns
    let auditor: Auditor
    let random: RandomBytes

    /// A posted form with a valid ticket.
    package struct Submission: Sendable {
        let form: PageForm
        /// The value of the hidden field `request`; the ticket is valid only together with this value.
        package let pendingRequest: String
        fileprivate let request: IncomingRequest
        fileprivate let now: Date
    }

    package enum Outcome: Sendable {
        /// The page is shown again, for the given reason.
        case again(Again)
        /// The user is signed in; the response must set the cookies.
        case signedIn(LiveSession, cookies: [String])
    }

    /// The reason why the page is shown again.
    package enum Again: Sendable {
        /// The user chose to delete the hint about the earlier sign-in.
        case forgotten
        /// The user is unknown, the password is wrong, the account has had too many failures, or it is disabled or
        /// was changed during the sign-in.
        case wrong(Typed)
        /// There were too many failures, and the password was not verified; `retryAfter` is the time to wait, in
        /// seconds.
        case tooEarly(Typed, retryAfter: Int)
    }

    /// The values that the user entered, which the page keeps when it is shown again; the password is not kept.
    package struct Typed: Sendable {
        /// The username or email address.
        let name: String
        /// Whether the box "Keep me signed in on this device" was ticked.
        let staysSignedIn: Bool
    }

    /// The parts of the page that differ between the endpoints that show the form.
    package struct Content: Sendable {
        /// The value of the hidden field `request`: the request to continue with after the sign-in.
        let pendingRequest: String
        let clientName: DisplayName?
        /// The username with which the form is filled in when it is shown for the first time; empty for that of the
        /// earlier sign-in in this browser.
        let username: String
        let openInBrowserLink: OpenInBrowserLink?
        let notice: String?

        package init(
            pendingRequest: String, clientName: DisplayName? = nil, username: String = "",
            openInBrowserLink: OpenInBrowserLink?, notice: String? = nil
        ) {
            self.pendingRequest = pendingRequest
            self.clientName = clientName
            self.username = username
            self.openInBrowserLink = openInBrowserLink
            self.notice = notice
        }
    }

    /// The checkbox "Keep me signed in on this device"; it posts `stay_signed_in=true`.
    static let stayField = "stay_signed_in"

    /// Returns the page with the form; the reply sets the browser cookie if the request contains none.
    ///
    /// - Parameters:
    ///   - content: The content around the form.
    ///   - again: The reason why the page is shown again; nil if it is shown for the first time.
    ///   - request: The HTTP request that the page is the response to.
    ///   - now: The time of the request.
    package func page(_ content: Content, again: Again? = nil, on request: IncomingRequest, now: Date) -> Reply {
        let (browser, cookie) = browserToken(of: request)
        let isForgotten = again?.isForgotten ?? false
        let earlier = isForgotten ? nil : earlierSignIns.of(request)
        let username =
            again?.typed?.name ?? (content.username.isEmpty ? earlier?.username.rawValue ?? "" : content.username)
        let page = SignInPage(
            clientName: content.clientName,
            action: settings.issuer.path + endpoint.path,
            request: content.pendingRequest,
            ticket: tickets.issue(
                purpose, to: browser.exposed, request: content.pendingRequest,
                interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now)),
            username: username,
            stayBox: stayBox(
                again?.typed?.staysSignedIn ?? (earlier?.username.rawValue == username ? earlier?.staysSignedIn : nil)),
            problem: again?.problem.map { request.words($0) },
            retryAfterSeconds: again?.retryAfter,
            earlier: earlier.map { SignInPage.Earlier(name: $0.name, email: $0.email) },
            openInBrowserLink: content.openInBrowserLink,
            notice: content.notice
        )
        var reply = Reply(again?.status ?? .ok, .page(page))
        if let retryAfter = again?.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(cookie)
            .setting(isForgotten ? sessions.cookies.noEarlierUser : nil)
    }

    /// Returns the checkbox "Keep me signed in on this device"; nil if the settings offer no choice.
    ///
    /// - Parameter chosen: The choice of the user whose name the form contains; nil if it is unknown.
    private func stayBox(_ chosen: Bool?) -> SignInPage.StayBox? {
        guard settings.sessionPersistence != .never else { return nil }
        return SignInPage.StayBox(isTicked: chosen ?? (settings.sessionPersistence == .ticked))
    }

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
        let typed = Typed(
            name: try form.value("username"), staysSignedIn: try form.value(Self.stayField) == "true")
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
            let event = auditor.event(.signIn, by: request, user: user.id, client: client, now: now)
            let begun = try await sessions.begin(
                for: user, replacing: request, stayingSignedIn: typed.staysSignedIn, recording: event, now: now)
            guard let (session, cookie) = begun else {
                await auditor.refuse(
                    .signIn, because: .accountChanged, request, user: user.id, client: client, now: now)
                return .again(.wrong(typed))
            }
            return .signedIn(session, cookies: [cookie, earlierSignIns.remember(session)].compactMap(\.self))
        }
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

extension SignInForm.Again {
    fileprivate var isForgotten: Bool { if case .forgotten = self { true } else { false } }

    fileprivate var typed: SignInForm.Typed? {
        switch self {
        case .forgotten: nil
        case .wrong(let typed), .tooEarly(let typed, _): typed
        }
    }

    fileprivate var problem: SignInMessage? {
        switch self {
        case .forgotten: nil
        case .wrong: .wrong
        case .tooEarly: .tooManyAttempts
        }
    }

    fileprivate var retryAfter: Int? { if case .tooEarly(_, let seconds) = self { seconds } else { nil } }

    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .forgotten: .ok
        case .wrong: .badRequest
        case .tooEarly: .tooManyRequests
        }
    }
}
