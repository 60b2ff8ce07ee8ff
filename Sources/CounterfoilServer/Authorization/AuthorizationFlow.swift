import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Logging

/// The steps that the authorization endpoint and its pages share: receiving a request and answering it.
struct AuthorizationFlow: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let directory: ClientDirectory
    let hints: IDTokenHints
    let random: RandomBytes
    let logger: Logger
    let auditor: Auditor
    let approvals: ApprovalThrottle
    let audiences: AudienceParameterLog

    /// The kind of a page with a code.
    var allowed: ReturnPage.Kind { .allowed(codeLifetime: settings.codeLifetime) }

    /// A refused request whose error response can be sent to the client.
    struct RedirectableError: Error {
        let error: OAuthError
        let redirectURI: RedirectURI
        var mode: ResponseMode
        let state: OAuthState?
        let client: RegisteredClient
        /// Whether the user denied the request on a page of this server.
        let isDenied: Bool
        /// The pushed request to which the error response is the answer; nil if the request was not pushed.
        var pushedRequest: ArtefactDigest?
        /// Whether the user has sent a form, after which a page carries the response (``ReturnPage``).
        var isAnswerToForm = false
        /// Whether the response is for a frame, where no page can be shown (``SilentFrame``).
        var isInFrame = false
        /// The store fault that caused the refusal, for the operator's log.
        var fault: StoreFault?

        /// Returns the error response for the client (RFC 6749 §4.1.2.1).
        func answer(issuer: Issuer) -> AuthorizationAnswer {
            AuthorizationAnswer(
                response: AuthorizationResponse(.error(error), state: state, issuer: issuer),
                redirectURI: redirectURI, mode: mode, client: client)
        }

        /// Whether the user must press a button before the browser goes to the redirect URI.
        ///
        /// RFC 9700 §4.11.2: an attacker can send an invalid request, or one with `prompt=none`, to misuse this
        /// server as an open redirector. So the browser does not automatically go to the redirect URI of an
        /// untrusted client. A user who denied the request on a page of this server has already made a choice. In a
        /// frame, the browser stays on the page that contains the frame.
        var needsChoice: Bool {
            !isDenied && !isInFrame && !client.isReachedWithoutChoice(at: redirectURI)
        }
    }

    /// The errors for an approval that issued no code: the user gets an error page, or a redirect for `outdated`.
    enum ApprovalError: Error {
        case alreadyAnswered
        /// The client or the scopes of an API changed after the page was shown; `askAgain` is the URL that starts
        /// the request again.
        case clientChanged(askAgain: String)
        case clientDeleted
        case personNotActive
        /// Only administrators may allow something to the client with this name, and the user is none.
        case needsAdministrator(DisplayName)
        /// The session ended or the consent was withdrawn while the request was processed; `startAgain` is the
        /// URL that starts the request again.
        case outdated(startAgain: String, OAuthError)
    }

    /// Looks up the client of a request, and validates the request.
    ///
    /// - Throws: ``ResponseTargetError`` if the error must be shown on a page, and ``RedirectableError`` if the
    ///   error response can be sent to the client.
    func receive(
        _ parsed: ParsedAuthorizationRequest, in request: IncomingRequest, now: Date
    ) async throws -> ValidatedAuthorization {
        try await validate(parsed, client: try await client(of: parsed, in: request, now: now), now: now)
    }

    /// Repeats every check of a request that a page has carried in a hidden field.
    ///
    /// The request was valid when the page was shown, but the client or an API can have changed since.
    ///
    /// - Parameter shown: The snapshot of the question on the page; nil for the sign-in page, which asks none.
    /// - Throws: ``ApprovalError`` if the client was deleted, if its redirect URI is no longer valid, or if the
    ///   question on the page is outdated; ``RedirectableError`` if another parameter is no longer valid.
    func receiveAgain(
        _ form: FormParameters,
        in request: IncomingRequest,
        shown: ConsentSnapshot? = nil,
        now: Date
    ) async throws -> ValidatedAuthorization {
        let parsed = try await parse(form, now: now)
        guard let client = try await client(of: parsed, in: request, now: now) else {
            throw ErrorOfClient(ApprovalError.clientDeleted, clientID: parsed.target.clientID)
        }
        let changed = ErrorOfClient(
            ApprovalError.clientChanged(askAgain: settings.issuer.authorizationURL(carried: parsed.carried)),
            clientID: client.id)
        guard shown?.isAbout(client) ?? true else { throw changed }
        do {
            let authorization = try await validate(parsed, client: client, now: now)
            // Even if the client is unchanged, the scopes of an API can have changed.
            guard shown == nil || shown == ConsentSnapshot(authorization.access) else { throw changed }
            return authorization
        } catch is ResponseTargetError { throw changed }
    }

    private func client(
        of parsed: ParsedAuthorizationRequest, in request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient? {
        let id = parsed.target.clientID
        do {
            return try await directory.beginning(id, by: request, now: now)
        } catch let refusal as ClientDocumentRefusal {
            throw ResponseTargetError.clientDocument(refusal, id)
        }
    }

    private func validate(
        _ parsed: ParsedAuthorizationRequest, client: RegisteredClient?, now: Date
    ) async throws -> ValidatedAuthorization {
        let verified = try AuthorizationValidation.target(of: parsed, client: client, settings: settings)
        audiences.note(parsed.audience, of: verified.client.id, at: .authorization, now: now)
        do {
            try AuthorizationValidation.checkPushed(parsed, by: verified.client, settings: settings)
            return try await judge(parsed, for: verified, now: now)
        } catch let error as OAuthError {
            throw parsed.refused(error, to: verified)
        } catch let fault as StoreFault where parsed.forbidsPages {
            var refused = parsed.refused(fault.authorizationError, to: verified)
            refused.fault = fault
            throw refused
        }
    }

    /// Checks all parameters but the client and the redirect URI, which are verified.
    ///
    /// A pushed request and one by query pass the same checks (RFC 9126 §2.1).
    func judge(
        _ parsed: ParsedAuthorizationRequest, for verified: VerifiedResponseTarget, now: Date
    ) async throws -> ValidatedAuthorization {
        let checked = try AuthorizationValidation.validate(parsed, for: verified, hints: hints, now: now)
        let registry = try await registry.current()
        let valid = try AuthorizationValidation.narrow(
            checked,
            to: try await registry.apis(
                named: checked.request.resources, orOf: checked.scope.intersection(verified.client.scope),
                of: verified.client, settings),
            approvers: try await registry.approvers(of: verified.client, settings))
        try await registry.checkAPIs(valid.named, for: valid.scope, of: verified.client, settings)
        return valid
    }

    /// Decides the next step; reads the remembered consent only if the step depends on it.
    func next(
        for visit: AuthorizationVisit, session: LiveSession?, signedInForThis: Bool
    ) async throws -> InteractionPolicy.Step {
        let authorization = visit.authorization
        let sufficient = InteractionPolicy.sufficient(
            session, for: authorization.request, signedInForThis: signedInForThis, now: visit.now)
        let session = isMeant(sufficient?.person, by: authorization) ? sufficient : nil
        if session == nil, sufficient != nil, signedInForThis {
            // OpenID Connect Core §3.1.2.1: the user has just signed in, but is not the user whom the request
            // requires.
            return .refuse(
                OAuthError(.loginRequired, "the signed-in user does not match id_token_hint or the sub claim"))
        }
        var earlier: Consent?
        if let session, InteractionPolicy.weighsConsent(for: authorization) {
            earlier = try await store.consent(of: session.person.id, to: authorization.client.id)
        }
        return InteractionPolicy.next(
            for: authorization, session: session, signedInForThis: signedInForThis, earlier: earlier,
            approvers: authorization.approvers)
    }

    /// Returns true if the request accepts a user: neither `id_token_hint` nor a `sub` in `claims` names
    /// another user (OpenID Connect Core §5.5.1).
    ///
    /// A hint whose signing key was deleted identifies no user, so it is ignored. With `prompt=none`, where the
    /// user cannot be asked, a request with such a hint accepts no user.
    private func isMeant(_ person: Person?, by authorization: ValidatedAuthorization) -> Bool {
        if let person, let meant = authorization.request.claims?.requiredSubjects {
            let subject = Array(hints.subjects.subject(for: person.id, client: authorization.client).utf8)
            guard meant.contains(where: { Array($0.utf8) == subject }) else { return false }
        }
        return switch authorization.hinted {
        case nil: true
        case .unknownUser: !authorization.request.prompt.contains(.none)
        case .person(let hint): person.map { hints.mean(hint, $0, at: authorization.client) } ?? true
        }
    }

    /// Creates the error response to a valid request that the server refuses; if the user denied the request, use
    /// ``denial(of:because:)`` instead.
    func refusal(_ error: OAuthError, of authorization: ValidatedAuthorization) -> RedirectableError {
        refused(authorization, error, isDenied: false)
    }

    /// Creates the error that refuses a valid request because of a store fault.
    func refusal(_ fault: StoreFault, of authorization: ValidatedAuthorization) -> RedirectableError {
        var refused = refused(authorization, fault.authorizationError, isDenied: false)
        refused.fault = fault
        return refused
    }

    /// Creates the error `access_denied` for a request that the user denied on a page of this server.
    func denial(of authorization: ValidatedAuthorization, because reason: String) -> RedirectableError {
        refused(authorization, OAuthError(.accessDenied, reason), isDenied: true)
    }

    private func refused(
        _ authorization: ValidatedAuthorization, _ error: OAuthError, isDenied: Bool
    ) -> RedirectableError {
        RedirectableError(
            error: isDenied ? error : authorization.audience?.explaining(error) ?? error,
            redirectURI: authorization.redirectURI.uri,
            mode: authorization.request.responseMode ?? .query,
            state: authorization.request.state,
            client: authorization.client,
            isDenied: isDenied,
            pushedRequest: authorization.pushed?.digest
        )
    }
}

extension StoreFault {
    /// The error for the client (RFC 6749 §4.1.2.1).
    fileprivate var authorizationError: OAuthError {
        switch self {
        case .unavailable, .unconfirmed, .unsupported:
            OAuthError(.temporarilyUnavailable, "the server is temporarily unavailable; try again later")
        case .damaged: OAuthError(.serverError, "the server cannot process this request")
        }
    }
}
