import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// Makes tokens; stores nothing.
struct TokenIssuer: Sendable {
    let settings: ServerSettings
    let keys: KeyRing
    let random: RandomBytes

    /// The server has no key of the algorithm that an application asks for.
    struct KeyMissing: Error, CustomStringConvertible {
        let algorithm: SigningAlgorithm
        var description: String { "there is no signing key for \(algorithm.rawValue)" }
    }

    /// What a redeemed code gives (RFC 6749 §5.1; RFC 9068 §2; OpenID Connect Core §3.1.3.3).
    func issue(_ approval: AuthorizationCodeGrant.Approval, now: Date) throws -> TokenResponse {
        let grant = approval.facts.grant
        let lifetime = approval.client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        let accessToken = try accessToken(for: approval, lifetime: lifetime, now: now)
        return TokenResponse(
            accessToken: accessToken,
            expiresIn: lifetime,
            // RFC 6749 §5.1: said whenever there is one, because it may be less than what was asked.
            scope: grant.scope.isEmpty ? nil : grant.scope,
            idToken: grant.scope.contains(.openID)
                ? try idToken(for: approval, accessToken: accessToken, now: now) : nil
        )
    }

    private func accessToken(
        for approval: AuthorizationCodeGrant.Approval, lifetime: Int, now: Date
    ) throws -> AccessToken {
        let grant = approval.facts.grant
        let claims = AccessTokenClaims(
            issuer: settings.issuer,
            subject: grant.personID.rawValue,
            audience: [settings.defaultAudience],
            clientID: grant.clientID,
            expires: now.addingTimeInterval(TimeInterval(lifetime)),
            issuedAt: now,
            tokenID: Base64URL.encode(random.bytes(16)),
            scope: grant.scope,
            authTime: approval.facts.code.authenticatedAt,
            grantID: grant.id.rawValue
        )
        let text = try key(.es256).sign(claims)
        guard let token = AccessToken(text) else { throw KeyMissing(algorithm: .es256) }
        return token
    }

    private func idToken(
        for approval: AuthorizationCodeGrant.Approval,
        accessToken: AccessToken,
        now: Date
    ) throws -> IDToken? {
        let policy = approval.client.policy
        let signingKey = try key(policy.idTokenAlgorithm)
        let claims = IDTokenClaims(
            issuer: settings.issuer,
            subject: approval.facts.grant.personID.rawValue,
            audience: [approval.client.id.rawValue],
            expires: now.addingTimeInterval(TimeInterval(policy.idTokenLifetime ?? settings.idTokenLifetime)),
            issuedAt: now,
            authTime: approval.facts.code.authenticatedAt,
            nonce: approval.facts.code.nonce,
            accessTokenHash: IDTokenClaims.accessTokenHash(of: accessToken, algorithm: signingKey.algorithm)
        )
        return IDToken(try signingKey.sign(claims))
    }

    private func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        guard let key = keys.key(for: algorithm) else { throw KeyMissing(algorithm: algorithm) }
        return key
    }
}
