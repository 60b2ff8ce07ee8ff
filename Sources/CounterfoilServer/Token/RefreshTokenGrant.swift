import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The refresh grant (RFC 6749 §6, RFC 9700 §4.14.2): facts in, verdict out.
///
/// A line of tokens goes on from one generation to the next. Somebody whose answer was lost presents the former generation once
/// more, and gets the same answer; somebody who presents it after its successor was used, or long after, has stolen it or was
/// stolen from, and the whole line ends.
enum RefreshTokenGrant {
    /// What may be issued for a refresh token.
    ///
    /// Only this grant makes one.
    struct Approval: Sendable {
        let facts: RefreshFacts
        let client: RegisteredClient
        /// What the new access token may do, which may be less than the grant.
        let scope: Scope
        /// Which APIs it is for; empty for those that the grant names.
        let resources: [Resource]
        /// What is to be recorded before anything is given away.
        let step: RefreshStep
        /// The generation of the token that is given along; nil when the presented one stays.
        let generation: Int?

        fileprivate init(
            facts: RefreshFacts, client: RegisteredClient, scope: Scope, resources: [Resource], step: RefreshStep,
            generation: Int?
        ) {
            self.facts = facts
            self.client = client
            self.scope = scope
            self.resources = resources
            self.step = step
            self.generation = generation
        }
    }

    /// What is to be done with a token that was presented.
    enum Verdict: Sendable {
        /// It is good.
        case issue(Approval)
        /// It is refused, and nothing else happens.
        case refuse(OAuthError)
        /// It is valid, but its answer was repeated too often; the client must wait for some seconds.
        case wait(seconds: Int)
        /// It is refused, and its grant is revoked: its successor was used, or has been out for too long.
        case refuseAndRevoke(OAuthError)
    }

    /// The extension of the grace period after clients were told to wait, in seconds.
    ///
    /// A client that was told to wait just before the end of the grace period is answered after it.
    static let graceOfWaiting: TimeInterval = 10

    /// Judges a token that was presented.
    ///
    /// - Parameter service: the record of outages; needed only for a token that ``isLate(_:in:terms:now:)``.
    static func judge(
        _ exchange: TokenRequest.RefreshExchange,
        by client: AuthenticatedClient,
        generation: Int,
        facts: RefreshFacts?,
        terms: RefreshTokenTerms,
        issuer: Issuer,
        service: ServiceRecord,
        now: Date
    ) -> Verdict {
        guard let facts else { return .refuse(refusal("no such refresh token")) }
        let (family, grant) = (facts.family, facts.grant)
        // RFC 6749 §6: bound to the application that it was issued to.
        guard grant.clientID == client.client.id else {
            return .refuse(refusal("refresh token of another application"))
        }
        guard grant.revokedAt == nil else { return .refuse(refusal("grant was revoked")) }
        guard facts.person.disabledAt == nil else { return .refuse(refusal("account is switched off")) }
        guard client.client.policy.refreshTokens != .never else {
            return .refuse(refusal("the application may have no refresh tokens any more"))
        }
        guard now < family.expiresAt else { return .refuse(refusal("refresh token has expired")) }
        guard now.timeIntervalSince(family.lastUsedAt) < terms.idleLifetime else {
            return .refuse(refusal("refresh token was not used for too long"))
        }

        let repeats: Bool
        switch generation {
        case family.generation...:
            // One from after the line was read from a backup counts as well: nobody but the server makes one.
            repeats = false
        // Time during which the store answered no server does not count.
        case family.generation - 1
        where service.answeredTime(from: family.rotatedAt, to: now) <= gracePeriod(of: family, terms):
            let wait = family.repeatWait(at: now)
            guard wait <= 0 else { return .wait(seconds: Int(wait.rounded(.up))) }
            repeats = true
        case family.generation - 1 where family.repeats >= RefreshFamily.repeatLimit:
            // This client may have been told to wait; that must not end the sign-in.
            return .refuse(refusal("the grace period is over, in which the answer was repeated often"))
        default:
            return .refuseAndRevoke(refusal("refresh token was replaced, and its successor used or given long ago"))
        }

        // RFC 6749 §6: no more than was granted.
        let scope = exchange.scope ?? grant.scope
        guard scope.isSubset(of: grant.scope) else {
            return .refuse(OAuthError(.invalidScope, "the scope is more than the person allowed"))
        }
        // RFC 8707 §2.2
        guard exchange.resources.allSatisfy({ grant.allows($0, issuer: issuer) }) else {
            return .refuse(OAuthError(.invalidTarget, "the resource is none of those that were asked for"))
        }
        let next = repeats ? family.generation : generation + 1
        let step: RefreshStep = repeats ? .repeat : terms.rotates ? .advance(to: next) : .stay
        return .issue(
            Approval(
                facts: facts, client: client.client, scope: scope, resources: exchange.resources, step: step,
                generation: repeats || terms.rotates ? next : nil))
    }

    /// Tells that a token is the previous one and comes after its grace period, outages not considered.
    static func isLate(
        _ generation: Int, in family: RefreshFamily, terms: RefreshTokenTerms, now: Date
    ) -> Bool {
        generation == family.generation - 1 && now.timeIntervalSince(family.rotatedAt) > gracePeriod(of: family, terms)
    }

    private static func gracePeriod(of family: RefreshFamily, _ terms: RefreshTokenTerms) -> TimeInterval {
        terms.gracePeriod + (family.repeats >= RefreshFamily.repeatLimit ? graceOfWaiting : 0)
    }

    /// The answer to a client that retries one refresh too often: 429 with `Retry-After`.
    ///
    /// The code is `temporarily_unavailable` (RFC 6749 §4.1.2.1), which clients retry. Every code of RFC 6749 §5.2 is about the
    /// request or the grant, and clients take `invalid_grant` for the end of the sign-in.
    struct RepeatedTooOften: Refusing {
        let retryAfter: Int

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "the same refresh was retried too often; try again in \(retryAfter) seconds",
                retryAfter: retryAfter)
        }
    }

    /// One answer for every reason, so that a thief learns nothing; the reason is for the log.
    static func refusal(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidGrant, "the refresh token is unknown, expired, revoked, or not for this client_id", reason: reason)
    }
}
