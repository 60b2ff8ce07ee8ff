import CounterfoilProtocol
import Foundation

/// The rules for the next step of an authorization request, as a pure function: first the session, then the
/// consent.
enum InteractionPolicy {
    /// The next step.
    enum Step: Sendable {
        /// The user signs in.
        case signIn
        /// The user is asked for consent; the page shows the earlier consent.
        case askConsent(LiveSession, earlier: Consent?)
        /// The user confirms the sign-in; consent is not needed.
        case confirm(LiveSession)
        /// No interaction is needed: the code is issued.
        case answer(LiveSession, because: Ground)
        /// The request forbids the page that it would need.
        case refuse(OAuthError)

        /// Whether the user sees a page next.
        var showsPage: Bool {
            switch self {
            case .signIn, .askConsent, .confirm: true
            case .answer, .refuse: false
            }
        }
    }

    /// The reasons why a response needs no further interaction of the user (RFC 8252 §8.6).
    enum Ground: Sendable {
        /// The redirect URI assures which client gets the response.
        case assured(ClientAssurance)
        /// The user signed in for this request, to a client that needs no consent.
        case signedIn
    }

    /// The session, if the user need not sign in again.
    ///
    /// - Parameter signedInForThis: whether the user has signed in for this request, which satisfies
    ///   `prompt=login`.
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

    /// Returns true if the remembered consent matters: first-party clients need none, except with `prompt=consent`.
    static func weighsConsent(for authorization: ValidatedAuthorization) -> Bool {
        !authorization.client.policy.isFirstParty || authorization.request.prompt.contains(.consent)
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - session: a sufficient session; nil if the user must sign in.
    ///   - signedInForThis: whether the user has signed in for this request.
    ///   - earlier: the remembered consent of the user for the client.
    static func next(
        for authorization: ValidatedAuthorization,
        session: LiveSession?,
        signedInForThis: Bool,
        earlier: Consent?
    ) -> Step {
        let prompt = authorization.request.prompt
        guard let session else {
            return prompt.contains(.none)
                ? .refuse(OAuthError(.loginRequired, "the user must sign in")) : .signIn
        }
        let isFirstParty = authorization.client.policy.isFirstParty
        if !prompt.contains(.consent), isFirstParty || isRemembered(earlier, for: authorization) {
            let assurance = ClientAssurance(
                of: authorization.client, at: authorization.redirectURI.uri,
                isAtCallbackOrigin: authorization.isAtCallbackOrigin)
            if let assurance {
                return .answer(session, because: .assured(assurance))
            }
            if isFirstParty { return confirmation(session, signedInForThis: signedInForThis, prompt: prompt) }
        }
        return prompt.contains(.none)
            ? .refuse(OAuthError(.consentRequired, "the user must give consent"))
            : .askConsent(session, earlier: earlier)
    }

    /// RFC 8252 §8.6: any program on the device can send a first-party client's request and receive its response.
    ///
    /// So the user confirms each one.
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

    /// Returns true if an earlier consent covers a request: the client looks the same and requests no other
    /// scope or API.
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
    /// Returns true if the user has already allowed everything that a request asks for, at the APIs that it names.
    func remembers(_ authorization: ValidatedAuthorization) -> Bool {
        authorization.asked.tokens.allSatisfy { remembers($0, at: authorization.request.resources) }
    }
}
