import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Logging

extension AuthorizationFlow {
    /// Records the user's approval, and returns the authorization code as the outcome.
    ///
    /// - Parameters:
    ///   - exchange: The approved request.
    ///   - granted: The scopes that the user allowed on a page; nil if no page asked, which grants every
    ///     requested scope.
    ///   - session: The session of the user.
    ///   - signedInForThis: Whether the user has signed in for this request, which is an event of its own.
    ///   - interaction: The identifier of the page that the user answered, which can be answered only once; nil
    ///     if no page asked.
    func approve(
        _ exchange: AuthorizationExchange,
        granting granted: Scope? = nil,
        by session: LiveSession,
        signedInForThis: Bool,
        interaction: InteractionIdentifier? = nil
    ) async throws -> AuthorizationOutcome {
        try checkApprover(of: exchange, session)
        guard settings.unacceptedTerms(of: session.user) == nil else {
            throw outdated(exchange, InteractionPolicy.termsUnaccepted)
        }
        let asked = AskedContexts(of: exchange.authorization.request, by: exchange.authorization.client)
        guard asked.accept(session.methods) else {
            // The user signed in again with less, in another tab, while the page was open.
            throw outdated(exchange, OAuthError(.loginRequired, "the user must confirm the sign-in"))
        }
        try await count(exchange, by: session)
        let (authorization, now) = (exchange.authorization, exchange.now)
        let interaction = interaction ?? InteractionIdentifier(random: random)
        let code = AuthorizationCode(random: random)
        let allowed = granted.map { authorization.asked.intersection($0) } ?? authorization.asked
        let grant = Grant(
            id: GrantIdentifier(random: random),
            userID: session.user.id,
            clientID: authorization.client.id,
            scope: authorization.scope.intersection(allowed),
            resources: authorization.named.known.map(\.resource),
            claims: authorization.claims(within: allowed),
            claimScope: authorization.claimScope.intersection(allowed),
            sessionID: session.id,
            authenticatedAt: session.authenticatedAt,
            methods: session.methods,
            context: asked.stated(of: session.methods),
            device: GrantDevice(
                name: authorization.request.deviceName.flatMap { DeviceName($0)?.description },
                userAgent: exchange.request.head.headerFields[.userAgent] ?? "", source: exchange.request.source),
            createdAt: now,
            lastUsedAt: now
        )
        let record = CodeRecord(
            digest: ArtefactDigest(of: code),
            interaction: ArtefactDigest(of: interaction),
            grantID: grant.id,
            redirectURI: authorization.redirectURI,
            requestedScope: authorization.request.scope ?? authorization.scope,
            codeChallenge: authorization.request.codeChallenge,
            keyThumbprint: authorization.request.keyThumbprint,
            nonce: authorization.request.nonce,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(settings.codeLifetime))
        )
        let approval = Approval(
            grant: grant,
            code: record,
            asked: authorization.asked,
            consentTarget: authorization.access.consentTarget,
            appearance: ClientAppearance(of: authorization.client),
            clientRevision: authorization.client.revision,
            pkce: authorization.pkce,
            passwordHash: session.user.passwordHash,
            basis: granted != nil
                ? .answer : InteractionPolicy.weighsConsent(for: authorization) ? .rememberedConsent : .firstParty,
            pushedRequest: authorization.target.parsed.pushed?.digest,
            newClient: authorization.client.storedOnApproval,
            events: events(of: exchange, for: grant, granting: granted, signedInForThis: signedInForThis),
            newClientEvent: directory.firstApprovalEvent(of: grant, by: exchange.request)
        )
        let isFirst = try await directory.isFirst(approval, by: exchange.request)
        let outcome = try await RepeatedCommit.send(for: exchange.request.context) { () async throws(StoreFault) in
            try await store.recordConsent(approval)
        }
        switch outcome {
        case .recorded:
            auditor.countRecorded(approval.events(addingClient: isFirst))
            logException(of: exchange)
        case .clientChanged: throw changed(exchange)
        // A code of this flow has a redirect URI, so it belongs to no device.
        case .alreadyAnswered, .deviceNotPending: throw ApprovalError.alreadyAnswered
        // Another tab completed the same request, which also sent the response to the client.
        case .pushedRequestGone: throw ResponseTargetError.pushedRequest(of: authorization.client.id)
        case .clientDeleted: throw ApprovalError.clientDeleted
        case .userNotActive:
            throw exchange.ending(
                ApprovalError.userNotActive, toClient: OAuthError(.loginRequired, "the user cannot sign in"))
        case .sessionEnded:
            throw outdated(exchange, OAuthError(.loginRequired, "the session ended while the request was processed"))
        case .consentWithdrawn:
            throw outdated(
                exchange, OAuthError(.consentRequired, "the consent was withdrawn while the request was processed"))
        }
        return .redirect(AuthorizationRedirect(.code(code), to: authorization.target))
    }

    /// Creates the error for a request whose session or consent ended while the request was processed.
    ///
    /// Without `prompt=none`, the browser is redirected to the authorization endpoint, which starts the request again.
    private func outdated(_ exchange: AuthorizationExchange, _ error: OAuthError) -> any Error {
        exchange.ending(ApprovalError.outdated(startAgain: again(exchange), error), toClient: error)
    }

    /// Creates the error for a request whose client changed while the request was processed.
    ///
    /// With `prompt=none` no page can explain it, so the browser starts the request again, which then meets the
    /// changed client: the redirect URI may no longer be registered.
    private func changed(_ exchange: AuthorizationExchange) -> ApprovalError {
        guard exchange.forbidsPages else { return .clientChanged(askAgain: again(exchange)) }
        return .outdated(
            startAgain: again(exchange),
            OAuthError(.temporarilyUnavailable, "the client changed while the request was processed"))
    }

    /// Returns the URL that starts the request again.
    private func again(_ exchange: AuthorizationExchange) -> String {
        settings.issuer.authorizationURL(pendingRequest: exchange.pendingRequest)
    }

    /// Throws if the user may not allow the client anything.
    ///
    /// The page was shown before this check, and the policy can have changed since.
    private func checkApprover(of exchange: AuthorizationExchange, _ session: LiveSession) throws {
        let approvers = exchange.authorization.approvers
        guard !InteractionPolicy.mayApprove(session.user, approvers) else { return }
        throw exchange.ending(approvers.problem(of: exchange.client.displayName), toClient: approvers.error)
    }

    /// Counts an approval against the rate limit of its user.
    private func count(_ exchange: AuthorizationExchange, by session: LiveSession) async throws {
        do {
            try approvals.note(session.user.id, now: exchange.now)
        } catch let tooMany {
            await auditor.refuse(
                .throttled, because: .throttledUser, exchange.request, user: session.user.id,
                client: exchange.client.id,
                detail: "approvals", now: exchange.now)
            throw exchange.ending(tooMany, toClient: tooMany.error)
        }
    }

    /// Writes a log entry if the policy of the client allowed a code without S256.
    private func logException(of exchange: AuthorizationExchange) {
        let (client, pkce) = (exchange.client, exchange.authorization.pkce)
        guard pkce.isException else { return }
        logger.notice(
            "issued code without S256 (client policy exemption)",
            metadata: [
                "client_id": "\(client.id)", "code_challenge_method": "\(pkce.rawValue)",
                "policy": "\(client.policy.pkce)", "request": "\(exchange.request.id)",
            ]
        )
    }

    /// Returns the events of an approval: the sign-in to the client in an existing session, the answer of the user, and
    /// the exception of the policy of the client.
    ///
    /// - Parameters:
    ///   - exchange: The approved request.
    ///   - grant: The grant of the approval.
    ///   - granted: The scopes that the user allowed on a page; nil if no page asked.
    ///   - signedInForThis: Whether the beginning of the session is the sign-in to the client.
    private func events(
        of exchange: AuthorizationExchange, for grant: Grant, granting granted: Scope?, signedInForThis: Bool
    ) -> [AuditEvent] {
        let (client, pkce) = (exchange.client, exchange.authorization.pkce)
        var events: [AuditEvent] = []
        if pkce.isException {
            events.append(
                auditor.event(
                    .pkceException, by: exchange.request, user: grant.userID, client: grant.clientID, grant: grant.id,
                    detail: "code_challenge_method \(pkce.rawValue), policy \(client.policy.pkce)", now: exchange.now))
        }
        if !signedInForThis {
            events.append(
                auditor.signInToClient(exchange.request, under: grant, now: exchange.now))
        }
        if let granted {
            events.append(
                auditor.event(
                    .consent, by: exchange.request, user: grant.userID, client: grant.clientID,
                    detail: "\(granted)", now: exchange.now))
        }
        return events
    }
}

extension ValidatedAuthorization {
    /// Returns the claims that the parameter `claims` requests and `scope` covers (OpenID Connect Core §5.5).
    fileprivate func claims(within scope: Scope) -> RequestedClaims {
        guard let claims = request.claims?.claims else { return RequestedClaims() }
        func covered(_ names: Set<String>, in place: ReleasedClaims.Place) -> Set<String> {
            names.intersection(UserClaims.names(for: scope).union(scopeClaims.names(for: scope, in: place)))
        }
        return RequestedClaims(
            idToken: covered(claims.idToken, in: .idToken), userInfo: covered(claims.userInfo, in: .userInfo))
    }
}
