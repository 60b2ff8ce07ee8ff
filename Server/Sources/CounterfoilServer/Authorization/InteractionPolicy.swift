import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The rules for the next step of an authorization request, as pure functions.
///
/// The session is checked first, then the consent.
enum InteractionPolicy {
    enum Step: Sendable {
        /// The sign-in page is shown: there is no session, or the session is not sufficient for the request.
        case signIn
        /// The page is shown on which a person asks for an account, because the request has `prompt=create`.
        case signUp
        /// The page is shown on which the signed-in user confirms, because the request asks for a stronger sign-in.
        case stepUp(LiveSession, with: Confirmation)
        /// The page is shown on which the user accepts the terms of the service.
        case acceptTerms(LiveSession, Terms)
        /// The consent page is shown; it mentions the earlier consent, if any.
        case askConsent(LiveSession, earlier: Consent?)
        /// The page "Continue as …" is shown: consent is not needed, but the user must confirm the sign-in.
        case confirm(LiveSession)
        /// A page is shown that says that only other users may allow something to the client.
        case needsOtherUser(ClientApprovers)
        /// No interaction is needed: the code is issued.
        case answer(LiveSession, because: Ground)
        /// The next step would be a page, but `prompt=none` forbids it; the client gets this error.
        case refuse(OAuthError)

        /// Whether the user may be offered a passkey first.
        ///
        /// A step that the request or the service demands comes before.
        var allowsPasskeyOffer: Bool {
            switch self {
            case .askConsent, .confirm, .answer: true
            case .signIn, .signUp, .stepUp, .acceptTerms, .needsOtherUser, .refuse: false
            }
        }

        /// Whether the user sees a page next.
        var showsPage: Bool {
            switch self {
            case .signIn, .signUp, .stepUp, .acceptTerms, .askConsent, .confirm, .needsOtherUser: true
            case .answer, .refuse: false
            }
        }
    }

    /// The way in which a signed-in user confirms.
    enum Confirmation: Sendable {
        case passkey
        case code
    }

    /// The means of a user by which a sign-in becomes stronger.
    struct Means: Sendable {
        var hasPasskey = false
        var hasSecondFactor = false

        /// Returns the way in which the user reaches a context; nil for none.
        func confirmation(reaching context: AuthenticationContext) -> Confirmation? {
            if context == .twoFactor, hasSecondFactor { return .code }
            return hasPasskey ? .passkey : nil
        }
    }

    /// The reasons why a response needs no further interaction of the user (RFC 8252 §8.6).
    enum Ground: Sendable {
        /// The redirect URI assures that only this client gets the response.
        case assured(ClientAssurance)
        /// The user has just signed in for this request, and the client is first-party and needs no consent.
        case signedIn
    }

    /// Returns the session if it is sufficient for the request; nil if the user must sign in.
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

    /// Returns true if the request needs the user's consent, which may have been given earlier.
    ///
    /// A first-party client needs consent only if the request has `prompt=consent`.
    static func weighsConsent(for authorization: ValidatedAuthorization) -> Bool {
        !isFirstParty(authorization) || authorization.request.prompt.contains(.consent)
    }

    /// Returns true if the client is first-party and the response goes to a place where it counts as such.
    ///
    /// A development redirect URI leads to whatever program runs at the port. Registration refuses such a URI of a
    /// first-party client; this check holds even if the store contains one.
    private static func isFirstParty(_ authorization: ValidatedAuthorization) -> Bool {
        let client = authorization.client
        return client.policy.isFirstParty && !client.isUnregistered
            && !authorization.redirectURI.uri.isForDevelopment(of: client.type)
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - session: the result of ``sufficient(_:for:signedInForThis:now:)``; nil if the user must sign in.
    ///   - signedInForThis: whether the user has signed in for this request.
    ///   - means: the means of the user by which a sign-in becomes stronger.
    ///   - terms: the terms that the user has not accepted yet; nil for none.
    ///   - earlier: the remembered consent of the user for the client.
    ///   - approvers: the users who may allow something to the client.
    static func next(
        for authorization: ValidatedAuthorization,
        session: LiveSession?,
        signedInForThis: Bool,
        means: Means,
        terms: Terms?,
        earlier: Consent?,
        approvers: ClientApprovers
    ) -> Step {
        let prompt = authorization.request.prompt
        guard let session else {
            return prompt.contains(.none)
                ? .refuse(OAuthError(.loginRequired, "the user must sign in"))
                : prompt.contains(.create) ? .signUp : .signIn
        }
        let asked = AskedContexts(of: authorization.request, by: authorization.client)
        if let step = stepUp(
            session, for: asked, means, forbidsPages: prompt.contains(.none), signedInForThis: signedInForThis)
        {
            return step
        }
        if let terms {
            return prompt.contains(.none) ? .refuse(termsUnaccepted) : .acceptTerms(session, terms)
        }
        guard mayApprove(session.user, approvers) else {
            return prompt.contains(.none) ? .refuse(approvers.error) : .needsOtherUser(approvers)
        }
        let isFirstParty = isFirstParty(authorization)
        if !prompt.contains(.consent), isFirstParty || isRemembered(earlier, for: authorization) {
            let assurance = ClientAssurance(
                of: authorization.client, at: authorization.redirectURI.uri,
                isAtCallbackOrigin: authorization.target.isAtCallbackOrigin)
            if let assurance {
                return .answer(session, because: .assured(assurance))
            }
            if isFirstParty { return confirmation(session, signedInForThis: signedInForThis, prompt: prompt) }
        }
        return prompt.contains(.none)
            ? .refuse(OAuthError(.consentRequired, "the user must give consent"))
            : .askConsent(session, earlier: earlier)
    }

    /// Returns true if the request, or the policy of the client, asks for a stronger sign-in than that of the session,
    /// so that the next step depends on the means of the user.
    static func weighsMeans(of session: LiveSession, for asked: AskedContexts) -> Bool {
        session.methods.context < asked.minimum
    }

    /// Returns the step by which a session becomes strong enough for the request; nil if it is, or if the request only
    /// prefers a context that the user cannot reach.
    ///
    /// RFC 9470 §5, OpenID Connect Core §5.5.1.1: the user does only what is missing. A context that is required and
    /// not reached is an error, and gives no weaker token.
    private static func stepUp(
        _ session: LiveSession, for asked: AskedContexts, _ means: Means, forbidsPages: Bool, signedInForThis: Bool
    ) -> Step? {
        guard weighsMeans(of: session, for: asked) else { return nil }
        let isRequired = !asked.accept(session.methods)
        // A preferred context that the user cannot reach leaves the required one.
        let goals = isRequired ? [asked.minimum, asked.required] : [asked.minimum]
        guard let confirmation = goals.lazy.compactMap(means.confirmation(reaching:)).first else {
            // The page of another issuer may be able to do more than it did.
            if isRequired, session.methods.external != nil, !signedInForThis {
                return forbidsPages ? .refuse(OAuthError(.loginRequired, "the user must sign in again")) : .signIn
            }
            let missing = asked.required == .twoFactor ? "second factor" : "passkey"
            return isRequired ? .refuse(.unmet("the user has no \(missing) to sign in with")) : nil
        }
        guard forbidsPages else { return .stepUp(session, with: confirmation) }
        let words = confirmation == .code ? "a code" : "a passkey"
        return isRequired ? .refuse(OAuthError(.loginRequired, "the user must confirm with \(words)")) : nil
    }

    /// Returns true if a user may allow something to a client, however often the user has done so before.
    static func mayApprove(_ user: User, _ approvers: ClientApprovers) -> Bool {
        switch approvers {
        case .everyone: true
        case .administrators: user.may(.writeClients)
        case .testers(let client): client.isTested(by: user)
        }
    }

    /// The error for the client if the user has not accepted the terms of the service, and no page may ask.
    static let termsUnaccepted = OAuthError(.interactionRequired, "the user must accept the terms of this service")

    /// Decides the step for a first-party client whose redirect URI gives no assurance.
    ///
    /// RFC 8252 §8.6: any program on the device can send the request of such a client and receive the response.
    /// So the user confirms each request, unless the user has just signed in for it.
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

    /// Returns true if an earlier consent covers a request: the client has not changed its appearance since, and the
    /// consent includes every requested scope for every named API.
    private static func isRemembered(_ earlier: Consent?, for authorization: ValidatedAuthorization) -> Bool {
        guard let earlier else { return false }
        return earlier.remembers(authorization.access)
            && earlier.appearance == ClientAppearance(of: authorization.client)
    }

    /// Returns true if `prompt` or `max_age` requires a new sign-in (OpenID Connect Core §3.1.2.1).
    private static func mustSignInAgain(
        _ request: AuthorizationRequest,
        session: LiveSession,
        signedInForThis: Bool,
        now: Date
    ) -> Bool {
        let asksForIt =
            !request.prompt.isDisjoint(with: [.login, .selectAccount, .create]) || request.maxAge == 0
        if asksForIt && !signedInForThis { return true }
        guard let maxAge = request.maxAge, maxAge > 0 else { return false }
        return now.timeIntervalSince(session.authenticatedAt) > TimeInterval(maxAge)
    }
}

extension InteractionPolicy.Means {
    /// Reads the means of the user of a session.
    init(
        of session: LiveSession, in store: any PasskeyStore & SecondFactorStore, _ settings: ServerSettings
    ) async throws {
        let user = session.user
        if PasskeyCeremonies(settings.issuer) != nil { hasPasskey = try await !store.passkeys(of: user.id).isEmpty }
        // Without a password in this session, a code is no second factor.
        if user.passwordHash != nil, session.methods.external == nil,
            case .active = try await store.secondFactor(of: user.id)
        {
            hasSecondFactor = true
        }
    }
}

extension ClientApprovers {
    /// The error for the client when the user is none of these.
    var error: OAuthError {
        switch self {
        case .everyone, .administrators:
            OAuthError(.accessDenied, "only administrators of this server may approve an unregistered client")
        case .testers:
            OAuthError(
                .accessDenied, "the client is in development, and its developer has not named the user as a tester")
        }
    }

    /// The error for a user who is none of these.
    func problem(of client: DisplayName) -> ApprovalError {
        switch self {
        case .everyone, .administrators: .needsAdministrator(client)
        case .testers: .inDevelopment(client)
        }
    }
}

extension OAuthError {
    /// The error if a sign-in cannot be as strong as a request requires (RFC 9470 §5).
    static func unmet(_ description: String) -> OAuthError {
        OAuthError(.unmetAuthenticationRequirements, description)
    }
}
