import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The device code grant (RFC 8628 §3.4): a device polls until a user has answered its request.
///
/// The approval of the user turns the device authorization into a code, which is redeemed as an authorization code is.
struct DeviceCodeGrant: TokenGrant {
    static let grantType = TokenRequest.DeviceCodeExchange.grantType
    /// A client with a document is not stored before the first user has answered.
    static let phase = ClientDirectory.RequestPhase.waiting

    let context: GrantContext

    static func parse(_ form: FormParameters) throws(OAuthError) -> TokenRequest.DeviceCodeExchange {
        try TokenRequest.DeviceCodeExchange(parsing: form)
    }

    func respond(to asked: TokenRequest.DeviceCodeExchange, _ exchange: TokenEndpointRequest) async throws
        -> TokenResponse
    {
        let digest = ArtefactDigest(of: asked.deviceCode)
        let client = exchange.client.client.id
        var poll = try await context.store.pollDevice(digest, by: client, at: exchange.now)
        if case .approved(let facts, _) = poll, try await context.decideRedemption(of: facts, exchange) {
            poll = try await context.store.pollDevice(digest, by: client, at: exchange.now)
        }
        switch Self.judge(asked, by: exchange.client, poll: poll, settings: context.settings, now: exchange.now) {
        case .redeem(let approval):
            return try await redeem(approval, exchange)
        case .refuse(let error):
            throw error
        case .refuseAndCount(let error, let grant):
            try await context.store.countFailedRedemption(digest)
            await context.auditor.note(
                context.refusal(.codeRedemption, because: .codeVerifier, grant, exchange), by: exchange.request)
            throw error
        case .refuseAndRevoke(let error, let facts):
            throw try await context.refusalOfReplay(of: facts, error, exchange)
        }
    }

    private func redeem(_ approval: Approval, _ exchange: TokenEndpointRequest) async throws -> TokenResponse {
        let grant = approval.facts.grant
        let family = context.family(
            for: grant, of: approval.client, boundTo: exchange.provenKey, now: exchange.now)
        let scope = try await context.permitted(grant.scope, to: approval.client)
        let target = try await context.target(of: grant, naming: approval.resources, scope: scope, exchange)
        let claims = try await context.claims(
            about: approval.facts.user, under: grant, to: approval.client, scope: scope, target: target)
        let response = try context.issuer.issue(
            IssuingFacts(
                grant: grant, user: approval.facts.user, client: approval.client, scope: scope, claims: claims,
                target: target, nonce: nil, provenKey: exchange.provenKey),
            refreshToken: family?.token)
        try await context.proofs.use(exchange.proof, of: .user(grant.userID))
        switch try await context.redeem(approval.facts, beginning: family?.record, exchange) {
        case .consumed: return response
        case .alreadyUsed:
            throw try await context.refusalOfReplay(
                of: approval.facts, Self.refusal("device_code was redeemed by another request at the same time"),
                exchange)
        case .gone: throw Self.refusal("device_code became invalid while it was redeemed")
        }
    }

    // MARK: - Checks of the device code

    /// The permission to issue tokens for a `device_code`; only `judge(_:by:poll:settings:now:)` creates one.
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
        case refuseAndCount(OAuthError, Grant)
        /// The request is refused, because the code was redeemed before. The grant and its tokens are revoked, unless
        /// the first redemption may have got no tokens.
        case refuseAndRevoke(OAuthError, CodeFacts)
    }

    /// Decides whether a client gets tokens for a `device_code`.
    static func judge(
        _ exchange: TokenRequest.DeviceCodeExchange,
        by client: AuthenticatedClient,
        poll: DevicePoll,
        settings: ServerSettings,
        now: Date
    ) -> Verdict {
        // RFC 6749 §5.2: the type of a client decides which grant types it may use.
        guard client.client.type.usesDeviceGrant else {
            return .refuse(OAuthError(.unauthorizedClient, DeviceAuthorizationEndpoint.wrongType))
        }
        switch poll {
        case .unknown:
            return .refuse(refusal("no such device_code"))
        case .unanswered(let authorization, let isTooEarly):
            // RFC 8628 §3.4: a device_code is bound to the client that it was issued to.
            guard authorization.clientID == client.client.id else {
                return .refuse(refusal("device_code of another client"))
            }
            return .refuse(error(of: authorization, isTooEarly: isTooEarly, now: now))
        case .approved(let facts, let session):
            return judge(exchange, by: client.client, facts: facts, session: session, settings: settings, now: now)
        }
    }

    /// Returns the error for a `device_code` that no user has approved (RFC 8628 §3.5).
    private static func error(of authorization: DeviceAuthorization, isTooEarly: Bool, now: Date) -> OAuthError {
        if authorization.deniedAt != nil { return OAuthError(.accessDenied, "the user denied the request") }
        guard now < authorization.expiresAt else { return expired }
        return isTooEarly
            ? OAuthError(.slowDown, "poll less often: wait \(authorization.interval) seconds between two requests")
            : OAuthError(.authorizationPending, "the user has not answered the request yet")
    }

    private static func judge(
        _ exchange: TokenRequest.DeviceCodeExchange, by client: RegisteredClient, facts: CodeFacts, session: Session?,
        settings: ServerSettings, now: Date
    ) -> Verdict {
        let (code, grant) = (facts.code, facts.grant)
        guard grant.clientID == client.id else { return .refuse(refusal("device_code of another client")) }
        switch (code.codeChallenge, exchange.codeVerifier) {
        case (nil, nil): break
        case (nil, _?):
            return .refuse(refusal("code_verifier came without a code_challenge in the device authorization request"))
        case (_?, nil): return .refuse(refusal("code_verifier is missing"))
        case (let challenge?, let verifier?):
            guard challenge.matches(verifier) else {
                return .refuseAndCount(refusal("code_verifier does not match"), grant)
            }
        }
        // A used code causes a revocation only if its sender has passed the checks of client and PKCE above.
        guard code.usedAt == nil else { return .refuseAndRevoke(refusal("device_code was redeemed before"), facts) }
        guard code.failedRedemptions < CodeRecord.failedRedemptionLimit else {
            return .refuse(refusal("too many wrong verifiers, or the password was changed after the approval"))
        }
        guard now < code.expiresAt else { return .refuse(expired) }
        guard grant.revokedAt == nil else { return .refuse(refusal("grant was revoked")) }
        guard facts.user.disabledAt == nil else { return .refuse(refusal("the account is disabled")) }
        if let weak = grant.weakness(for: client) { return .refuse(weak) }
        // The device gets no tokens from a session that has ended, was idle for too long, or has expired.
        let live = session.flatMap {
            SessionRules.live(SessionFacts(session: $0, user: facts.user), now: now, settings: settings)
        }
        guard live != nil else { return .refuse(refusal("the session of the approval has ended")) }
        // RFC 8707 §2.2: only resources that the grant allows.
        guard exchange.resources.allSatisfy({ grant.allows($0, issuer: settings.issuer) }) else {
            return .refuse(
                OAuthError(.invalidTarget, "the resource was not part of the device authorization request"))
        }
        return .redeem(Approval(facts: facts, client: client, resources: exchange.resources))
    }

    private static let expired = OAuthError(.expiredToken, "the device_code has expired; request a new one")

    /// Creates the error for a refused code.
    ///
    /// The description is the same for every reason, so that an attacker does not learn which check failed. Only
    /// the log contains the reason.
    static func refusal(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidGrant, "the device_code is unknown, used, revoked, or not for this client_id and code_verifier",
            reason: reason)
    }
}
