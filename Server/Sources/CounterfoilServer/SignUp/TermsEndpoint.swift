@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint `/terms`: the page on which a signed-in user accepts the terms of the service, and its form.
///
/// The parameter `to` contains the page of the console that asked for it. The sign-in page of the console validates it.
struct TermsEndpoint: Sendable {
    let continuation: SignInContinuation

    /// The values of the form field `decision`.
    private enum Decision: String {
        case accept
        case decline
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.terms, of: flow, respond)] }

    private var flow: AuthorizationFlow { continuation.flow }
    private var sessions: SessionManager { continuation.sessions }
    private var signInPath: String { continuation.signInPath }

    private var form: TermsForm {
        TermsForm(
            settings: flow.settings, tickets: continuation.pages.tickets, random: continuation.pages.random)
    }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        guard let terms = flow.settings.terms else { throw NotFoundError() }
        guard request.head.method == .post else { return .page(try await show(terms, request, now: now)) }
        return try await receive(terms, request, now: now)
    }

    private func show(_ terms: Terms, _ request: IncomingRequest, now: Date) async throws -> Reply {
        let query = try? FormParameters(parsing: request.query)
        let page = (try? query?.single("to")) ?? ""
        guard let session = try await sessions.current(request, now: now),
            flow.settings.unacceptedTerms(of: session.user) != nil
        else { return .seeOther(continuation.signIn(to: page)) }
        return form.page(terms, for: session, at: .console, request: page, now: now)
    }

    private func receive(
        _ terms: Terms, _ request: IncomingRequest, now: Date
    ) async throws -> AuthorizationOutcome {
        let posted = try PageForm(request, issuer: flow.settings.issuer)
        guard let session = try await sessions.current(request, now: now) else { return .page(.seeOther(signInPath)) }
        let question = try form.question(
            posted, of: session, again: flow.settings.issuer.path + Endpoint.terms.path, now: now)
        guard let decision = Decision(rawValue: try posted.value("decision")) else { throw PageProblem.noDecision }
        switch decision {
        case .accept:
            // If the version has changed since the page was shown, the user is asked again at the next step.
            if question.version == terms.version {
                try await accept(question.version, by: session, request, now: now)
            }
            return try await continuation.proceed(
                to: question.door, posted, isSignedInForThis: question.isSignedInForThis, request, now: now)
        case .decline:
            await flow.auditor.refuse(
                .account, because: .terms, request, user: session.user.id, detail: question.version, now: now)
            return try await decline(question, posted, session, request, now: now)
        }
    }

    private func accept(
        _ version: String, by session: LiveSession, _ request: IncomingRequest, now: Date
    ) async throws {
        let event = flow.auditor.event(
            .account, by: request, user: session.user.id, detail: "accepted the terms \(version)", now: now
        ).named(.termsAccepted)
        let isAccepted = try await flow.store.acceptTerms(
            AcceptedTerms(version: version, acceptedAt: now), by: session.user.id, recording: [event])
        guard isAccepted else { throw ApprovalError.userNotActive }
        flow.auditor.countRecorded(event)
    }

    /// Ends the session, or at the request of a client only that request.
    private func decline(
        _ question: TermsQuestion, _ posted: PageForm, _ session: LiveSession, _ request: IncomingRequest, now: Date
    ) async throws -> AuthorizationOutcome {
        if question.door == .authorization {
            let target = try await flow.receiveAgain(try posted.pendingRequestParameters(), in: request, now: now)
            let error = OAuthError(.accessDenied, "the user declined the terms of this service")
            return .redirect(AuthorizationRedirect(.denied(error), to: target))
        }
        let event = flow.auditor.event(.signOut, by: request, user: session.user.id, now: now)
        let cookie = try await sessions.end(session, recording: event, now: now)
        return .page(.seeOther(signInPath).setting(cookie))
    }
}
