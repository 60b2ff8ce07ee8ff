import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Logging

/// The steps that the authorization endpoint and its pages share: receiving a request and answering it.
struct AuthorizationFlow: Sendable {
    let settings: ServerSettings
    let store: any AuthorizationServerStore
    let hints: IDTokenHints
    let random: RandomBytes
    let logger: Logger
    let auditor: Auditor
    let approvals: ApprovalThrottle

    /// A refused request whose error response can be sent to the client.
    struct Refused: Error {
        let error: OAuthError
        let redirectURI: RedirectURI
        let mode: ResponseMode
        let state: State?
        let client: RegisteredClient
        /// Whether the user denied the request on a page of this server.
        let isDenied: Bool
        /// The fault of the store that caused the refusal, for the operator.
        var fault: StoreFault?

        /// The error response for the client (RFC 6749 §4.1.2.1).
        func answer(issuer: Issuer) -> AuthorizationAnswer {
            AuthorizationAnswer(
                response: AuthorizationResponse(.error(error), state: state, issuer: issuer),
                redirectURI: redirectURI, mode: mode, client: client)
        }

        /// Whether the browser goes to the redirect URI only after the user has chosen to.
        ///
        /// RFC 9700 §4.11.2: an attacker can send an invalid request, or one with `prompt=none`, to misuse this
        /// server as an open redirector. So the error response to an untrusted client is not followed
        /// automatically. A user who denied the request on a page of this server has already chosen.
        var needsChoice: Bool {
            !isDenied && !client.isReachedWithoutChoice(at: redirectURI)
        }
    }

    /// The reasons why an approval issued no code, for an error page.
    enum NotApproved: Error {
        case alreadyAnswered
        /// The client has changed since the page was shown; the URL asks the user again.
        case clientChanged(askAgain: String)
        case clientGone
        case personGone
        /// The session ended or the consent was withdrawn while the request was processed; the URL starts it
        /// again.
        case outdated(startAgain: String, OAuthError)
    }

    /// Receives a request.
    ///
    /// - Throws: ``UnansweredRequest`` if only a page can report the error, and ``Refused`` if the client can
    ///   be told.
    func receive(_ form: FormParameters, now: Date) async throws -> ValidatedAuthorization {
        let addressee = try Self.addressee(of: form)
        return try await validate(form, addressee, client: try await store.client(addressee.clientID), now: now)
    }

    /// Receives a request again from the hidden field of a page, and repeats every check.
    ///
    /// The request was valid when the page was shown. If it is invalid now, its client has changed or was
    /// deleted, and ``NotApproved`` is thrown.
    ///
    /// - Parameter shown: the question that the page asked, if its form answers one.
    func receiveAgain(
        _ form: FormParameters,
        shown: ShownQuestion? = nil,
        now: Date
    ) async throws -> ValidatedAuthorization {
        let addressee = try Self.addressee(of: form)
        guard let client = try await store.client(addressee.clientID) else { throw NotApproved.clientGone }
        let changed = NotApproved.clientChanged(
            askAgain: settings.issuer.authorizationURL(carried: AuthorizationPages.carried(form)))
        guard shown?.isAbout(client) ?? true else { throw changed }
        do {
            let authorization = try await validate(form, addressee, client: client, now: now)
            // The scopes of an API can have changed as well.
            guard shown == nil || shown == ShownQuestion(authorization) else { throw changed }
            return authorization
        } catch is UnansweredRequest { throw changed }
    }

    private static func addressee(
        of form: FormParameters
    ) throws(UnansweredRequest) -> AuthorizationRequest.Addressee {
        do { return try AuthorizationRequest.Addressee(parsing: form) } catch { throw .addressee(error) }
    }

    private func validate(
        _ form: FormParameters,
        _ addressee: AuthorizationRequest.Addressee,
        client: RegisteredClient?,
        now: Date
    ) async throws -> ValidatedAuthorization {
        let verified = try AuthorizationValidation.addressee(
            of: addressee, client: client, form: form, settings: settings)
        do {
            let authorization = try AuthorizationValidation.validate(form, for: verified, hints: hints, now: now)
            return try AuthorizationValidation.narrow(
                authorization,
                to: try await store.named(authorization.request.resources, issuer: settings.issuer))
        } catch let error as OAuthError {
            let way = Refused.Way(of: form, after: error, to: verified.redirectURI)
            throw Refused(
                error: error,
                redirectURI: verified.redirectURI,
                mode: way.mode,
                state: way.state,
                client: verified.client,
                isDenied: false
            )
        }
    }

    /// Decides the next step; reads the remembered consent only if it matters.
    func next(
        for visit: AuthorizationVisit, session: LiveSession?, signedInForThis: Bool
    ) async throws -> InteractionPolicy.Step {
        let authorization = visit.authorization
        let sufficient = InteractionPolicy.sufficient(
            session, for: authorization.request, signedInForThis: signedInForThis, now: visit.now)
        let session = isMeant(sufficient?.person, by: authorization) ? sufficient : nil
        if session == nil, sufficient != nil, signedInForThis {
            // OpenID Connect Core §3.1.2.1: the user who signed in is not the one whom the request requires.
            return .refuse(
                OAuthError(.loginRequired, "the signed-in user does not match id_token_hint or the sub claim"))
        }
        var earlier: Consent?
        if let session, InteractionPolicy.weighsConsent(for: authorization) {
            earlier = try await store.consent(of: session.person.id, to: authorization.client.id)
        }
        return InteractionPolicy.next(
            for: authorization, session: session, signedInForThis: signedInForThis, earlier: earlier)
    }

    /// Returns true if the request accepts this user: no `id_token_hint` and no `sub` among its `claims`
    /// names another one (OpenID Connect Core §5.5.1).
    ///
    /// A hint whose signing key was deleted names no user. It is ignored, except with `prompt=none`, where the
    /// user cannot be asked.
    private func isMeant(_ person: Person?, by authorization: ValidatedAuthorization) -> Bool {
        if let person, let meant = authorization.request.claims?.requiredSubjects {
            let name = Array(hints.subjects.name(of: person.id, to: authorization.client).utf8)
            guard meant.contains(where: { Array($0.utf8) == name }) else { return false }
        }
        return switch authorization.hinted {
        case nil: true
        case .somebody: !authorization.request.prompt.contains(.none)
        case .person(let hint): person.map { hints.mean(hint, $0, at: authorization.client) } ?? true
        }
    }

    /// Refuses a valid request without a decision of the user.
    func refusal(_ error: OAuthError, of authorization: ValidatedAuthorization) -> Refused {
        refused(authorization, error, isDenied: false)
    }

    /// Refuses a valid request because of a fault of the store.
    func refusal(_ fault: StoreFault, of authorization: ValidatedAuthorization) -> Refused {
        let error =
            switch fault {
            case .unavailable:
                OAuthError(.temporarilyUnavailable, "the server is temporarily unavailable; try again later")
            case .damaged: OAuthError(.serverError, "the server cannot process this request")
            }
        var refused = refused(authorization, error, isDenied: false)
        refused.fault = fault
        return refused
    }

    /// Refuses a request that the user denied on a page of this server; wire name `access_denied`.
    func denial(of authorization: ValidatedAuthorization, because reason: String) -> Refused {
        refused(authorization, OAuthError(.accessDenied, reason), isDenied: true)
    }

    private func refused(_ authorization: ValidatedAuthorization, _ error: OAuthError, isDenied: Bool) -> Refused {
        Refused(
            error: error,
            redirectURI: authorization.redirectURI,
            mode: authorization.request.responseMode ?? .query,
            state: authorization.request.state,
            client: authorization.client,
            isDenied: isDenied
        )
    }

    /// Records the user's approval and returns the response with the authorization code.
    ///
    /// - Parameters:
    ///   - visit: The approved request.
    ///   - granted: The scopes that the user allowed on a page; nil for all of them, without a question.
    ///   - session: The session of the user.
    ///   - interaction: The page that the user answered, which can be answered once; nil without a question.
    func approve(
        _ visit: AuthorizationVisit,
        granting granted: Scope? = nil,
        by session: LiveSession,
        interaction: InteractionIdentifier? = nil
    ) async throws -> AuthorizationAnswer {
        try await count(visit, by: session)
        let (authorization, now) = (visit.authorization, visit.now)
        let interaction = interaction ?? InteractionIdentifier(random: random)
        let code = AuthorizationCode(random: random)
        let allowed = granted.map { authorization.asked.intersection($0) } ?? authorization.asked
        let grant = Grant(
            id: GrantIdentifier(random: random),
            personID: session.person.id,
            clientID: authorization.client.id,
            scope: authorization.scope.intersection(allowed),
            resources: authorization.request.resources,
            claims: authorization.claims(within: allowed),
            claimScope: authorization.claimScope.intersection(allowed),
            sessionID: session.id,
            authenticatedAt: session.authenticatedAt,
            createdAt: now,
            lastUsedAt: now
        )
        let record = CodeRecord(
            digest: ArtefactDigest(of: code),
            interaction: ArtefactDigest(of: interaction),
            grantID: grant.id,
            redirectURI: authorization.redirectURI,
            redirectURIWasGiven: authorization.request.redirectURI != nil,
            requestedScope: authorization.request.scope ?? authorization.scope,
            codeChallenge: authorization.request.codeChallenge,
            nonce: authorization.request.nonce,
            authenticatedAt: session.authenticatedAt,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(settings.codeLifetime))
        )
        let approval = Approval(
            grant: grant,
            code: record,
            asked: authorization.asked,
            appearance: ClientAppearance(of: authorization.client),
            clientRevision: authorization.client.revision,
            pkce: authorization.pkce,
            passwordHash: session.person.passwordHash,
            basis: granted != nil
                ? .answer : InteractionPolicy.weighsConsent(for: authorization) ? .rememberedConsent : .firstParty
        )
        switch try await store.recordConsent(approval) {
        case .recorded: await noteException(of: visit, for: grant)
        case .clientChanged:
            throw NotApproved.clientChanged(askAgain: settings.issuer.authorizationURL(carried: visit.carried))
        case .alreadyAnswered: throw NotApproved.alreadyAnswered
        case .clientGone: throw NotApproved.clientGone
        case .personGone: throw NotApproved.personGone
        case .sessionEnded:
            throw outdated(
                visit,
                OAuthError(.loginRequired, "the session ended while the request was processed"))
        case .consentWithdrawn:
            throw outdated(
                visit,
                OAuthError(.consentRequired, "the consent was withdrawn while the request was processed"))
        }
        return AuthorizationAnswer(
            response: AuthorizationResponse(.code(code), state: authorization.request.state, issuer: settings.issuer),
            redirectURI: authorization.redirectURI, mode: authorization.request.responseMode ?? .query,
            client: authorization.client)
    }

    /// The error for a request whose session or consent ended while it was processed.
    ///
    /// OpenID Connect Core §3.1.2.6: with `prompt=none` the client gets the error code.
    private func outdated(_ visit: AuthorizationVisit, _ error: OAuthError) -> any Error {
        let authorization = visit.authorization
        guard !authorization.request.prompt.contains(.none) else { return refusal(error, of: authorization) }
        return NotApproved.outdated(startAgain: settings.issuer.authorizationURL(carried: visit.carried), error)
    }

    /// Counts an approval against the limit of its user.
    private func count(_ visit: AuthorizationVisit, by session: LiveSession) async throws {
        do {
            try approvals.note(session.person.id, now: visit.now)
        } catch let tooMany {
            await auditor.note(
                .throttled, .refused, by: visit.request, person: session.person.id, client: visit.client.id,
                detail: "approvals", now: visit.now)
            guard visit.authorization.request.prompt.contains(.none) else { throw tooMany }
            throw refusal(tooMany.error, of: visit.authorization)
        }
    }

    /// Logs and audits each use of an administrator's exemption from S256.
    private func noteException(of visit: AuthorizationVisit, for grant: Grant) async {
        let (client, pkce) = (visit.client, visit.authorization.pkce)
        guard pkce != .s256 else { return }
        logger.notice(
            "issued code without S256 (client policy exemption)",
            metadata: [
                "client_id": "\(client.id)", "code_challenge_method": "\(pkce.rawValue)",
                "policy": "\(client.policy.pkce)", "request": "\(visit.request.id)",
            ]
        )
        await auditor.note(
            .pkceException, by: visit.request, person: grant.personID, client: grant.clientID, grant: grant.id,
            detail: "code_challenge_method \(pkce.rawValue), policy \(client.policy.pkce)", now: visit.now)
    }
}

extension ValidatedAuthorization {
    /// The individually requested claims that an allowed scope covers (OpenID Connect Core §5.5).
    fileprivate func claims(within scope: Scope) -> RequestedClaims {
        request.claims?.claims.named(PersonClaims.names(for: scope)) ?? RequestedClaims()
    }
}
