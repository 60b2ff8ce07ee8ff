import CounterfoilProtocol
import Foundation

/// The authorization-code grant (RFC 6749 §4.1.3, RFC 7636 §4.6): facts in, verdict out.
enum AuthorizationCodeGrant {
    /// What may be issued for a code.
    ///
    /// Only this grant makes one.
    struct Approval: Sendable {
        let facts: CodeFacts
        let client: RegisteredClient
        /// Which APIs the token is to be for; empty for those of the grant.
        let resources: [Resource]

        fileprivate init(facts: CodeFacts, client: RegisteredClient, resources: [Resource]) {
            self.facts = facts
            self.client = client
            self.resources = resources
        }
    }

    /// What is to be done with a code that was presented.
    enum Verdict: Sendable {
        /// It may be redeemed.
        case redeem(Approval)
        /// It is refused, and nothing else happens.
        case refuse(OAuthError)
        /// It is refused, and the wrong verifier counts against it.
        case refuseAndCount(OAuthError)
        /// It is refused, and what it gave is revoked: somebody who could redeem it has done so before.
        case refuseAndRevoke(OAuthError)
    }

    static func judge(
        _ exchange: TokenRequest.CodeExchange,
        by client: AuthenticatedClient,
        facts: CodeFacts?,
        issuer: Issuer,
        now: Date
    ) -> Verdict {
        // RFC 6749 §5.2: an application has the grants of its type and no other.
        guard client.client.type.usesAuthorizationCode else {
            return .refuse(
                OAuthError(.unauthorizedClient, "an application of this type has no authorization_code grant"))
        }
        guard let facts else { return .refuse(refusal("no such code")) }
        let code = facts.code

        // RFC 6749 §4.1.3: bound to the application, and for a public one to its client_id.
        guard facts.grant.clientID == client.client.id else { return .refuse(refusal("code of another application")) }
        guard redirectURIMatches(exchange, code) else {
            return .refuse(refusal("redirect_uri differs from that of the authorization request"))
        }
        switch (code.codeChallenge, exchange.codeVerifier) {
        case (nil, _?):
            // RFC 9700 §4.8.2: whoever has a verifier has sent a challenge, and somebody took it away.
            return .refuse(refusal("code_verifier came without a code_challenge in the authorization request"))
        case (nil, nil):
            guard client.client.policy.pkce.isExempt(at: now) else {
                return .refuse(refusal("no code_challenge in the authorization request"))
            }
        case (_?, nil):
            return .refuse(refusal("code_verifier is missing"))
        case (let challenge?, let verifier?):
            guard challenge.matches(verifier) else { return .refuseAndCount(refusal("code_verifier does not match")) }
        }

        // From here on the request is one that the application itself could have sent.
        guard code.usedAt == nil else { return .refuseAndRevoke(refusal("code was redeemed before")) }
        guard code.failedRedemptions < CodeRecord.failedRedemptionLimit else {
            return .refuse(refusal("too many wrong verifiers"))
        }
        guard now < code.expiresAt else { return .refuse(refusal("code has expired")) }
        guard facts.grant.revokedAt == nil else { return .refuse(refusal("grant was revoked")) }
        guard facts.person.disabledAt == nil else { return .refuse(refusal("account is switched off")) }
        // RFC 6749 §4.1.3 defines no scope here, but documented clients repeat that of their authorization request. Less may have
        // been granted (§3.3), and the response says what (§5.1). A scope that was never requested is refused.
        guard exchange.scope?.isSubset(of: code.requestedScope.union(facts.grant.scope)) ?? true else {
            return .refuse(OAuthError(.invalidScope, "the scope is more than the authorization request asked for"))
        }
        // RFC 8707 §2.2: of the resources that were asked for.
        guard exchange.resources.allSatisfy({ facts.grant.allows($0, issuer: issuer) }) else {
            return .refuse(OAuthError(.invalidTarget, "the resource is none of those of the authorization request"))
        }
        return .redeem(Approval(facts: facts, client: client.client, resources: exchange.resources))
    }

    /// RFC 6749 §4.1.3: repeated when it was given, left out when it was not, and compared byte for byte, port included.
    private static func redirectURIMatches(_ exchange: TokenRequest.CodeExchange, _ code: CodeRecord) -> Bool {
        switch (code.redirectURIWasGiven, exchange.redirectURI) {
        case (true, let presented?): presented.utf8.elementsEqual(code.redirectURI.rawValue.utf8)
        case (false, nil): true
        case (true, nil), (false, _?): false
        }
    }

    /// One answer for every reason, so that a thief learns nothing; the reason is for the log.
    static func refusal(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidGrant,
            "the code is unknown, expired, used, or not for this client_id, redirect_uri and code_verifier",
            reason: reason
        )
    }
}
