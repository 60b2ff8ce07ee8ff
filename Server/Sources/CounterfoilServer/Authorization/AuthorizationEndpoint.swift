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
    private static let carriedLimit = 28 * 1024

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
                AuthorizationVisit(authorization: authorization, request: request, now: now), asking: form)
        }
    }

    private func proceed(
        _ visit: AuthorizationVisit, asking form: FormParameters
    ) async throws -> AuthorizationOutcome {
        let session = try await sessions.current(visit.request, now: visit.now)
        guard form.pairs.count < FormParameters.pairLimit, visit.carried.utf8.count <= Self.carriedLimit else {
            throw visit.ending(
                ResponseTargetError.target(
                    .parameters(.tooLong(limit: Self.carriedLimit)), clientID: visit.client.id.rawValue),
                toClient: OAuthError(.invalidRequest, "the request is longer than \(Self.carriedLimit) bytes"))
        }
        // OpenID Connect Core §3.1.2.1: a request can be posted. If a page of another site posts it, the browser leaves
        // out the session cookie because of `SameSite=Lax`. It sends the cookie with the GET request after a redirect.
        if session == nil, visit.request.head.method == .post {
            return .page(.seeOther(flow.settings.issuer.authorizationURL(carried: visit.carried)))
        }
        let step = try await flow.next(
            for: visit, session: session, signedInForThis: signedIn(form, visit, session: session))
        if step.showsPage { try pages.checkWebView(visit) }
        switch step {
        case .signIn:
            return .page(pages.signIn(visit))
        case .askConsent(let session, let earlier):
            return .page(try await pages.consent(visit, session: session, earlier: earlier))
        case .confirm(let session):
            return .page(pages.confirmation(visit, session: session))
        case .needsAdministrator:
            throw ApprovalError.needsAdministrator(visit.client.displayName)
        case .answer(let session, _):
            return try await flow.approve(visit, by: session)
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

    private func signedIn(_ form: FormParameters, _ visit: AuthorizationVisit, session: LiveSession?) -> Bool {
        guard let session, let ticket = try? form.single(AuthorizationPages.signedInParameter) else { return false }
        let checked = try? pages.tickets.check(
            ticket, .signedIn, of: session.holder, request: visit.carried, now: visit.now)
        return checked != nil
    }
}
