import CounterfoilProtocol
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

    var handlers: [EndpointHandler] { [EndpointHandler(question.endpoint, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        do {
            return try await decide(request, now: now)
        } catch var refused as AuthorizationFlow.RedirectableError {
            refused.isAnswerToForm = true
            throw await flow.completing(refused)
        }
    }

    private func decide(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let carried = try form.value("request")
        let again = flow.settings.issuer.authorizationURL(carried: carried)
        guard let session = try await sessions.current(request, now: now) else {
            // The session has ended since the page was shown: the user signs in and is asked again.
            return .seeOther(again)
        }
        let ticket = try form.ticket(of: session, with: pages.tickets(of: question), again: again, now: now)
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        switch decision {
        case .switchAccount:
            let event = flow.auditor.event(.signOut, by: request, person: session.person.id, now: now)
            let cookie = try await sessions.end(session, recording: event, now: now)
            return .seeOther(again).setting(cookie).setting(pages.cookies.noEarlierUser)
        case .allow, .deny:
            let authorization = try await flow.receiveAgain(
                try form.carriedRequest(), in: request, shown: ticket.shown, now: now)
            let visit = AuthorizationVisit(
                authorization: authorization, carried: carried, request: request, now: now)
            try pages.checkWebView(visit)
            func deny(because reason: String) async throws -> Never {
                await flow.auditor.refuse(
                    .consent, because: .denied, request, person: session.person.id, client: authorization.client.id,
                    now: now)
                throw flow.denial(of: authorization, because: reason)
            }
            guard decision == .allow else { try await deny(because: "the user denied the request") }
            let granted =
                switch question {
                case .consent: try form.granted(of: authorization.access)
                // A first-party client gets every requested scope, whether this page is shown or not.
                case .confirmation: authorization.asked
                }
            guard !granted.isEmpty || authorization.asked.isEmpty else {
                // RFC 6749 §3.3: a scope has at least one token, so a user who deselects every permission
                // denies the request.
                try await deny(because: "the user allowed none of the requested scopes")
            }
            let answer = try await flow.approve(
                visit, granting: granted, by: session, interaction: ticket.interaction)
            return answer.page(flow.allowed, issuer: flow.settings.issuer)
        }
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
    ) throws(PageProblem) -> (shown: ConsentSnapshot, interaction: InteractionIdentifier) {
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
