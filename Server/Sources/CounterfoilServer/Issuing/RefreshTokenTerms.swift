import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The lifetime and rotation of the refresh tokens of a client.
///
/// If the policy of the client does not set a value, the default depends on the type of the client.
package struct RefreshTokenTerms: Sendable, Hashable {
    /// Whether each refresh replaces the token.
    package let rotates: Bool
    /// The number of seconds after a refresh for which a retry gets the same new refresh token, as long as that token
    /// is unused.
    ///
    /// Each retry gets a fresh access token.
    package let gracePeriod: TimeInterval
    /// The number of seconds without a refresh after which a token expires.
    package let idleLifetime: TimeInterval
    /// The lifetime of a token family in seconds, however often its tokens are used (RFC 10017 §6.3.2.3).
    package let lifetime: TimeInterval

    package init(of client: RegisteredClient, settings: ServerSettings) {
        let policy = client.policy.refreshTokenLife
        let inBrowser = client.type == .singlePage
        // RFC 9700 §2.2.2: tokens of public clients always rotate, whatever their policy says. Confidential clients
        // authenticate at each refresh, so they need no rotation.
        rotates = !client.isConfidential || policy.rotates ?? false
        gracePeriod = TimeInterval(policy.gracePeriod ?? (inBrowser ? 10 : 60))
        idleLifetime = TimeInterval(
            policy.idleLifetime ?? (inBrowser ? settings.sessionIdleLifetime : settings.refreshTokenIdleLifetime))
        lifetime = TimeInterval(
            policy.lifetime ?? (inBrowser ? settings.sessionLifetime : settings.refreshTokenLifetime))
    }

    /// Returns true if a client gets a refresh token for a grant with the given scope.
    ///
    /// A client that no person registered also declares that it uses refresh tokens.
    static func areIssued(to client: RegisteredClient, for scope: Scope) -> Bool {
        let isWanted =
            switch client.policy.refreshTokens {
            // OpenID Connect Core §11: `offline_access` requests a refresh token.
            case .offlineAccess: scope.contains(.offlineAccess)
            case .always: true
            case .never: false
            }
        return isWanted && client.declares("refresh_token")
    }
}
