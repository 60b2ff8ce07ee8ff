import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The endpoint that receives the form of the sign-in page during an authorization request.
struct SignInEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages

    var handlers: [EndpointHandler] { [EndpointHandler(.signIn, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        do {
            return try await signIn(request, now: now)
        } catch var refused as AuthorizationFlow.RedirectableError {
            refused.isAnswerToForm = true
            throw await flow.completing(refused)
        }
    }

    private func signIn(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let submission = try pages.signInForm.receive(
            request, now: now, at: flow.settings.issuer.authorizationURL(carried:))
        let authorization = try await flow.receiveAgain(try submission.form.carriedRequest(), in: request, now: now)
        let visit = AuthorizationVisit(
            authorization: authorization, carried: submission.carried, request: request, now: now)
        try pages.checkWebView(visit)
        switch try await pages.signInForm.attempt(submission, for: visit.client.id) {
        case .again(let again):
            return pages.signIn(visit, again: again)
        case .signedIn(let session, let cookies):
            return try await proceed(visit, session: session).setting(cookies)
        }
    }

    private func proceed(_ visit: AuthorizationVisit, session: LiveSession) async throws -> Reply {
        switch try await flow.next(for: visit, session: session, signedInForThis: true) {
        case .signIn, .askConsent, .confirm, .needsAdministrator:
            return pages.afterSignIn(visit, session: session)
        case .answer(let session, _):
            return try await flow.approve(visit, by: session).page(flow.allowed, issuer: flow.settings.issuer)
        case .refuse(let error):
            throw flow.refusal(error, of: visit.authorization)
        }
    }
}
