import CounterfoilProtocol
package import Foundation

/// How long the refresh tokens of one application live and when they are replaced: what its policy says, and what follows from
/// its type where the policy says nothing.
package struct RefreshTokenTerms: Sendable, Hashable {
    /// Whether a token is replaced each time that it is used.
    package let rotates: Bool
    /// How long the answer to a refresh may be repeated while nobody has used it.
    package let gracePeriod: TimeInterval
    /// How long a token outlives its last use.
    package let idleLifetime: TimeInterval
    /// How long it lives however often it is used (OAuth 2.0 for Browser-Based Applications §6.3: it never outlives this).
    package let lifetime: TimeInterval

    package init(of client: RegisteredClient, settings: ServerSettings) {
        let policy = client.policy.refreshTokenLife
        let inBrowser = client.type == .singlePage
        // RFC 9700 §2.2.2: a public client's are replaced, also where a policy of an earlier version says otherwise. One
        // that authenticates shows with each use that it is itself.
        rotates = !client.type.isConfidential || policy.rotates ?? false
        gracePeriod = TimeInterval(policy.gracePeriod ?? (inBrowser ? 10 : 60))
        idleLifetime = TimeInterval(
            policy.idleLifetime ?? (inBrowser ? settings.sessionIdleLifetime : settings.refreshTokenIdleLifetime))
        lifetime = TimeInterval(
            policy.lifetime ?? (inBrowser ? settings.sessionLifetime : settings.refreshTokenLifetime))
    }

    /// Whether a grant of an application gets a refresh token.
    static func areIssued(to client: RegisteredClient, for scope: Scope) -> Bool {
        switch client.policy.refreshTokens {
        // OpenID Connect Core §11
        case .offlineAccess: scope.contains(.offlineAccess)
        case .always: true
        case .never: false
        }
    }
}
