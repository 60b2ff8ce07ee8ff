import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint that receives the form of the sign-in page during an authorization request.
struct SignInEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages

    var handlers: [EndpointHandler] { [EndpointHandler(.signIn, of: flow, respond)] }

    private func respond(to request: IncomingRequest, now: Date) async throws -> AuthorizationOutcome {
        let submission = try pages.signInForm.receive(
            request, now: now, at: flow.settings.issuer.authorizationURL(carried:))
        let target = try await flow.receiveAgain(try submission.form.carriedRequest(), in: request, now: now)
        return await flow.outcome(at: target) {
            let visit = AuthorizationVisit(
                authorization: try await flow.validate(target, now: now), request: request, now: now)
            try pages.checkWebView(visit)
            switch try await pages.signInForm.attempt(submission, for: visit.client.id) {
            case .again(let again):
                return .page(pages.signIn(visit, again: again))
            case .signedIn(let session, let cookies):
                return try await proceed(visit, session: session).setting(cookies)
            }
        }
    }

    private func proceed(_ visit: AuthorizationVisit, session: LiveSession) async throws -> AuthorizationOutcome {
        switch try await flow.next(for: visit, session: session, signedInForThis: true) {
        case .signIn, .askConsent, .confirm, .needsAdministrator:
            return .page(pages.afterSignIn(visit, session: session))
        case .answer(let session, _):
            return try await flow.approve(visit, by: session)
        case .refuse(let error):
            throw error
        }
    }
}
