import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The refresh token grant (RFC 6749 §6, RFC 9700 §4.14.2).
///
/// A token family rotates from one generation to the next. A client that lost a response retries with the
/// previous token. It gets the same new refresh token again, with a fresh access token.
///
/// If a replaced token arrives after its successor was used, or after the grace period for retries, an attacker may
/// have stolen the token or its successor. The server then revokes the grant, which ends the family.
///
/// The first refresh of a public client with a DPoP proof binds the family to the key of the proof (RFC 9449 §5). A
/// token from before that refresh is accepted only as a retry with the same key.
struct RefreshTokenGrant: TokenGrant {
    static let grantType = "refresh_token"

    let context: GrantContext

    /// The maximum number of attempts to record one refresh; an attempt fails if a concurrent refresh has changed the
    /// token family.
    private static let attempts = 8

    static func parse(_ form: FormParameters) throws(OAuthError) -> TokenRequest.RefreshExchange {
        try TokenRequest.RefreshExchange(parsing: form)
    }

    func respond(to asked: TokenRequest.RefreshExchange, _ exchange: TokenEndpointRequest) async throws -> TokenResponse
    {
        guard let decoded = context.refreshTokens.read(asked.refreshToken) else {
            throw Self.refusal("the refresh token was not issued by this server")
        }
        let terms = RefreshTokenTerms(of: exchange.client.client, settings: context.settings)
        var isProofUsed = false
        // Whether a commit of this request was sent again. The first one may have rotated the token, and the client may
        // have continued with the successor, which it got for a retry.
        var wasUnconfirmed = false
        for _ in 0..<Self.attempts {
            let facts = try await context.store.refreshFacts(decoded.family.digest)
            let verdict = Self.judge(
                asked, by: exchange.client, provenKey: exchange.provenKey, generation: decoded.generation,
                facts: facts, terms: terms, issuer: context.settings.issuer,
                service: try await service(for: decoded, facts, terms, now: exchange.now), now: exchange.now)
            switch verdict {
            case .issue(let approval):
                // A further attempt belongs to the same request, so the proof counts once.
                if !isProofUsed {
                    try await context.proofs.use(exchange.proof, of: .user(approval.facts.grant.userID))
                }
                isProofUsed = true
                let response = try await refresh(
                    approval, of: decoded, exchange, wasUnconfirmed: &wasUnconfirmed)
                if let response { return response }
            case .refuse(let error):
                throw ClientRequestError(
                    error, clientID: exchange.client.client.id, userID: facts?.grant.userID)
            case .wait(let seconds):
                throw ClientRequestError(
                    RepeatedTooOften(retryAfter: seconds), clientID: exchange.client.client.id,
                    userID: facts?.grant.userID)
            case .refuseAndRevoke(let error):
                try exchange.demandTimeLeft()
                if let grant = facts?.grant, !wasUnconfirmed {
                    let event = context.refusal(.refreshReuse, because: .refreshReuse, grant, exchange)
                    try await context.revoke(grant, because: .refreshReuse, recording: event, exchange)
                }
                throw error
            }
        }
        throw TransientFailure(
            reason: "other requests refreshed the same token family \(Self.attempts) times in between")
    }

    /// Issues tokens and records the refresh; returns nil if a concurrent refresh has changed the family.
    private func refresh(
        _ approval: Approval, of decoded: RefreshTokenCodec.Decoded, _ exchange: TokenEndpointRequest,
        wasUnconfirmed: inout Bool
    ) async throws -> TokenResponse? {
        let grant = approval.facts.grant
        let scope = try await context.permitted(approval.scope, to: approval.client)
        let target = try await context.target(of: grant, naming: approval.resources, scope: scope, exchange)
        let claims = try await context.claims(
            about: approval.facts.user, under: grant, to: approval.client, scope: scope, target: target)
        // A token that is not rotated is made again with the current server key, so the former one can be given up.
        let unrotated = decoded.keyIndex > 0 ? decoded.generation : nil
        let response = try context.issuer.issue(
            // OpenID Connect Core §12.2: a refreshed ID token contains no nonce.
            IssuingFacts(
                grant: grant, user: approval.facts.user, client: approval.client, scope: scope, claims: claims,
                target: target, nonce: nil, provenKey: exchange.provenKey),
            refreshToken: (approval.generation ?? unrotated).flatMap {
                context.refreshTokens.token(of: decoded.family, generation: $0)
            })
        if approval.generation == nil, decoded.keyIndex > 0 {
            await context.previousKeyTokens.note(
                keyAt: decoded.keyIndex, lastUsedAt: approval.facts.family.lastUsedAt, now: exchange.now)
        }
        // The facts were read for this request, so a revocation that they do not show came after it.
        guard let step = approval.step else { return response }
        let attempt = CommitAttempt(random: context.issuer.random)
        let events = approval.isRetry ? [context.event(.refreshRepeat, grant, exchange)] : []
        let end = context.issuer.accessEnd(of: approval.client, from: exchange.now)
        var sent = 0
        let outcome = try await RepeatedCommit.send(for: exchange.request.context) { () async throws(StoreFault) in
            sent += 1
            return try await context.store.recordRefresh(
                approval.facts, step, givingAccessUntil: end, attempt: attempt, now: exchange.now, recording: events)
        }
        if sent > 1 { wasUnconfirmed = true }
        switch outcome {
        case .recorded:
            context.auditor.countRecorded(events)
            return response
        case .changedMeanwhile: return nil
        case .gone: throw Self.refusal("grant ended while its token was refreshed")
        }
    }

    /// Reads the record of outages if the token is a late retry, which an outage could excuse.
    ///
    /// For any other token, outages do not matter, and the record is empty.
    private func service(
        for decoded: RefreshTokenCodec.Decoded, _ facts: RefreshFacts?, _ terms: RefreshTokenTerms, now: Date
    ) async throws -> ServiceRecord {
        guard let family = facts?.family, Self.isLate(decoded.generation, in: family, terms: terms, now: now) else {
            return ServiceRecord()
        }
        return try await context.store.serviceRecord(since: family.rotatedAt)
    }

    // MARK: - Checks of the refresh token

    /// The permission to issue tokens for a refresh token; only `judge` creates one.
    struct Approval: Sendable {
        let facts: RefreshFacts
        let client: RegisteredClient
        /// The requested scope, which may be smaller than the scope of the grant.
        let scope: Scope
        /// The APIs that the token request names; if it names none, the tokens are for the APIs of the grant.
        let resources: [Resource]
        /// The step that the store records before the tokens are sent; nil if it has nothing to record, because the
        /// token stays, and its last use was recorded a short time ago.
        let step: RefreshStep?
        /// Whether the client retries a refresh.
        let isRetry: Bool
        /// The generation of the refresh token in the response; nil if the client keeps the presented token.
        let generation: Int?

        fileprivate init(
            facts: RefreshFacts, client: RegisteredClient, scope: Scope, resources: [Resource], step: RefreshStep?,
            isRetry: Bool, generation: Int?
        ) {
            self.facts = facts
            self.client = client
            self.scope = scope
            self.resources = resources
            self.step = step
            self.isRetry = isRetry
            self.generation = generation
        }
    }

    enum Verdict: Sendable {
        /// The token is accepted, and new tokens may be issued.
        case issue(Approval)
        /// The token is refused, without any change to the grant.
        case refuse(OAuthError)
        /// The token is valid, but the same refresh was retried too often; the client must wait for this number
        /// of seconds.
        case wait(seconds: Int)
        /// The token is refused and its grant is revoked, because the successor of the token was used or the grace
        /// period for retries has ended.
        case refuseAndRevoke(OAuthError)
    }

    /// The number of seconds by which the grace period is extended after `RefreshFamily.repeatLimit` retries.
    ///
    /// Beyond that limit, the server tells the client to wait before each retry. With the extension, a client still
    /// gets a response if its wait ends shortly after the grace period.
    static let graceOfWaiting: TimeInterval = 10

    /// Decides whether a client may use a refresh token.
    ///
    /// The record of outages in `service` is needed only if ``isLate(_:in:terms:now:)`` returns true.
    static func judge(
        _ exchange: TokenRequest.RefreshExchange,
        by client: AuthenticatedClient,
        provenKey: KeyThumbprint?,
        generation: Int,
        facts: RefreshFacts?,
        terms: RefreshTokenTerms,
        issuer: Issuer,
        service: ServiceRecord,
        now: Date
    ) -> Verdict {
        guard let facts else { return .refuse(refusal("no such refresh token")) }
        let (family, grant) = (facts.family, facts.grant)
        // RFC 6749 §6: a refresh token is bound to its client.
        guard grant.clientID == client.client.id else {
            return .refuse(refusal("refresh token of another client"))
        }
        // RFC 9449 §5: the refresh token of a public client is bound to a key.
        let isKeyProven = family.keyThumbprint == nil || family.keyThumbprint == provenKey
        guard isKeyProven || generation < family.generation else {
            return .refuse(refusal("no DPoP proof of the key to which the refresh token is bound"))
        }
        guard grant.revokedAt == nil else { return .refuse(refusal("grant was revoked")) }
        guard facts.user.disabledAt == nil else { return .refuse(refusal("the account is disabled")) }
        guard client.client.policy.refreshTokens != .never else {
            return .refuse(refusal("the policy of the client allows no refresh tokens"))
        }
        if let weak = grant.weakness(for: client.client) { return .refuse(weak) }
        guard now < family.expiresAt else { return .refuse(refusal("refresh token has expired")) }
        guard now.timeIntervalSince(family.lastUsedAt) < terms.idleLifetime else {
            return .refuse(refusal("refresh token was not used for too long"))
        }
        // A bound token is not replaced, so this one is from before the refresh that bound the family. Someone else
        // made that refresh, with another key: either of the two has stolen the token.
        guard isKeyProven else {
            return .refuseAndRevoke(refusal("refresh token was replaced by one that is bound to another key"))
        }

        let repeats: Bool
        switch generation {
        case family.generation...:
            // After a restore from a backup, a token may have a later generation than the stored family. Such a
            // token is valid, because its HMAC shows that this server created it.
            repeats = false
        // Outages of the store do not count toward the grace period.
        case _
        where isRetry(generation, of: family)
            && service.answeredTime(from: family.rotatedAt, to: now) <= gracePeriod(of: family, terms):
            let wait = family.repeatWait(at: now)
            guard wait <= 0 else { return .wait(seconds: Int(wait.rounded(.up))) }
            repeats = true
        case _ where isRetry(generation, of: family) && family.repeats >= RefreshFamily.repeatLimit:
            // The client may be late only because the server told it to wait. The grant is therefore not revoked.
            return .refuse(refusal("the grace period has ended, after many repeated responses"))
        default:
            return .refuseAndRevoke(refusal("refresh token was replaced and can no longer be retried"))
        }

        // RFC 6749 §6: the requested scope must not exceed the granted scope.
        let scope = exchange.scope ?? grant.scope
        guard scope.isSubset(of: grant.scope) else {
            return .refuse(OAuthError(.invalidScope, "the scope exceeds that of the grant"))
        }
        do { try client.client.checkReserved(exchange.scope ?? Scope()) } catch { return .refuse(error) }
        // RFC 8707 §2.2: the resources must be among those of the grant.
        guard exchange.resources.allSatisfy({ grant.allows($0, issuer: issuer) }) else {
            return .refuse(OAuthError(.invalidTarget, "the resource was not part of the original grant"))
        }
        // RFC 9449 §5: the refresh token that a public client gets for a request with a proof is bound to the key.
        let newKey = client.client.isConfidential || family.keyThumbprint != nil ? nil : provenKey
        // RFC 9700 §2.2.2: a token that is bound to a key needs no rotation, because a thief cannot use it.
        let rotates = terms.rotates && family.keyThumbprint == nil
        // A retry does not bind the valid token, which was issued without a proof: it replaces that, too. Otherwise a
        // thief could bind the token of the client, and its use would not show the theft.
        let next = repeats && newKey == nil ? family.generation : max(generation, family.generation) + 1
        let step: RefreshStep? =
            if let newKey {
                .bind(to: newKey, advancingTo: next)
            } else if repeats {
                .repeat
            } else {
                rotates ? .advance(to: next) : stay(family, terms, now: now)
            }
        return .issue(
            Approval(
                facts: facts, client: client.client, scope: scope, resources: exchange.resources, step: step,
                isRetry: repeats, generation: repeats || rotates ? next : nil))
    }

    /// Returns true if a refresh with this generation can be a retry of the one that made the current generation.
    ///
    /// A retry with the first proof replaces two generations, and the client can retry that, too, with the same key.
    private static func isRetry(_ generation: Int, of family: RefreshFamily) -> Bool {
        generation == family.generation - 1 || family.keyThumbprint != nil && generation == family.generation - 2
    }

    /// Returns true if a token can be that of a retry and its grace period has ended.
    ///
    /// The time of outages is not subtracted here.
    static func isLate(
        _ generation: Int, in family: RefreshFamily, terms: RefreshTokenTerms, now: Date
    ) -> Bool {
        isRetry(generation, of: family) && now.timeIntervalSince(family.rotatedAt) > gracePeriod(of: family, terms)
    }

    /// Returns the step for a token that is not rotated.
    ///
    /// A use is recorded at least ten times in the idle lifetime.
    private static func stay(_ family: RefreshFamily, _ terms: RefreshTokenTerms, now: Date) -> RefreshStep? {
        let resolution = min(RefreshFamily.useResolution, terms.idleLifetime / 10)
        return (0..<resolution).contains(now.timeIntervalSince(family.lastUsedAt)) ? nil : .stay
    }

    private static func gracePeriod(of family: RefreshFamily, _ terms: RefreshTokenTerms) -> TimeInterval {
        terms.gracePeriod + (family.repeats >= RefreshFamily.repeatLimit ? graceOfWaiting : 0)
    }

    /// The error for a client that retries one refresh too often: 429 with `Retry-After`.
    ///
    /// The code is `temporarily_unavailable` (RFC 6749 §4.1.2.1), which clients retry. The codes of RFC 6749
    /// §5.2 do not fit, because they report a fault of the request or the grant. After `invalid_grant`, clients
    /// sign the user out.
    struct RepeatedTooOften: Refusing {
        let retryAfter: Int

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "the same refresh was retried too often; try again in \(retryAfter) seconds",
                retryAfter: retryAfter, refusedBecause: .throttledClient)
        }
    }

    /// Creates the error for a refused refresh token.
    ///
    /// The description is the same for every reason, so that an attacker does not learn which check failed. Only
    /// the log contains the reason.
    static func refusal(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidGrant,
            "the refresh token is unknown, expired, revoked, or not for this client_id and key",
            reason: reason)
    }
}
