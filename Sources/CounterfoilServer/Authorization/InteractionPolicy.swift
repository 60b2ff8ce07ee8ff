import CounterfoilProtocol
import Foundation

/// What must happen next for an authorization request, decided from facts alone: first whether the session will do, then
/// whether the person is asked.
enum InteractionPolicy {
    /// The next step.
    enum Step: Sendable {
        /// The person signs in.
        case signIn
        /// The person is asked for consent; what was allowed earlier is shown beside it.
        case askConsent(LiveSession, earlier: Consent?)
        /// The person confirms the sign-in; consent is not needed.
        case confirm(LiveSession)
        /// Nothing is left to ask: the answer is given.
        case answer(LiveSession, because: Ground)
        /// The request forbids the page that it would need.
        case refuse(OAuthError)

        /// Whether a person sees a page next.
        var showsPage: Bool {
            switch self {
            case .signIn, .askConsent, .confirm: true
            case .answer, .refuse: false
            }
        }
    }

    /// Why an answer needs no further interaction of the user (RFC 8252 §8.6).
    enum Ground: Sendable {
        /// The redirect URI assures which client gets the answer.
        case assured(ClientAssurance)
        /// The user signed in for this very request, to a client that needs no consent.
        case signedIn
    }

    /// The session, when the person need not sign in again.
    ///
    /// - Parameters:
    ///   - signedInForThis: whether the person has signed in for this very request, which satisfies `prompt=login`.
    static func sufficient(
        _ session: LiveSession?,
        for request: AuthorizationRequest,
        signedInForThis: Bool,
        now: Date
    ) -> LiveSession? {
        guard let session, !mustSignInAgain(request, session: session, signedInForThis: signedInForThis, now: now)
        else { return nil }
        return session
    }

    /// Whether it matters what the person has allowed before: applications of the owner are not asked about.
    static func weighsConsent(for authorization: ValidatedAuthorization) -> Bool {
        !authorization.client.policy.isFirstParty || authorization.request.prompt.contains(.consent)
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - session: a session that is sufficient.
    ///   - signedInForThis: whether the user has signed in for this very request.
    ///   - earlier: what the person has allowed the application before.
    static func next(
        for authorization: ValidatedAuthorization,
        session: LiveSession?,
        signedInForThis: Bool,
        earlier: Consent?
    ) -> Step {
        let prompt = authorization.request.prompt
        guard let session else {
            return prompt.contains(.none)
                ? .refuse(OAuthError(.loginRequired, "the person must sign in")) : .signIn
        }
        let isFirstParty = authorization.client.policy.isFirstParty
        if !prompt.contains(.consent), isFirstParty || isRemembered(earlier, for: authorization) {
            let assurance = ClientAssurance(
                of: authorization.client, at: authorization.redirectURI,
                isAtCallbackOrigin: authorization.isAtCallbackOrigin)
            if let assurance {
                return .answer(session, because: .assured(assurance))
            }
            if isFirstParty { return confirmation(session, signedInForThis: signedInForThis, prompt: prompt) }
        }
        return prompt.contains(.none)
            ? .refuse(OAuthError(.consentRequired, "the person must be asked for consent"))
            : .askConsent(session, earlier: earlier)
    }

    /// RFC 8252 §8.6: any program on the device can send the request of a first-party client and receive its answer, so the user
    /// takes part in each one.
    private static func confirmation(
        _ session: LiveSession, signedInForThis: Bool, prompt: Set<AuthorizationRequest.Prompt>
    ) -> Step {
        if signedInForThis { return .answer(session, because: .signedIn) }
        return prompt.contains(.none)
            ? .refuse(
                OAuthError(
                    .interactionRequired,
                    "the user must confirm the sign-in: this redirect URI does not assure the identity of the client"))
            : .confirm(session)
    }

    /// Whether an earlier consent covers a request: the client looks as it did, and asks for nothing more and at no other API.
    private static func isRemembered(_ earlier: Consent?, for authorization: ValidatedAuthorization) -> Bool {
        guard let earlier else { return false }
        return earlier.remembers(authorization)
            && earlier.appearance == ClientAppearance(of: authorization.client)
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

extension Consent {
    /// Whether everything that a request asks for was allowed before, at the APIs that it names.
    func remembers(_ authorization: ValidatedAuthorization) -> Bool {
        authorization.asked.tokens.allSatisfy { remembers($0, at: authorization.request.resources) }
    }
}
