import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The endpoint for the forms of the consent page and of the page that confirms a sign-in.
struct ConsentEndpoint: Sendable {
    let question: AuthorizationQuestion
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionManager

    /// The decision of the user, the form field `decision`.
    private enum Decision: String {
        case allow
        case deny
        case switchAccount = "switch"
    }

    var handlers: [EndpointHandler] { [EndpointHandler(question.endpoint, of: flow, respond)] }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let again = flow.settings.issuer.authorizationURL(pendingRequest: try form.value("request"))
        guard let session = try await sessions.current(request, now: now) else {
            // The session has ended since the page was shown: the user signs in and is asked again.
            return .page(.seeOther(again))
        }
        let ticket = try form.ticket(of: session, with: pages.tickets(of: question), again: again, now: now)
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        if decision == .switchAccount {
            let event = flow.auditor.event(.signOut, by: request, user: session.user.id, now: now)
            let cookie = try await sessions.end(session, recording: event, now: now)
            return .page(.seeOther(again).setting(cookie).setting(pages.cookies.noEarlierUser))
        }
        let target = try await flow.receiveAgain(
            try form.pendingRequestParameters(), in: request, shown: ticket.shown, now: now)
        return await flow.outcome(at: target) {
            let exchange = AuthorizationExchange(
                authorization: try await flow.validate(target, now: now), request: request, now: now)
            let access = exchange.authorization.access
            // Even if the client is unchanged, the scopes of an API can have changed.
            guard ticket.shown == ConsentSnapshot(access) else { throw ApprovalError.clientChanged(askAgain: again) }
            try pages.checkWebView(exchange)
            guard decision == .allow else {
                return await deny(exchange, by: session, because: "the user denied the request")
            }
            let granted =
                switch question {
                case .consent: try form.granted(of: access)
                // A first-party client gets every requested scope, whether this page is shown or not.
                case .confirmation: access.asked
                }
            guard !granted.isEmpty || access.asked.isEmpty else {
                // RFC 6749 §3.3: a scope has at least one token, so a user who deselects every permission
                // denies the request.
                return await deny(exchange, by: session, because: "the user allowed none of the requested scopes")
            }
            return try await flow.approve(
                exchange, granting: granted, by: session, signedInForThis: ticket.signedInForThis,
                interaction: ticket.interaction)
        }
    }

    private func deny(
        _ exchange: AuthorizationExchange, by session: LiveSession, because reason: String
    ) async -> AuthorizationOutcome {
        await flow.auditor.refuse(
            .consent, because: .denied, exchange.request, user: session.user.id, client: exchange.client.id,
            now: exchange.now)
        return .redirect(
            AuthorizationRedirect(.denied(OAuthError(.accessDenied, reason)), to: exchange.authorization.target))
    }
}

extension PageForm {
    /// Checks the ticket of a form that answers a question.
    ///
    /// - Parameter again: The URL at which the user can open the page again, if the ticket is refused.
    func ticket(
        of session: LiveSession,
        with tickets: QuestionTickets,
        again: String,
        now: Date
    ) throws(PageProblem) -> AskedPage {
        let text = try value("ticket")
        let request = try value("request")
        do {
            return try tickets.check(text, of: session, request: request, now: now)
        } catch {
            throw PageProblem(error, again: again)
        }
    }

    /// Returns the requested scopes that the user allowed: all except the optional ones whose boxes are not
    /// ticked (RFC 6749 §3.3).
    ///
    /// Only the requested scopes are looked up in the form, so that the form cannot add any.
    func granted(of access: RequestedAccess) throws(PageProblem) -> Scope {
        var granted: [Scope.Token] = []
        for token in access.asked.tokens {
            guard access.client.optionalScope.contains(token) else {
                granted.append(token)
                continue
            }
            if try value("permission.\(token)") == "granted" { granted.append(token) }
        }
        return Scope(granted)
    }
}
