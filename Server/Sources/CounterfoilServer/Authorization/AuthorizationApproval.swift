import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Logging

extension AuthorizationFlow {
    /// Records the user's approval, and returns the authorization code as the outcome.
    ///
    /// - Parameters:
    ///   - visit: The approved request.
    ///   - granted: The scopes that the user allowed on a page; nil if no page asked, which grants every
    ///     requested scope.
    ///   - session: The session of the user.
    ///   - interaction: The identifier of the page that the user answered, which can be answered only once; nil
    ///     if no page asked.
    func approve(
        _ visit: AuthorizationVisit,
        granting granted: Scope? = nil,
        by session: LiveSession,
        interaction: InteractionIdentifier? = nil
    ) async throws -> AuthorizationOutcome {
        try checkApprover(of: visit, session)
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
            resources: authorization.named.known.map(\.resource),
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
            requestedScope: authorization.request.scope ?? authorization.scope,
            codeChallenge: authorization.request.codeChallenge,
            keyThumbprint: authorization.request.keyThumbprint,
            nonce: authorization.request.nonce,
            authenticatedAt: session.authenticatedAt,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(settings.codeLifetime))
        )
        let approval = Approval(
            grant: grant,
            code: record,
            asked: authorization.asked,
            place: authorization.access.place,
            appearance: ClientAppearance(of: authorization.client),
            clientRevision: authorization.client.revision,
            pkce: authorization.pkce,
            passwordHash: session.person.passwordHash,
            basis: granted != nil
                ? .answer : InteractionPolicy.weighsConsent(for: authorization) ? .rememberedConsent : .firstParty,
            pushedRequest: authorization.target.parsed.pushed?.digest,
            newClient: authorization.client.storedOnApproval,
            events: events(of: visit, for: grant, granting: granted),
            newClientEvent: directory.firstApprovalEvent(of: grant, by: visit.request)
        )
        let isFirst = try await directory.isFirst(approval, by: visit.request)
        let outcome = try await RepeatedCommit.send(for: visit.request.context) { () async throws(StoreFault) in
            try await store.recordConsent(approval)
        }
        switch outcome {
        case .recorded:
            auditor.countRecorded(approval.events(addingClient: isFirst))
            logException(of: visit)
        case .clientChanged: throw changed(visit)
        // A code of this flow has a redirect URI, so it belongs to no device.
        case .alreadyAnswered, .deviceNotPending: throw ApprovalError.alreadyAnswered
        // Another tab completed the same request, which also sent the response to the client.
        case .pushedRequestGone: throw ResponseTargetError.pushedRequest(of: authorization.client.id)
        case .clientDeleted: throw ApprovalError.clientDeleted
        case .personNotActive:
            throw visit.ending(
                ApprovalError.personNotActive, toClient: OAuthError(.loginRequired, "the user cannot sign in"))
        case .sessionEnded:
            throw outdated(visit, OAuthError(.loginRequired, "the session ended while the request was processed"))
        case .consentWithdrawn:
            throw outdated(
                visit, OAuthError(.consentRequired, "the consent was withdrawn while the request was processed"))
        }
        return .redirect(AuthorizationRedirect(.code(code), to: authorization.target))
    }

    /// Creates the error for a request whose session or consent ended while the request was processed.
    ///
    /// Without `prompt=none`, the browser is redirected to the authorization endpoint, which starts the request again.
    private func outdated(_ visit: AuthorizationVisit, _ error: OAuthError) -> any Error {
        visit.ending(ApprovalError.outdated(startAgain: again(visit), error), toClient: error)
    }

    /// Creates the error for a request whose client changed while the request was processed.
    ///
    /// With `prompt=none` no page can explain it, so the browser starts the request again, which then meets the
    /// changed client: the redirect URI may no longer be registered.
    private func changed(_ visit: AuthorizationVisit) -> ApprovalError {
        guard visit.forbidsPages else { return .clientChanged(askAgain: again(visit)) }
        return .outdated(
            startAgain: again(visit),
            OAuthError(.temporarilyUnavailable, "the client changed while the request was processed"))
    }

    /// Returns the URL that starts the request again.
    private func again(_ visit: AuthorizationVisit) -> String {
        settings.issuer.authorizationURL(carried: visit.carried)
    }

    /// Throws if the user may not allow the client anything.
    ///
    /// The page was shown before this check, and the policy can have changed since.
    private func checkApprover(of visit: AuthorizationVisit, _ session: LiveSession) throws {
        guard !InteractionPolicy.mayApprove(session.person, visit.authorization.approvers) else { return }
        throw visit.ending(
            ApprovalError.needsAdministrator(visit.client.displayName), toClient: InteractionPolicy.needsAdministrator)
    }

    /// Counts an approval against the rate limit of its user.
    private func count(_ visit: AuthorizationVisit, by session: LiveSession) async throws {
        do {
            try approvals.note(session.person.id, now: visit.now)
        } catch let tooMany {
            await auditor.refuse(
                .throttled, because: .throttledUser, visit.request, person: session.person.id, client: visit.client.id,
                detail: "approvals", now: visit.now)
            throw visit.ending(tooMany, toClient: tooMany.error)
        }
    }

    /// Writes a log entry if the policy of the client allowed a code without S256.
    private func logException(of visit: AuthorizationVisit) {
        let (client, pkce) = (visit.client, visit.authorization.pkce)
        guard pkce.isException else { return }
        logger.notice(
            "issued code without S256 (client policy exemption)",
            metadata: [
                "client_id": "\(client.id)", "code_challenge_method": "\(pkce.rawValue)",
                "policy": "\(client.policy.pkce)", "request": "\(visit.request.id)",
            ]
        )
    }

    /// Returns the events of an approval: the answer of the user, and the exception of the policy of the client.
    ///
    /// - Parameters:
    ///   - visit: The approved request.
    ///   - grant: The grant of the approval.
    ///   - granted: The scopes that the user allowed on a page; nil if no page asked.
    private func events(
        of visit: AuthorizationVisit, for grant: Grant, granting granted: Scope?
    ) -> [AuditEvent] {
        let (client, pkce) = (visit.client, visit.authorization.pkce)
        var events: [AuditEvent] = []
        if pkce.isException {
            events.append(
                auditor.event(
                    .pkceException, by: visit.request, person: grant.personID, client: grant.clientID, grant: grant.id,
                    detail: "code_challenge_method \(pkce.rawValue), policy \(client.policy.pkce)", now: visit.now))
        }
        if let granted {
            events.append(
                auditor.event(
                    .consent, by: visit.request, person: grant.personID, client: grant.clientID,
                    detail: "\(granted)", now: visit.now))
        }
        return events
    }
}

extension ValidatedAuthorization {
    /// Returns the claims that the parameter `claims` requests and `scope` covers (OpenID Connect Core §5.5).
    fileprivate func claims(within scope: Scope) -> RequestedClaims {
        request.claims?.claims.named(UserClaims.names(for: scope)) ?? RequestedClaims()
    }
}
