import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/authorize` (RFC 6749 §3.1 and §4.1.1): GET with a query, or POST with a form.
struct AuthorizationEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionManager

    /// The maximum size in bytes of the authorization request, which the pages carry in a hidden field.
    ///
    /// The endpoints of the forms accept a field of this size.
    private static let pendingRequestLimit = 28 * 1024

    var handlers: [EndpointHandler] { [EndpointHandler(.authorization, of: flow, respond)] }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let form = try Self.parameters(of: request)
        let target = try await flow.receive(form, in: request, now: now)
        return await flow.outcome(at: target) {
            let authorization = try await flow.validate(target, now: now)
            if target.isInFrame(request), authorization.request.responseMode == .formPost {
                // The page that posts the form cannot be shown in a frame, so the client would never get the code.
                throw OAuthError(
                    .invalidRequest, "response_mode=form_post is not possible in a frame; use response_mode=query")
            }
            return try await proceed(
                AuthorizationExchange(authorization: authorization, request: request, now: now), asking: form)
        }
    }

    private func proceed(
        _ exchange: AuthorizationExchange, asking form: FormParameters
    ) async throws -> AuthorizationOutcome {
        let session = try await sessions.current(exchange.request, now: exchange.now)
        guard form.pairs.count < FormParameters.pairLimit,
            exchange.pendingRequest.utf8.count <= Self.pendingRequestLimit
        else {
            throw exchange.ending(
                ResponseTargetError.target(
                    .parameters(.tooLong(limit: Self.pendingRequestLimit)), clientID: exchange.client.id.rawValue),
                toClient: OAuthError(.invalidRequest, "the request is longer than \(Self.pendingRequestLimit) bytes"))
        }
        // OpenID Connect Core §3.1.2.1: a request can be posted. If a page of another site posts it, the browser leaves
        // out the session cookie because of `SameSite=Lax`. It sends the cookie with the GET request after a redirect.
        if session == nil, exchange.request.head.method == .post {
            return .page(.seeOther(flow.settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest)))
        }
        let signedInForThis = signedIn(form, exchange, session: session)
        let step = try await flow.next(for: exchange, session: session, signedInForThis: signedInForThis)
        if step.showsPage { try pages.checkWebView(exchange) }
        switch step {
        case .signIn:
            guard let external = pages.external else { return .page(try pages.signIn(exchange)) }
            guard !signedInForThis else {
                // The page would sign the user in as before.
                throw OAuthError(.loginRequired, "the user has not signed in as recently as the request demands")
            }
            let request = try await flow.shortRequest(of: exchange)
            return .page(
                try external.redirect(ExternalSignInQuestion(exchange, continuing: request), in: exchange.request))
        case .signUp:
            return .page(pages.signUp(exchange))
        case .stepUp(let session, let confirmation):
            return .page(try await pages.stepUp(exchange, session: session, with: confirmation))
        case .acceptTerms(let session, let terms):
            return .page(pages.terms(terms, exchange, session: session, signedInForThis: signedInForThis))
        case .askConsent(let session, let earlier):
            return .page(
                try await pages.consent(
                    exchange, session: session, earlier: earlier, signedInForThis: signedInForThis))
        case .confirm(let session):
            return .page(pages.confirmation(exchange, session: session))
        case .needsOtherUser(let approvers):
            throw approvers.problem(of: exchange.client.displayName)
        case .answer(let session, _):
            return try await flow.approve(exchange, by: session, signedInForThis: signedInForThis)
        case .refuse(let error):
            throw error
        }
    }

    /// Returns the parameters of the query and, for a POST, of the form in one list.
    ///
    /// A parameter that occurs in the query and in the form is thus detected as repeated.
    private static func parameters(of request: IncomingRequest) throws -> FormParameters {
        var form: FormParameters
        do { form = try FormParameters(parsing: request.query) } catch {
            throw ResponseTargetError.target(.parameters(error))
        }
        if request.head.method == .post {
            let body: FormParameters
            do { body = try request.readForm() } catch { throw PageProblem.unreadableForm(error) }
            for pair in body.pairs { form.append(pair.name, pair.value) }
        }
        return form
    }

    private func signedIn(_ form: FormParameters, _ exchange: AuthorizationExchange, session: LiveSession?) -> Bool {
        guard let session, let ticket = try? form.single(AuthorizationPages.signedInParameter) else { return false }
        let checked = try? pages.tickets.check(
            ticket, .signedIn, of: session.holder, request: exchange.pendingRequest, now: exchange.now)
        return checked != nil
    }
}
