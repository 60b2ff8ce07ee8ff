import CounterfoilProtocol
package import Foundation

/// The lifetime and rotation of the refresh tokens of a client.
///
/// Values that the policy leaves out follow from the type of the client.
package struct RefreshTokenTerms: Sendable, Hashable {
    /// Whether each use replaces the token.
    package let rotates: Bool
    /// The time in which the response to a refresh may be repeated while its token is unused.
    package let gracePeriod: TimeInterval
    /// The time that a token outlives its last use.
    package let idleLifetime: TimeInterval
    /// The lifetime of a family, which no use extends (OAuth 2.0 for Browser-Based Applications §6.3).
    package let lifetime: TimeInterval

    package init(of client: RegisteredClient, settings: ServerSettings) {
        let policy = client.policy.refreshTokenLife
        let inBrowser = client.type == .singlePage
        // RFC 9700 §2.2.2: tokens of public clients rotate, even if a policy of an earlier version says
        // otherwise. Confidential clients authenticate with each use instead.
        rotates = !client.type.isConfidential || policy.rotates ?? false
        gracePeriod = TimeInterval(policy.gracePeriod ?? (inBrowser ? 10 : 60))
        idleLifetime = TimeInterval(
            policy.idleLifetime ?? (inBrowser ? settings.sessionIdleLifetime : settings.refreshTokenIdleLifetime))
        lifetime = TimeInterval(
            policy.lifetime ?? (inBrowser ? settings.sessionLifetime : settings.refreshTokenLifetime))
    }

    /// Returns whether a client gets a refresh token with a grant of a scope.
    static func areIssued(to client: RegisteredClient, for scope: Scope) -> Bool {
        switch client.policy.refreshTokens {
        // OpenID Connect Core §11
        case .offlineAccess: scope.contains(.offlineAccess)
        case .always: true
        case .never: false
        }
    }
}
