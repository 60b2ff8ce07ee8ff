import CounterfoilProtocol
import Foundation

/// What must happen next for an authorization request, decided from facts alone.
enum InteractionPolicy {
    /// The next step.
    enum Step: Sendable {
        /// The person signs in.
        case signIn
        /// The person is asked for consent.
        case askConsent(LiveSession)
        /// Nothing is left to ask: the answer is given.
        case answer(LiveSession)
        /// The request forbids the page that it would need.
        case refuse(OAuthError)
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - signedInForThis: whether the person has signed in for this very request, which satisfies `prompt=login`.
    static func next(
        for authorization: ValidatedAuthorization,
        session: LiveSession?,
        signedInForThis: Bool,
        now: Date
    ) -> Step {
        let request = authorization.request
        let mayShowPages = !request.prompt.contains(.none)
        guard let session, !mustSignInAgain(request, session: session, signedInForThis: signedInForThis, now: now)
        else {
            return mayShowPages ? .signIn : .refuse(OAuthError(.loginRequired, "the person must sign in"))
        }
        guard authorization.client.policy.isFirstParty, !request.prompt.contains(.consent) else {
            // RFC 8252 §8.6: an application whose identity nothing assures is asked about each time.
            return mayShowPages
                ? .askConsent(session) : .refuse(OAuthError(.consentRequired, "the person must be asked for consent"))
        }
        return .answer(session)
    }

    /// OpenID Connect Core §3.1.2.1: `prompt` and `max_age`.
    private static func mustSignInAgain(
        _ request: AuthorizationRequest,
        session: LiveSession,
        signedInForThis: Bool,
        now: Date
    ) -> Bool {
        let asksForIt =
            request.prompt.contains(.login) || request.prompt.contains(.selectAccount) || request.maxAge == 0
        if asksForIt && !signedInForThis { return true }
        guard let maxAge = request.maxAge, maxAge > 0 else { return false }
        return now.timeIntervalSince(session.authenticatedAt) > TimeInterval(maxAge)
    }
}
