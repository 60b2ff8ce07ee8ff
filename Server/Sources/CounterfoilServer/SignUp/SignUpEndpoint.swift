import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint `/sign-up`: the page on which a person asks for an account, and the page to which an invitation or the
/// link in the mail leads.
///
/// No GET request changes anything: mail programs and virus scanners open links, too.
struct SignUpEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    /// The queue of mails; nil if no mail is set up.
    let mails: MailQueue?
    let newAccount: NewAccountForm
    let auditor: Auditor
    let signInPath: String

    /// The values of the form field `decision`.
    private enum Decision: String {
        /// Shows the form.
        case begin
        case send
        case signIn = "sign-in"
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.signUp, of: flow, respond)] }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        guard flow.settings.signUp != .closed else { throw NotFoundError() }
        guard request.head.method == .post else { return .page(try await show(request, now: now)) }
        let form = try PageForm(request, issuer: flow.settings.issuer)
        guard try form.value("link").isEmpty else { return try await newAccount.receive(form, request, now: now) }
        return try await ask(form, request, now: now)
    }

    private func show(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let query = try? FormParameters(parsing: request.query)
        for kind in NewAccountForm.LinkKind.allCases {
            guard let secret = try? query?.single(kind.rawValue) else { continue }
            return try await newAccount.page(kind, secret: secret, on: request, now: now)
        }
        _ = try openMails()
        return pages.signUpForm.page(SignUpForm.Content(request: ""), on: request, now: now)
    }

    /// Returns the queue of mails; throws if only persons with an invitation can create an account.
    private func openMails() throws(NotFoundError) -> MailQueue {
        guard flow.settings.signUp == .open, let mails else { throw NotFoundError() }
        return mails
    }

    private func ask(_ form: PageForm, _ request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let mails = try openMails()
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        guard try !form.value("request").isEmpty else {
            let content = SignUpForm.Content(request: "")
            switch decision {
            case .begin: return .page(pages.signUpForm.page(content, on: request, now: now))
            case .signIn: return .page(.seeOther(signInPath))
            case .send:
                let again = flow.settings.issuer.endpoint(Endpoint.signUp.path)
                let sent = try await send(form, by: mails, request, again: again, now: now)
                switch sent {
                case .sent(let reply): return .page(reply)
                case .again(let again):
                    return .page(pages.signUpForm.page(content, again: again, on: request, now: now))
                }
            }
        }
        let target = try await flow.receiveAgain(try form.pendingRequestParameters(), in: request, now: now)
        return await flow.outcome(at: target) {
            let exchange = AuthorizationExchange(
                authorization: try await flow.validate(target, now: now), request: request, now: now)
            try pages.checkWebView(exchange)
            switch decision {
            case .begin: return .page(pages.signUp(exchange))
            case .signIn: return .page(try pages.signIn(exchange))
            case .send:
                let again = flow.settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest)
                switch try await send(form, by: mails, request, again: again, now: now) {
                case .sent(let reply): return .page(reply)
                case .again(let again): return .page(pages.signUp(exchange, again: again))
                }
            }
        }
    }

    private enum Sent {
        case sent(Reply)
        case again(SignUpForm.Again)
    }

    /// Sends a mail to the typed address; the answer does not tell whether an account has it.
    private func send(
        _ form: PageForm, by mails: MailQueue, _ request: IncomingRequest, again: String, now: Date
    ) async throws -> Sent {
        let browser = try pages.signUpForm.browser(of: form, in: request, again: again, now: now)
        let typed = try form.value("email")
        guard let email = EmailAddress(typed) else { return .again(.badEmail(typed)) }
        let event = auditor.event(.account, by: request, detail: "sent a mail about a new account", now: now).named(
            .userLinkCreated)
        do {
            let outcome = try await mails.sendSignUp(
                to: email, from: ArtefactDigest(ofSignUpBrowser: browser.exposed),
                continuing: try form.value("request"), for: request, now: now, recording: event)
            guard outcome == .queued else { return .again(.queueFull(typed)) }
        } catch let limit as MailQueue.TooMany {
            await auditor.refuse(.throttled, because: limit.cause, request, detail: "sign-up mail", now: now)
            return .again(.tooMany(typed, retryAfter: limit.retryAfter))
        }
        auditor.countRecorded(event)
        let page = SignUpSentPage(
            email: email.rawValue, duration: request.words(.duration(seconds: MailQueue.signUpLifetime)))
        return .sent(Reply(.ok, .page(page)))
    }
}
