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
            request, now: now, at: flow.settings.issuer.authorizationURL(pendingRequest:))
        let target = try await flow.receiveAgain(try submission.form.pendingRequestParameters(), in: request, now: now)
        return await flow.outcome(at: target) {
            let exchange = AuthorizationExchange(
                authorization: try await flow.validate(target, now: now), request: request, now: now)
            try pages.checkWebView(exchange)
            let confirmed = try await pages.signInForm.confirmed(submission)
            if let confirmed, try submission.form.value("cancel") == "true" {
                await flow.auditor.refuse(
                    .signIn, because: .denied, request, user: confirmed.user.id, client: exchange.client.id, now: now)
                throw OAuthError.unmet("the user did not confirm the sign-in")
            }
            switch try await pages.signInForm.attempt(submission, for: exchange.client.id) {
            case .again(.tooLate) where confirmed != nil:
                return .page(.seeOther(flow.settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest)))
            case .again(let again):
                guard let confirmed else { return .page(try pages.signIn(exchange, again: again)) }
                return .page(try await pages.stepUp(exchange, session: confirmed, with: .passkey, again: again))
            case .signedIn(let session, let cookies, let codes, let canCreatePasskey):
                guard codes.isEmpty else {
                    // The user writes the codes down first.
                    let next = pages.afterSignIn(exchange, session: session, within: PendingSignIn.lifetime)
                    return .page(next.showing(codes).setting(cookies))
                }
                // Also an error is sent with the cookies: the session of the former ones has ended.
                return await flow.outcome(at: target) {
                    if canCreatePasskey, let offer = try await offerPasskey(exchange, session) { return .page(offer) }
                    return try await flow.proceed(exchange, session: session, signedInForThis: true, by: pages)
                }
                .setting(cookies)
            }
        }
    }

    /// Returns the page that offers a passkey; nil if something else comes first, or if the user gets no offer.
    private func offerPasskey(_ exchange: AuthorizationExchange, _ session: LiveSession) async throws -> Reply? {
        let step = try await flow.next(for: exchange, session: session, signedInForThis: true)
        let authorization = exchange.authorization
        let asked = AskedContexts(of: authorization.request, by: authorization.client)
        // With a passkey, a request for a stronger sign-in would continue with a confirmation that the user did not
        // need before. And a request with `max_age` would ask for the password again after a user who takes long.
        guard step.allowsPasskeyOffer, !authorization.request.prompt.contains(.none),
            authorization.request.maxAge == nil, !InteractionPolicy.weighsMeans(of: session, for: asked)
        else { return nil }
        return try await pages.signInForm.passkeyOffers.offer(
            to: session,
            PasskeyOfferQuestion(
                door: .authorization, request: exchange.pendingRequest, isSignedInForThis: true),
            clientName: exchange.clientName, on: exchange.request, now: exchange.now)
    }
}

extension AuthorizationFlow {
    /// Continues a request after the form of a page that asked nothing about it, such as a sign-in.
    ///
    /// A page follows at another URL. An answer does not: the browser would block its redirect after a form.
    func proceed(
        _ exchange: AuthorizationExchange, session: LiveSession, signedInForThis: Bool, by pages: AuthorizationPages
    ) async throws -> AuthorizationOutcome {
        switch try await next(for: exchange, session: session, signedInForThis: signedInForThis) {
        case .signIn, .signUp, .stepUp, .acceptTerms, .askConsent, .confirm, .needsOtherUser:
            guard signedInForThis else {
                return .page(.seeOther(settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest)))
            }
            return .page(pages.afterSignIn(exchange, session: session))
        case .answer(let session, _):
            return try await approve(exchange, by: session, signedInForThis: signedInForThis)
        case .refuse(let error):
            throw error
        }
    }
}
