import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The authorization code grant (RFC 6749 §4.1.3, RFC 7636 §4.6).
struct AuthorizationCodeGrant: TokenGrant {
    static let grantType = "authorization_code"

    let context: GrantContext

    static func parse(_ form: FormParameters) throws(OAuthError) -> TokenRequest.CodeExchange {
        try TokenRequest.CodeExchange(parsing: form)
    }

    func respond(to asked: TokenRequest.CodeExchange, _ exchange: TokenEndpointRequest) async throws -> TokenResponse {
        let digest = ArtefactDigest(of: asked.code)
        var facts = try await context.store.code(digest)
        if try await context.decideRedemption(of: facts, exchange) { facts = try await context.store.code(digest) }
        switch Self.judge(
            asked, by: exchange.client, provenKey: exchange.provenKey, facts: facts,
            issuer: context.settings.issuer, now: exchange.now)
        {
        case .redeem(let approval):
            return try await redeem(approval, exchange)
        case .refuse(let error):
            throw asked.codeVerifier == nil ? Self.namingMissingVerifier(error) : error
        case .refuseAndCount(let error):
            try await context.store.countFailedRedemption(digest)
            if let grant = facts?.grant {
                await context.auditor.note(
                    context.refusal(.codeRedemption, because: .codeVerifier, grant, exchange), by: exchange.request)
            }
            throw error
        case .refuseAndRevoke(let error):
            guard let facts else { throw error }
            throw try await context.refusalOfReplay(of: facts, error, exchange)
        }
    }

    private func redeem(_ approval: Approval, _ exchange: TokenEndpointRequest) async throws -> TokenResponse {
        let now = exchange.now
        let grant = approval.facts.grant
        let family = context.family(for: grant, of: approval.client, boundTo: exchange.provenKey, now: now)
        let scope = try await context.permitted(grant.scope, to: approval.client)
        let target = try await context.target(of: grant, naming: approval.resources, scope: scope, exchange)
        let claims = try await context.claims(
            about: approval.facts.user, under: grant, to: approval.client, scope: scope, target: target)
        let response = try context.issuer.issue(
            IssuingFacts(
                grant: grant, user: approval.facts.user, client: approval.client, scope: scope, claims: claims,
                target: target, nonce: approval.facts.code.nonce, provenKey: exchange.provenKey),
            refreshToken: family?.token)
        try await context.proofs.use(exchange.proof, of: .user(grant.userID))
        switch try await context.redeem(approval.facts, beginning: family?.record, exchange) {
        case .consumed:
            await noteChallenge(of: approval, exchange)
            return response
        case .alreadyUsed:
            throw try await context.refusalOfReplay(
                of: approval.facts, Self.refusal("code was redeemed by another request at the same time"), exchange)
        case .gone: throw Self.refusal("code became invalid while it was redeemed")
        }
    }

    /// Writes an audit event if the client used one `code_challenge` in several authorization requests.
    ///
    /// A reused challenge does not protect these requests (RFC 9700 §2.1.1). After an event, further reuse by the same
    /// client causes no event for an hour.
    private func noteChallenge(of approval: Approval, _ exchange: TokenEndpointRequest) async {
        guard let challenge = approval.facts.code.codeChallenge,
            context.challenges.note(challenge, of: approval.client.id, now: exchange.now)
        else { return }
        let event = context.event(
            .challengeReuse, approval.facts.grant, exchange,
            detail: "one code_challenge served more than one authorization request")
        await context.auditor.note(event, by: exchange.request)
    }

    // MARK: - Checks of the code

    /// The permission to issue tokens for a code; only `judge(_:by:provenKey:facts:issuer:now:)` creates one.
    struct Approval: Sendable {
        let facts: CodeFacts
        let client: RegisteredClient
        /// The APIs that the token request names; if it names none, the tokens are for the APIs of the grant.
        let resources: [Resource]

        fileprivate init(facts: CodeFacts, client: RegisteredClient, resources: [Resource]) {
            self.facts = facts
            self.client = client
            self.resources = resources
        }
    }

    enum Verdict: Sendable {
        /// The code may be redeemed.
        case redeem(Approval)
        /// The request is refused, without any change to the code or the grant.
        case refuse(OAuthError)
        /// The request is refused, and the failed redemption counts against the code.
        case refuseAndCount(OAuthError)
        /// The request is refused, because the code was redeemed before. The grant and its tokens are revoked, unless
        /// the first redemption may have got no tokens.
        case refuseAndRevoke(OAuthError)
    }

    /// Decides whether a client may redeem a code; `facts` is nil if the store does not contain the code.
    static func judge(
        _ exchange: TokenRequest.CodeExchange,
        by client: AuthenticatedClient,
        provenKey: KeyThumbprint?,
        facts: CodeFacts?,
        issuer: Issuer,
        now: Date
    ) -> Verdict {
        // RFC 6749 §5.2: the type of a client decides which grant types it may use.
        guard client.client.type.usesAuthorizationCode else {
            return .refuse(
                OAuthError(.unauthorizedClient, "a client of this type cannot use the authorization_code grant"))
        }
        guard let facts else { return .refuse(refusal("no such code")) }
        let code = facts.code

        // RFC 6749 §4.1.3: a code is bound to the client that it was issued to. For a public client,
        // `client_id` alone identifies it.
        guard facts.grant.clientID == client.client.id else { return .refuse(refusal("code of another client")) }
        guard code.redirectURI?.matches(exchange.redirectURI) ?? false else {
            return .refuse(refusal("redirect_uri differs from that of the authorization request"))
        }
        // RFC 9449 §10: the code of a request with `dpop_jkt` is bound to this key.
        guard code.keyThumbprint == nil || code.keyThumbprint == provenKey else {
            return .refuse(refusal("no DPoP proof of the key that dpop_jkt names"))
        }
        switch (code.codeChallenge, exchange.codeVerifier) {
        case (nil, _?):
            // RFC 9700 §4.8.2: a client that sends a verifier also sends a challenge. If the authorization
            // request had no challenge, an attacker may have removed it.
            return .refuse(refusal("code_verifier came without a code_challenge in the authorization request"))
        case (nil, nil):
            // The client has authenticated, because only the policy of a confidential client accepts a nonce.
            guard client.client.accepts(facts, withoutChallengeAt: now) else {
                return .refuse(refusal("no code_challenge in the authorization request"))
            }
        case (_?, nil):
            return .refuse(refusal("code_verifier is missing"))
        case (let challenge?, let verifier?):
            guard challenge.matches(verifier) else { return .refuseAndCount(refusal("code_verifier does not match")) }
        }

        // A used code causes a revocation only if its sender has passed the checks of client, redirect URI and PKCE
        // above. A code alone therefore is not enough to revoke a grant.
        guard code.usedAt == nil else { return .refuseAndRevoke(refusal("code was redeemed before")) }
        guard code.failedRedemptions < CodeRecord.failedRedemptionLimit else {
            return .refuse(refusal("too many wrong verifiers"))
        }
        guard now < code.expiresAt else { return .refuse(refusal("code has expired")) }
        guard facts.grant.revokedAt == nil else { return .refuse(refusal("grant was revoked")) }
        guard facts.user.disabledAt == nil else { return .refuse(refusal("the account is disabled")) }
        if let weak = facts.grant.weakness(for: client.client) { return .refuse(weak) }
        // RFC 6749 §4.1.3 defines no `scope` for this request, but some clients repeat the scope of their authorization
        // request. The granted scope may be smaller (§3.3), and the response contains the granted scope (§5.1). A scope
        // that was neither requested before nor granted is refused.
        guard exchange.scope?.isSubset(of: code.requestedScope.union(facts.grant.scope)) ?? true else {
            return .refuse(OAuthError(.invalidScope, "the scope is more than the authorization request asked for"))
        }
        // RFC 8707 §2.2: only resources that the grant allows.
        guard exchange.resources.allSatisfy({ facts.grant.allows($0, issuer: issuer) }) else {
            return .refuse(OAuthError(.invalidTarget, "the resource was not part of the authorization request"))
        }
        return .redeem(Approval(facts: facts, client: client.client, resources: exchange.resources))
    }

    /// Adds to the description of a refused code that the request has no `code_verifier`.
    ///
    /// It depends on the request only, so it tells an attacker nothing about the code.
    private static func namingMissingVerifier(_ error: OAuthError) -> OAuthError {
        guard error.code == .invalidGrant, let description = error.description else { return error }
        return OAuthError(
            error.code,
            "\(description); code_verifier is missing, which the code of a request with code_challenge needs",
            reason: error.reason)
    }

    /// Creates the error for a refused code.
    ///
    /// The description is the same for every reason, so that an attacker does not learn which check failed. Only
    /// the log contains the reason.
    static func refusal(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidGrant,
            "the code is unknown, expired, used, or not for this client_id, redirect_uri, code_verifier and key",
            reason: reason
        )
    }
}

extension RegisteredClient {
    /// Returns true if the client may redeem a code whose authorization request had no `code_challenge`.
    ///
    /// The policy is that of now, not that of the authorization request.
    fileprivate func accepts(_ facts: CodeFacts, withoutChallengeAt now: Date) -> Bool {
        if policy.pkce.isExempt(type, at: now) { return true }
        return type.isConfidential && policy.pkce == .s256OrNonce && facts.code.nonce != nil
            && facts.grant.scope.contains(.openID)
    }
}
